// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>

#include "fs/direct_io.h"
#include "fs/file_system.h"

namespace lava::fs {

/// A file that is written past the page cache, in whole blocks. A flush pads the last block, cuts
/// the file off at its length again, and writes the block anew once more was appended. Between
/// flushes the file may be longer than the appended bytes.
/// buffer_bytes are split into two buffers of at least a block each. One is written, in parallel
/// with the caller where the system supports that, while the other one is filled. They exist from
/// the first appends until Close().
/// Threads:    as AppendFile.
/// Ownership:  takes the descriptor of an empty file, turned on with `alignment`.
/// Errors:     as AppendFile. A file that rejects direct I/O later goes through the page cache.
std::unique_ptr<AppendFile> NewPosixDirectAppendFile(std::string path, int descriptor,
                                                     size_t buffer_bytes, uint32_t alignment,
                                                     std::shared_ptr<DirectIo> direct);

}  // namespace lava::fs
