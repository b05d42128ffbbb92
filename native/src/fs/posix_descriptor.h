// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "lava/status.h"

namespace lava::fs {

/// Opens path with O_CLOEXEC. With O_CREAT the file is for its user alone (0600), whatever the
/// process's umask; that includes an existing file if it belongs to this user. When the process has
/// no free descriptor, files that are open for random reads are closed and the open is retried.
/// Threads:    any.
/// Ownership:  the caller closes the descriptor.
/// Errors:     as PosixError: "<operation> <path>: ...".
Result<int> OpenDescriptor(const std::string& path, int flags, std::string_view operation);

/// Gives a file or a directory these permissions if it belongs to this user. A rejection is no
/// error, because some file systems keep no permissions of their own (mount options decide).
/// Threads:    any.
void MakePrivate(int descriptor, mode_t mode);

/// Reads up to length bytes at offset; fewer only at the end of the file.
Result<size_t> ReadAt(int descriptor, const std::string& path, uint64_t offset, size_t length,
                      char* to);

}  // namespace lava::fs
