// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "testing/mem_disk.h"
#include "testing/mounted_volume.h"

namespace lava::testing {

/// LavaFS on a disk in memory.
/// Threads:    Remount() by one, while no file is open.
class MemVolume {
 public:
  /// Extents are small, so that files have many of them, and the journal is compacted often.
  MemVolume() : disk_(0, kBytesMax, /*may_crash=*/false) {
    FormatVolume(disk_.Open().get(),
                 {.capacity_bytes = kBytesMax, .extent_bytes = 16 << 10, .initial_bytes = 1 << 20});
  }

  /// As after a kill of the process.
  Status Remount() {
    mounted_.reset();
    lavafs::MountOptions options;
    options.grow_bytes = 1 << 20;
    options.journal_bytes_max = 256 << 10;
    options.boot = 1;
    options.mount = ++mounts_;
    LAVA_ASSIGN_OR_RETURN(mounted_, MountVolume(disk_.Open(), options));
    return Status::OK();
  }
  fs::FileSystem* file_system() { return mounted_->file_system.get(); }

 private:
  static constexpr uint64_t kBytesMax = 256ull << 20;

  MemDisk disk_;
  uint64_t mounts_ = 0;
  std::optional<MountedVolume> mounted_;
};

}  // namespace lava::testing
