// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lava {

/// A value file as PickGarbage() sees it. Units: raw bytes of values.
struct CollectableFile {
  uint64_t raw_bytes = 0;
  uint64_t garbage = 0;  // estimate; may exceed raw_bytes
  bool busy = false;
  bool hot = false;  // values of keys that are written often
  bool in_checkpoint = false;
};
struct CollectionOptions {
  uint32_t garbage_percent = 25;          // files with less are left alone; above 100: all files
  uint32_t checkpoint_percent = 25;       // the same for files that a checkpoint has
  uint64_t live_bytes_max = 64ull << 20;  // a job copies at most about this much
  bool last_resort = false;               // space is short: writes are slowed or wait
};
inline constexpr size_t kCollectableFilesMax = 8;  // per job

/// Picks the files that one job should collect together, dirtiest first, because they free the most
/// per byte copied. A file much cleaner than the first is left to gather more garbage. Among equal
/// files a hot one goes first (Scavenger 3.4.2), then the order of `files` decides. Empty if no
/// file is worth collecting. Pure.
std::vector<size_t> PickGarbage(const std::vector<CollectableFile>& files,
                                const CollectionOptions& options);

}  // namespace lava
