// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>

#include "fs/direct_io.h"
#include "fs/file_system.h"

namespace lava::fs {

/// Creates or truncates path with mode 0600. See FileSystem::Create. direct: null, or used to write
/// the file past the page cache if the file supports it.
Result<std::unique_ptr<AppendFile>> CreatePosixAppendFile(
    const std::string& path, size_t buffer_bytes, std::shared_ptr<DirectIo> direct = nullptr);

}  // namespace lava::fs
