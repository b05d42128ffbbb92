// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>

#include "fs/file_system.h"

namespace lava::fs {

/// See FileSystem::Lock. The lock ends with the process, however the process ends.
Result<std::unique_ptr<DirectoryLock>> LockPosixDirectory(const std::string& directory);

}  // namespace lava::fs
