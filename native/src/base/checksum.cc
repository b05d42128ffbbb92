// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/checksum.h"

#include <nmmintrin.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "lava/slice.h"

namespace lava {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // reflected
// Three streams of this many bytes are computed in parallel: the crc32 instruction has a latency of
// three cycles and a throughput of one per cycle.
constexpr size_t kStreamBytes = 1024;

// Tables, one per byte of the checksum, that advance a checksum over kStreamBytes zero bytes.
struct SkipTables {
  std::array<std::array<uint32_t, 256>, 4> of;
};

constexpr uint32_t AdvanceZeroBytes(uint32_t crc, size_t bytes) {
  for (size_t i = 0; i < bytes * 8; ++i) crc = crc >> 1 ^ ((crc & 1) != 0 ? kPolynomial : 0);
  return crc;
}

SkipTables MakeSkipTables() {
  SkipTables tables{};
  // Advancing is linear, so each entry is the XOR of the results for its single bits.
  std::array<uint32_t, 32> bit{};
  for (uint32_t i = 0; i < 32; ++i) bit[i] = AdvanceZeroBytes(1u << i, kStreamBytes);
  for (uint32_t byte = 0; byte < 4; ++byte) {
    for (uint32_t value = 0; value < 256; ++value) {
      uint32_t crc = 0;
      for (uint32_t i = 0; i < 8; ++i) {
        if ((value >> i & 1) != 0) crc ^= bit[byte * 8 + i];
      }
      tables.of[byte][value] = crc;
    }
  }
  return tables;
}

uint32_t Skip(const SkipTables& tables, uint64_t crc) {
  return tables.of[0][crc & 0xff] ^ tables.of[1][crc >> 8 & 0xff] ^ tables.of[2][crc >> 16 & 0xff] ^
         tables.of[3][crc >> 24 & 0xff];
}

uint64_t Load64(const char* from) {
  uint64_t value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

}  // namespace

uint32_t Crc32c(Slice data, uint32_t before) {
  static const SkipTables tables = MakeSkipTables();
  uint64_t crc = ~before;
  const char* p = data.data();
  size_t left = data.size();
  while (left >= 3 * kStreamBytes) {
    uint64_t second = 0;
    uint64_t third = 0;
    for (size_t i = 0; i < kStreamBytes; i += 8) {
      crc = _mm_crc32_u64(crc, Load64(p + i));
      second = _mm_crc32_u64(second, Load64(p + kStreamBytes + i));
      third = _mm_crc32_u64(third, Load64(p + 2 * kStreamBytes + i));
    }
    crc = Skip(tables, crc) ^ second;
    crc = Skip(tables, crc) ^ third;
    p += 3 * kStreamBytes;
    left -= 3 * kStreamBytes;
  }
  for (; left >= 8; left -= 8, p += 8) crc = _mm_crc32_u64(crc, Load64(p));
  uint32_t tail = static_cast<uint32_t>(crc);
  for (; left > 0; --left, ++p) tail = _mm_crc32_u8(tail, static_cast<unsigned char>(*p));
  return ~tail;
}

}  // namespace lava
