// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>

namespace lava {

/// 128 random bits, new at each successful open of an instance; never inherited from a checkpoint.
struct Origin {
  uint64_t high = 0, low = 0;
  auto operator<=>(const Origin&) const = default;
  std::string ToString() const;  // 32 hex digits
};

/// The identity of a file, unique across all instances and never reused.
struct FileId {
  Origin origin;
  uint64_t number = 0;
  auto operator<=>(const FileId&) const = default;
  // Written out, because compilers do not inline the default one, and maps compare often.
  friend bool operator<(const FileId& a, const FileId& b) {
    if (a.origin.high != b.origin.high) return a.origin.high < b.origin.high;
    if (a.origin.low != b.origin.low) return a.origin.low < b.origin.low;
    return a.number < b.number;
  }
  std::string FileName() const;       // of a key SST: "<origin>-<number>.ksst"
  std::string ValueFileName() const;  // of a value SST: "<origin>-<number>.vsst"
};

/// Hash for tables in memory. XOR suffices: origins are random, numbers count up.
struct FileIdHash {
  size_t operator()(const FileId& id) const {
    return static_cast<size_t>((id.origin.low ^ id.number) * 0x9E3779B97F4A7C15ull);
  }
};

}  // namespace lava
