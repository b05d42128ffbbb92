// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/coding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace lava {
namespace {

std::vector<uint64_t> Interesting() {
  std::vector<uint64_t> numbers = {0, 1, 127, 128, 255, 256, 16383, 16384};
  for (uint32_t bit = 0; bit < 64; ++bit) {
    for (int delta = -1; delta <= 1; ++delta) {
      numbers.push_back((uint64_t{1} << bit) + static_cast<uint64_t>(delta));
    }
  }
  numbers.push_back(UINT64_MAX);
  return numbers;
}

TEST(CodingTest, FixedNumbersComeBack) {
  for (const uint64_t number : Interesting()) {
    std::string bytes;
    PutFixed64(&bytes, number);
    PutFixed32(&bytes, static_cast<uint32_t>(number));
    EXPECT_EQ(bytes.size(), 12u);
    Slice in = bytes;
    uint64_t wide = 0;
    uint32_t narrow = 0;
    ASSERT_TRUE(GetFixed64(&in, &wide));
    ASSERT_TRUE(GetFixed32(&in, &narrow));
    EXPECT_EQ(wide, number);
    EXPECT_EQ(narrow, static_cast<uint32_t>(number));
    EXPECT_FALSE(GetFixed32(&in, &narrow));
    EXPECT_FALSE(GetFixed64(&in, &wide));
  }
}

TEST(CodingTest, FixedNumbersAreLittleEndian) {
  std::string bytes;
  PutFixed32(&bytes, 0x04030201);
  EXPECT_EQ(bytes, "\x01\x02\x03\x04");
}

TEST(CodingTest, VarintsComeBackAndTruncationIsNoticed) {
  for (const uint64_t number : Interesting()) {
    std::string bytes;
    PutVarint64(&bytes, number);
    EXPECT_EQ(bytes.size(), VarintLength(number));
    for (size_t length = 0; length < bytes.size(); ++length) {
      Slice cut = Slice(bytes).substr(0, length);
      uint64_t ignored = 0;
      EXPECT_FALSE(GetVarint64(&cut, &ignored));
      EXPECT_EQ(cut.size(), length);
    }
    Slice in = bytes;
    uint64_t back = 0;
    ASSERT_TRUE(GetVarint64(&in, &back));
    EXPECT_EQ(back, number);
    EXPECT_TRUE(in.empty());

    in = bytes;
    uint32_t narrow = 0;
    EXPECT_EQ(GetVarint32(&in, &narrow), number <= UINT32_MAX);
    if (number <= UINT32_MAX) {
      EXPECT_EQ(narrow, number);
    }
  }
}

TEST(CodingTest, OverlongVarintsAreRefused) {
  const std::string eleven(10, '\x80');
  Slice in = eleven;
  uint64_t number = 0;
  EXPECT_FALSE(GetVarint64(&in, &number));
  std::string too_large(9, '\xff');
  too_large.push_back('\x02');  // the 65th bit
  in = too_large;
  EXPECT_FALSE(GetVarint64(&in, &number));
}

TEST(CodingTest, BigEndianSortsAsNumbers) {
  for (const size_t bytes : {1u, 2u, 5u, 8u}) {
    const uint64_t mask = bytes == 8 ? UINT64_MAX : (uint64_t{1} << bytes * 8) - 1;
    std::vector<uint64_t> numbers;
    for (const uint64_t number : Interesting()) numbers.push_back(number & mask);
    std::sort(numbers.begin(), numbers.end());
    std::string before;
    for (const uint64_t number : numbers) {
      std::string key;
      PutBigEndian(&key, number, bytes);
      EXPECT_GE(key, before);
      Slice in = key;
      uint64_t back = 0;
      ASSERT_TRUE(GetBigEndian(&in, bytes, &back));
      EXPECT_EQ(back, number);
      EXPECT_FALSE(GetBigEndian(&in, 1, &back));
      before = key;
    }
  }
}

TEST(CodingTest, LengthPrefixedBytesAreBounded) {
  std::string bytes;
  PutLengthPrefixed(&bytes, "abc");
  PutLengthPrefixed(&bytes, "");
  Slice in = bytes;
  Slice out;
  ASSERT_TRUE(GetLengthPrefixed(&in, &out));
  EXPECT_EQ(out, "abc");
  ASSERT_TRUE(GetLengthPrefixed(&in, &out));
  EXPECT_EQ(out, "");
  EXPECT_FALSE(GetLengthPrefixed(&in, &out));

  std::string lying;
  PutVarint64(&lying, UINT64_MAX);
  lying.append("abc");
  in = lying;
  EXPECT_FALSE(GetLengthPrefixed(&in, &out));
  EXPECT_EQ(in.size(), lying.size());
}

}  // namespace
}  // namespace lava
