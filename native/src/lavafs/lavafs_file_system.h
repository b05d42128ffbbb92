#pragma once

#include <cstddef>
#include <memory>

#include "fs/file_system.h"
#include "lavafs/volume.h"

namespace lava::lavafs {

/// A volume as a file system: a path's last part is the file, all before it the directory's name.
/// Sync() is that of contents and size; SyncDirectory() makes all changes of names durable.
/// Threads:    any.
/// Ownership:  the volume must outlive it and all its files and locks.
/// Errors:     as FileSystem and Volume.
/// large_buffer_bytes: of files for which a buffer of 64 KiB or more is asked for, or of this.
std::unique_ptr<fs::FileSystem> NewLavaFileSystem(Volume* volume,
                                                  size_t large_buffer_bytes = 512 << 10);

}  // namespace lava::lavafs
