// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/separation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace lava {
namespace {

// Overhead of a separated value besides its key: the reference in the tree, and the record around
// the value in its file (docs/vsst-format.md).
constexpr double kReferenceBytes = 24, kRecordBytes = 24;
// Cost of one separated value to a scan, in bytes written. Values that are scanned as often as they
// are written break even between 1 and 4 KiB (docs/decisions/19-separation-bound.md).
constexpr double kScanBytes = 8 << 10;
constexpr double kFlushesPerL0Compaction = 4;
// Costs of a value that was logged when it was put: its reference in the write-ahead log, and its
// sync, in bytes written. With values of 8 to 16 KiB both ways write devices equally much
// (docs/decisions/26-value-log.md).
constexpr double kLoggedBytes = 100, kSyncBytes = 12 << 10;
// A flush rewrites a value log if a larger share of its values has died.
constexpr double kDiedInLogMax = 0.25;

// Returns a power of two from which separation clearly pays, if it breaks even at `even` bytes.
uint64_t ClearBound(double even, uint64_t min, uint64_t max) {
  const double clear = std::min(2 * even, static_cast<double>(max));
  return std::clamp(std::bit_ceil(static_cast<uint64_t>(clear)), min, max);
}

bool IsNear(uint64_t bound, uint64_t current) {
  return bound != UINT64_MAX && current != UINT64_MAX && bound < 2 * current && current < 2 * bound;
}

}  // namespace

double TreeWritesPerByte(const SeparationInput& input) {
  const auto tree = static_cast<double>(input.tree_bytes);
  const auto level1 = static_cast<double>(std::max<uint64_t>(1, input.level1_bytes));
  const double flushed =
      kFlushesPerL0Compaction * static_cast<double>(std::max<uint64_t>(1, input.memtable_bytes));
  double writes = 1 + (flushed + std::min(tree, level1)) / flushed;
  if (tree > level1) {
    const double multiplier = std::max(2u, input.level_multiplier);
    // A byte that enters a full level rewrites `multiplier` bytes; on average levels are half full.
    writes += std::log(tree / level1) / std::log(multiplier) * (1 + multiplier / 2);
  }
  return writes;
}

uint64_t ChooseSeparation(const SeparationInput& input, uint64_t current) {
  if (input.records < kSeparationRecordsMin) return current;
  const double inline_writes = TreeWritesPerByte(input);
  const double separated_writes = 1 + std::max(0.0, input.copied_per_byte);
  uint64_t bound = UINT64_MAX;
  if (inline_writes > separated_writes + 1) {
    const double extra = kReferenceBytes * inline_writes +
                         (static_cast<double>(input.key_bytes) + kRecordBytes) * separated_writes +
                         kScanBytes * std::max(0.0, input.scanned_per_write);
    const double even = extra / (inline_writes - separated_writes);
    // Only clearly larger values are worth the second read.
    bound = ClearBound(even, kSeparationBytesMin, kSeparationBytesMax);
  }
  return IsNear(bound, current) ? current : bound;
}

uint64_t ChooseLarge(const LargeInput& input, uint64_t current) {
  if (input.records < kLargeRecordsMin) return current;
  // Hysteresis: small changes near the threshold do not switch.
  const double died_max = current == UINT64_MAX ? 0.8 * kDiedInLogMax : 1.2 * kDiedInLogMax;
  if (input.died_in_memory > died_max) return UINT64_MAX;
  const double extra = kLoggedBytes + (input.synced ? kSyncBytes : 0) +
                       kScanBytes * std::max(0.0, input.scanned_per_write);
  const double written_once = 1 - std::max(0.0, input.died_in_memory);
  const uint64_t bound = ClearBound(extra / written_once, kLargeBytesMin, kLargeBytesMax);
  return IsNear(bound, current) ? current : bound;
}

}  // namespace lava
