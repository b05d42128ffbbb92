// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/collection_picker.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lava {
namespace {

constexpr double kOfTheDirtiest = 0.75;

// Share of garbage. The file must have garbage, so raw_bytes > 0.
double Share(const CollectableFile& file) {
  return static_cast<double>(file.garbage) / static_cast<double>(file.raw_bytes);
}

}  // namespace

std::vector<size_t> PickGarbage(const std::vector<CollectableFile>& files,
                                const CollectionOptions& options) {
  std::vector<size_t> picked;
  if (options.garbage_percent > 100) return picked;
  for (size_t i = 0; i < files.size(); ++i) {
    const CollectableFile& file = files[i];
    if (file.busy || file.garbage == 0) continue;
    const uint32_t percent =
        file.in_checkpoint ? options.checkpoint_percent : options.garbage_percent;
    if (static_cast<double>(file.garbage) * 100 >= static_cast<double>(file.raw_bytes) * percent)
      picked.push_back(i);
  }
  // Compares shares of garbage. raw_bytes > 0, because garbage > 0.
  const auto dirtier = [&](size_t a, size_t b) {
    const double x =
        static_cast<double>(files[a].garbage) * static_cast<double>(files[b].raw_bytes);
    const double y =
        static_cast<double>(files[b].garbage) * static_cast<double>(files[a].raw_bytes);
    return x != y ? x > y : files[a].hot && !files[b].hot;
  };
  std::stable_sort(picked.begin(), picked.end(), dirtier);
  uint64_t live = 0;
  size_t count = 0;
  while (count < std::min(picked.size(), kCollectableFilesMax)) {
    const CollectableFile& file = files[picked[count]];
    if (count > 0 && Share(file) < kOfTheDirtiest * Share(files[picked[0]])) break;
    live += file.raw_bytes - std::min(file.raw_bytes, file.garbage);
    if (count > 0 && live > options.live_bytes_max) break;
    ++count;
  }
  picked.resize(count);
  return picked;
}

}  // namespace lava
