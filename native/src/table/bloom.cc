// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/bloom.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace lava::ksst {

uint8_t BloomProbes(uint32_t bits_per_key) {
  // The best number is ln 2 times the bits per key. More than 8 probes cost more time in the
  // processor's caches than the reads that they avoid.
  return static_cast<uint8_t>(std::clamp<uint32_t>(bits_per_key * 69 / 100, 1, 8));
}

void BuildBloom(std::span<const uint64_t> hashes, uint32_t bits_per_key, uint8_t probes,
                std::string* out) {
  if (hashes.empty() || bits_per_key == 0) return;
  uint64_t bits = hashes.size() * uint64_t{bits_per_key};
  uint32_t lines = static_cast<uint32_t>((bits + kBloomLineBytes * 8 - 1) / (kBloomLineBytes * 8));
  size_t start = out->size();
  out->resize(start + lines * kBloomLineBytes);
  for (uint64_t hash : hashes) {
    char* line = out->data() + start + BloomView::LineOf(hash, lines) * kBloomLineBytes;
    uint32_t word = static_cast<uint32_t>(hash);
    for (uint8_t i = 0; i < probes; ++i) {
      uint32_t bit = word >> 23;
      line[bit >> 3] =
          static_cast<char>(static_cast<unsigned char>(line[bit >> 3]) | (1u << (bit & 7)));
      word *= BloomView::kStep;
    }
  }
}

}  // namespace lava::ksst
