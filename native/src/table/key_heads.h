// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/coding.h"
#include "lava/slice.h"

namespace lava::ksst {

/// Ascending keys, laid out for search: the bytes that all keys share, and an array with the 8
/// bytes behind them of each key as a number. Most searches do not touch the keys themselves.
/// Threads:    any thread; const.
/// Ownership:  borrows everything.
class KeyHeads {
 public:
  KeyHeads() = default;
  KeyHeads(Slice common, const uint64_t* heads, uint32_t count)
      : common_(common), heads_(heads), count_(count) {}

  uint32_t count() const { return count_; }
  Slice common() const { return common_; }

  /// The first 8 bytes as a number of the same order; shorter input is padded with zeros.
  static uint64_t HeadOf(Slice bytes) {
    if (bytes.size() >= sizeof(uint64_t)) return __builtin_bswap64(DecodeFixed64(bytes.data()));
    uint64_t head = 0;
    for (size_t i = 0; i < bytes.size(); ++i)
      head |= uint64_t{static_cast<unsigned char>(bytes[i])} << (56 - 8 * i);
    return head;
  }

  /// Keys before begin are less than target, those from end on are not less. Keys in [begin, end)
  /// have the common bytes and the head of target: the bytes behind must be compared.
  struct Range {
    uint32_t begin, end;
  };
  [[gnu::always_inline]] Range Find(Slice target) const {
    if (count_ == 0) return {0, 0};
    const int order =
        std::memcmp(target.data(), common_.data(), std::min(target.size(), common_.size()));
    if (order != 0) return order < 0 ? Range{0, 0} : Range{count_, count_};
    if (target.size() <= common_.size()) return {0, 0};
    target.remove_prefix(common_.size());
    const uint64_t head = HeadOf(target);
    // Branch-free lower bound.
    const uint64_t* low = heads_;
    for (uint32_t length = count_; length > 1;) {
      const uint32_t half = length / 2;
      low = low[half - 1] < head ? low + half : low;
      length -= half;
    }
    uint32_t at = static_cast<uint32_t>(low - heads_);
    if (heads_[at] < head) ++at;
    if (at == count_ || heads_[at] != head) return {at, at};
    return {at, EndOfEqual(at + 1, head)};
  }
  /// Whether a < b. Both are the bytes of keys behind the common ones, and have the same head.
  static bool LessBehindHead(Slice a, Slice b) {
    if (a.size() >= 16 && b.size() >= 16) [[likely]] {
      const uint64_t x = HeadOf(a.substr(8)), y = HeadOf(b.substr(8));
      if (x != y) return x < y;
    }
    return a < b;
  }

 private:
  /// End of the keys with this head, from `end` on. Usually one key has it, but if keys differ late
  /// most of them may: so the steps double.
  uint32_t EndOfEqual(uint32_t end, uint64_t head) const {
    uint32_t step = 1;
    for (; step <= count_ - end && heads_[end + step - 1] == head; step *= 2) end += step;
    for (; step > 0; step /= 2)
      if (step <= count_ - end && heads_[end + step - 1] == head) end += step;
    return end;
  }

  Slice common_;
  const uint64_t* heads_ = nullptr;
  uint32_t count_ = 0;
};

}  // namespace lava::ksst
