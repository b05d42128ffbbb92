// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lava/slice.h"

namespace lava::ksst {

/// A Bloom filter whose probes for one hash all fall into one cache line of 64 bytes.
inline constexpr size_t kBloomLineBytes = 64;

/// Appends the filter of hashes to *out: a multiple of kBloomLineBytes bytes.
void BuildBloom(std::span<const uint64_t> hashes, uint32_t bits_per_key, uint8_t probes,
                std::string* out);
uint8_t BloomProbes(uint32_t bits_per_key);

/// View of a filter's bytes, which it borrows. An empty view excludes nothing.
class BloomView {
 public:
  BloomView() = default;
  BloomView(const char* lines, uint32_t line_count, uint8_t probes)
      : lines_(lines), line_count_(line_count), probes_(probes) {}

  bool MayHold(uint64_t hash) const {
    if (line_count_ == 0) return true;
    const char* line = lines_ + LineOf(hash, line_count_) * kBloomLineBytes;
    uint32_t bits = static_cast<uint32_t>(hash);
    for (uint8_t i = 0; i < probes_; ++i) {
      uint32_t bit = bits >> 23;
      if ((static_cast<unsigned char>(line[bit >> 3]) & (1u << (bit & 7))) == 0) return false;
      bits *= kStep;
    }
    return true;
  }
  void Prefetch(uint64_t hash) const {
    if (line_count_ != 0) __builtin_prefetch(lines_ + LineOf(hash, line_count_) * kBloomLineBytes);
  }

 private:
  friend void BuildBloom(std::span<const uint64_t>, uint32_t, uint8_t, std::string*);
  static constexpr uint32_t kStep = 0x9e3779b9;  // odd, so that the probes differ
  static uint64_t LineOf(uint64_t hash, uint32_t count) { return ((hash >> 32) * count) >> 32; }

  const char* lines_ = nullptr;
  uint32_t line_count_ = 0;
  uint8_t probes_ = 0;
};

}  // namespace lava::ksst
