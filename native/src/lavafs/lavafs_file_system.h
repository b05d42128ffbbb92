// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <memory>

#include "fs/file_system.h"
#include "lavafs/volume.h"

namespace lava::lavafs {

/// A volume as a file system. The last part of a path is the file; everything before it is the
/// directory's name. Sync() covers a file's contents and size; SyncDirectory() makes all changes of
/// names durable.
/// Threads:    any.
/// Ownership:  the volume must outlive the file system and all its files and locks.
/// Errors:     as FileSystem and Volume.
/// large_buffer_bytes: buffer of files that request a buffer of at least 64 KiB, or at least this.
std::unique_ptr<fs::FileSystem> NewLavaFileSystem(Volume* volume,
                                                  size_t large_buffer_bytes = 512 << 10);

}  // namespace lava::lavafs
