#include "policy/separation.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace lava {
namespace {

// Of a record apart, beside its key: what refers to it, and what stands around it (docs/).
constexpr double kReferenceBytes = 24, kRecordBytes = 24;
// What a scan pays for one value that stands elsewhere, as bytes written: between 1 and 4 KiB
// scans of values that are written as often as they are shown come out even
// (docs/decisions-values.md).
constexpr double kScanBytes = 8 << 10;
constexpr double kFlushesPerL0Compaction = 4;

}  // namespace

double TreeWritesPerByte(const SeparationInput& input) {
  const auto tree = static_cast<double>(input.tree_bytes);
  const auto level1 = static_cast<double>(std::max<uint64_t>(1, input.level1_bytes));
  const double flushed =
      kFlushesPerL0Compaction * static_cast<double>(std::max<uint64_t>(1, input.memtable_bytes));
  double writes = 1 + (flushed + std::min(tree, level1)) / flushed;
  if (tree > level1) {
    const double multiplier = std::max(2u, input.level_multiplier);
    // A full level meets as much again as its multiplier; on average it is half full.
    writes += std::log(tree / level1) / std::log(multiplier) * (1 + multiplier / 2);
  }
  return writes;
}

uint64_t ChooseSeparation(const SeparationInput& input, uint64_t current) {
  if (input.records < kSeparationRecordsMin) return current;
  const double inline_writes = TreeWritesPerByte(input);
  const double apart_writes = 1 + std::max(0.0, input.copied_per_byte);
  uint64_t bound = UINT64_MAX;
  if (inline_writes > apart_writes + 1) {
    const double extra = kReferenceBytes * inline_writes +
                         (static_cast<double>(input.key_bytes) + kRecordBytes) * apart_writes +
                         kScanBytes * std::max(0.0, input.scanned_per_write);
    const double even = extra / (inline_writes - apart_writes);
    // Only what is clearly larger pays for the second read.
    const double clear = std::min(2 * even, static_cast<double>(kSeparationBytesMax));
    bound = std::clamp(std::bit_ceil(static_cast<uint64_t>(clear)), kSeparationBytesMin,
                       kSeparationBytesMax);
  }
  const bool near =
      bound != UINT64_MAX && current != UINT64_MAX && bound < 2 * current && current < 2 * bound;
  return near ? current : bound;
}

}  // namespace lava
