// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/value_reference.h"

#include <gtest/gtest.h>

namespace lava {
namespace {

const ValueReference kReferences[] = {
    {{{0, 0}, 0}, 0, std::nullopt},
    {{{1, 2}, 3}, 4, std::nullopt},
    {{{1, 2}, 3}, 4, 0},  // a timestamp of 0 is one
    {{{UINT64_MAX, UINT64_MAX - 1}, UINT64_MAX}, UINT64_MAX, UINT64_MAX},
    {{{7, 1ull << 63}, 300}, 1ull << 30, 0x0123456789abcdef},
    {{{1, 2}, 3}, 4, std::nullopt, 1ull << 40, 70'000},  // logged
    {{{1, 2}, 3}, 4, 7, 0, 1},
};

TEST(ValueReference, RoundTrips) {
  for (const ValueReference& reference : kReferences) {
    std::string bytes;
    EncodeReference(reference, &bytes);
    ValueReference read{{{9, 9}, 9}, 9, 9};  // decoding must overwrite all fields
    ASSERT_TRUE(DecodeReference(bytes, &read));
    EXPECT_EQ(read, reference);
    EXPECT_EQ(read.timestamp.has_value(), reference.timestamp.has_value());
  }
}

TEST(ValueReference, IsAppended) {
  std::string bytes = "before", alone;
  EncodeReference(kReferences[4], &bytes);
  EncodeReference(kReferences[4], &alone);
  EXPECT_EQ(bytes, "before" + alone);
  EXPECT_EQ(alone.size(), 16u + 2 + 5 + 1 + 8);
}

TEST(ValueReference, EveryTruncationIsRefused) {
  for (const ValueReference& reference : kReferences) {
    std::string bytes;
    EncodeReference(reference, &bytes);
    for (size_t length = 0; length < bytes.size(); ++length) {
      ValueReference read;
      EXPECT_FALSE(DecodeReference(Slice(bytes).substr(0, length), &read)) << length;
    }
  }
}

TEST(ValueReference, BytesBehindItAreRefused) {
  for (const ValueReference& reference : kReferences) {
    std::string bytes;
    EncodeReference(reference, &bytes);
    for (size_t more = 1; more < 20; ++more) {
      ValueReference read;
      EXPECT_FALSE(DecodeReference(bytes + std::string(more, '\0'), &read)) << more;
    }
  }
}

TEST(ValueReference, NamesOfItsFiles) {
  const FileId id{{0x0123456789abcdef, 0xfedcba9876543210}, 42};
  EXPECT_TRUE(id.ValueFileName().ends_with("-42.vsst")) << id.ValueFileName();
  EXPECT_TRUE(id.FileName().ends_with("-42.ksst")) << id.FileName();
  EXPECT_EQ(id.ValueFileName().substr(0, 32), id.origin.ToString());
}

}  // namespace
}  // namespace lava
