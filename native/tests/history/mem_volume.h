#pragma once

#include <memory>

#include "lavafs/lavafs_file_system.h"
#include "lavafs/volume.h"
#include "testing/mem_disk.h"

namespace lava::testing {

/// LavaFS on a disk in memory.
/// Threads:    Remount() by one, while no file is open.
class MemVolume {
 public:
  /// Extents are small, so that files have many, and the journal is compacted often.
  MemVolume() : disk_(0, kBytesMax, /*may_crash=*/false) {
    const Status done = lavafs::Volume::Format(
        disk_.Open().get(),
        {.capacity_bytes = kBytesMax, .extent_bytes = 16 << 10, .initial_bytes = 1 << 20},
        {.high = 1, .low = 2});
    if (!done.ok()) std::abort();
  }

  /// As after the process was killed.
  Status Remount() {
    file_system_.reset();
    volume_.reset();
    lavafs::MountOptions options;
    options.grow_bytes = 1 << 20;
    options.journal_bytes_max = 256 << 10;
    options.boot = 1;
    options.mount = ++mounts_;
    LAVA_ASSIGN_OR_RETURN(volume_, lavafs::Volume::Mount(disk_.Open(), options));
    file_system_ = lavafs::NewLavaFileSystem(volume_.get());
    return Status::OK();
  }
  fs::FileSystem* file_system() { return file_system_.get(); }
  lavafs::Volume* volume() { return volume_.get(); }

 private:
  static constexpr uint64_t kBytesMax = 256ull << 20;

  MemDisk disk_;
  uint64_t mounts_ = 0;
  std::unique_ptr<lavafs::Volume> volume_;
  std::unique_ptr<fs::FileSystem> file_system_;
};

}  // namespace lava::testing
