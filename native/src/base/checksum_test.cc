// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/checksum.h"

#include <gtest/gtest.h>

#include <string>

#include "testing/random.h"

namespace lava {
namespace {

uint32_t BitByBit(Slice data) {
  uint32_t crc = ~0u;
  for (const char c : data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78 : 0);
  }
  return ~crc;
}

TEST(ChecksumTest, KnownValues) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);            // the polynomial's check value
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);  // RFC 3720, B.4
}

TEST(ChecksumTest, AgreesWithDefinitionAtAllLengthsAndIncrementally) {
  testing::Random random(1);
  const std::string data = random.Bytes(20'000);
  for (const size_t length : {1u, 7u, 8u, 9u, 1023u, 3071u, 3072u, 3073u, 6144u, 9217u, 20'000u}) {
    const Slice part = Slice(data).substr(0, length);
    const uint32_t expected = BitByBit(part);
    EXPECT_EQ(Crc32c(part), expected) << length;
    const size_t cut = random.Uniform(length + 1);
    EXPECT_EQ(Crc32c(part.substr(cut), Crc32c(part.substr(0, cut))), expected) << length;
  }
}

}  // namespace
}  // namespace lava
