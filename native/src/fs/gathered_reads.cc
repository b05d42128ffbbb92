// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/gathered_reads.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace lava::fs {

void GatheredReads::Clear() {
  batch_.Clear();
  ranges_.clear();
}

size_t GatheredReads::Begin(std::span<const FileRange> ranges) {
  Clear();
  while (ranges_.size() < ranges.size()) {
    const size_t begin = ranges_.size();
    const FileRange& first = ranges[begin];
    uint64_t bytes = first.bytes;
    size_t end = begin + 1;
    for (; end < ranges.size() && ranges[end].file == first.file; ++end) {
      const uint64_t next_end = ranges[end].offset + ranges[end].bytes - first.offset;
      if (ranges[end].offset > first.offset + bytes + limits_.gap_bytes_max) break;
      if (std::max(bytes, next_end) > std::max(bytes, limits_.piece_bytes_max)) break;
      bytes = std::max(bytes, next_end);
    }
    if (begin > 0 && batch_.bytes_wanted() + bytes > limits_.batch_bytes_max) break;
    const size_t piece = batch_.Add(*first.file, first.offset, bytes);
    for (size_t i = begin; i < end; ++i)
      ranges_.push_back({piece, ranges[i].offset - first.offset, ranges[i].bytes});
  }
  batch_.Begin();
  return ranges_.size();
}

}  // namespace lava::fs
