// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "lava/status.h"

namespace lava::fs {

/// The unique absolute path, without links, of an existing file. Errors: NotFound, IOError.
Result<std::string> CanonicalPath(const std::string& path);

/// OK when the directory belongs to this user and nobody else may enter it. Others who could put
/// files there would receive the data written to them. Errors: IOError that says what to do.
Status CheckPrivateDirectory(const std::string& path);

/// Size of the disk that a path lies on, used or not, in bytes. Errors: NotFound, IOError.
Result<uint64_t> DiskBytes(const std::string& path);

}  // namespace lava::fs
