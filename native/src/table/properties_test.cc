// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/properties.h"

#include <gtest/gtest.h>

#include "base/coding.h"

namespace lava::ksst {
namespace {

TableProperties Sample() {
  TableProperties p;
  p.partition_bytes = 2;
  p.records = 1000, p.deletes = 2, p.appends = 3, p.prefix_deletes = 4, p.range_tombstones = 5;
  p.raw_key_bytes = 1ull << 40, p.raw_value_bytes = 7, p.data_blocks = 8, p.index_partitions = 9;
  p.lower = "lower", p.upper = std::string("up\0per", 6);
  p.tables[1] = {10, 11, 12};
  p.tables[1ull << 39] = {1, 2, INT64_MAX};
  return p;
}

TEST(PropertiesTest, RoundTrip) {
  std::string bytes;
  EncodeProperties(Sample(), &bytes);
  TableProperties read;
  ASSERT_EQ(DecodeProperties(bytes, &read), nullptr);
  TableProperties expected = Sample();
  EXPECT_EQ(read.partition_bytes, 2u);
  EXPECT_EQ(read.records, expected.records);
  EXPECT_EQ(read.raw_key_bytes, expected.raw_key_bytes);
  EXPECT_EQ(read.index_partitions, 9u);
  EXPECT_EQ(read.upper, expected.upper);
  ASSERT_EQ(read.tables.size(), 2u);
  EXPECT_EQ(read.tables[1].oldest_expiry_ms, 12);
  EXPECT_EQ(read.tables[1ull << 39].oldest_expiry_ms, INT64_MAX);
}

TEST(PropertiesTest, EveryTruncationIsRefused) {
  std::string bytes;
  EncodeProperties(Sample(), &bytes);
  for (size_t length = 0; length < bytes.size(); ++length) {
    TableProperties read;
    EXPECT_NE(DecodeProperties(Slice(bytes).substr(0, length), &read), nullptr) << length;
  }
  TableProperties read;
  EXPECT_NE(DecodeProperties(bytes + "x", &read), nullptr);
}

TEST(PropertiesTest, NamedValueFilesAreUnderstood) {
  std::string bytes;
  EncodeProperties(Sample(), &bytes);
  bytes.pop_back();  // their count, 0
  bytes.push_back(1);
  bytes.append(16, 'o');
  bytes += {5, 2, 0, 10, 20, 1, 11, 21};
  TableProperties read;
  EXPECT_EQ(DecodeProperties(bytes, &read), nullptr);
  bytes.pop_back();
  EXPECT_NE(DecodeProperties(bytes, &read), nullptr);
}

TEST(PropertiesTest, TombstonesRoundTripAndOrder) {
  RangeTombstoneSet tombstones, read;
  tombstones.Add("a", "b");
  tombstones.Add("c", "e");
  std::string bytes;
  EncodeTombstones(tombstones, &bytes);
  ASSERT_EQ(DecodeTombstones(bytes, &read), nullptr);
  ASSERT_EQ(read.ranges().size(), 2u);
  EXPECT_EQ(read.ranges()[1].end, "e");
  for (size_t length = 0; length < bytes.size(); ++length) {
    RangeTombstoneSet none;
    EXPECT_NE(DecodeTombstones(Slice(bytes).substr(0, length), &none), nullptr);
  }
  std::string wrong;
  PutVarint64(&wrong, 1);
  PutLengthPrefixed(&wrong, "b");
  PutLengthPrefixed(&wrong, "a");
  EXPECT_NE(DecodeTombstones(wrong, &read), nullptr);
}

}  // namespace
}  // namespace lava::ksst
