// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/format.h"

#include <gtest/gtest.h>

#include "base/coding.h"

namespace lava::ksst {
namespace {

TEST(FormatTest, SeparatorLiesBetweenAndKeepsTheTable) {
  const std::vector<std::string> keys = {"a",   "a\x01",   "ab",      "abc",   "abd",   "abdxyz",
                                         "abe", "abf0123", "abfz",    "b",     "b\xff", "b\xff\xff",
                                         "c",   "table1k", "table1z", "table2"};
  for (size_t i = 0; i < keys.size(); ++i) {
    for (size_t j = i + 1; j < keys.size(); ++j) {
      for (size_t keep : {0u, 1u, 3u, 6u}) {
        std::string s = Separator(keys[i], keys[j], keep);
        EXPECT_LE(keys[i], s);
        EXPECT_LT(s, keys[j]);
        EXPECT_LE(s.size(), std::max(keys[i].size(), keys[j].size()));
        if (keys[i].size() >= keep && keys[i].substr(0, keep) == keys[j].substr(0, keep)) {
          EXPECT_EQ(s.substr(0, keep), keys[i].substr(0, keep));
        }
      }
    }
  }
  EXPECT_EQ(Separator("abcdefgh", "abzz", 0), "abd");
  EXPECT_EQ(Separator("abcdefgh", "abdz", 0), "abd");
}

Footer GoodFooter() {
  Footer footer;
  footer.tombstones = {100, 7};
  footer.properties = {120, 27};
  footer.top_index = {160, 27};
  footer.unique_id = 42;
  return footer;
}

TEST(FormatTest, FooterRoundTrip) {
  std::string bytes;
  EncodeFooter(GoodFooter(), 200, &bytes);
  ASSERT_EQ(bytes.size(), kFooterBytes);
  Footer read;
  Status status = DecodeFooter("f", 200 + bytes.size(), bytes, &read);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(read.unique_id, 42u);
  EXPECT_EQ(read.properties.offset, 120u);
  EXPECT_EQ(read.top_index.bytes, 27u);
  EXPECT_TRUE(DecodeFooter("f", 201 + bytes.size(), bytes, &read).IsCorruption())
      << "the offset is part of the footer's checksum";
}

TEST(FormatTest, FooterWithWrongPlacesIsRefusedThoughItsChecksumIsRight) {
  for (int field = 0; field < 6; ++field) {
    for (uint64_t delta : {uint64_t{1}, ~uint64_t{0}, uint64_t{1} << 31, uint64_t{1} << 63}) {
      Footer footer = GoodFooter();
      BlockHandle* handles[] = {&footer.top_index, &footer.properties, &footer.tombstones};
      BlockHandle* handle = handles[field / 2];
      if (field % 2 == 0) {
        handle->offset += delta;
      } else {
        handle->bytes += static_cast<uint32_t>(delta);
        if (static_cast<uint32_t>(delta) == 0) continue;
      }
      std::string bytes;
      EncodeFooter(footer, 200, &bytes);
      Footer read;
      EXPECT_TRUE(DecodeFooter("f", 200 + bytes.size(), bytes, &read).IsCorruption())
          << field << " " << delta;
    }
  }
}

TEST(FormatTest, LongerFooterOfANewerVersionIsNotSupported) {
  std::string bytes(kFooterBytes, 'n');
  EncodeFixed32(&bytes[kFooterBytes - 24], 200);
  EncodeFixed32(&bytes[kFooterBytes - 20], 9);
  EncodeFixed64(&bytes[kFooterBytes - 8], kMagic);
  Footer read;
  Status status = DecodeFooter("f", 1000, bytes, &read);
  EXPECT_EQ(status.code(), Status::Code::kNotSupported);
  EXPECT_NE(status.message().find("version 9"), std::string_view::npos);
}

TEST(FormatTest, BlockTrailerCoversPlaceFileCodecAndLength) {
  std::string block = "payload";
  SealBlock(1, 50, Compression::kNone, 7, &block);
  ASSERT_EQ(block.size(), 7 + kBlockTrailerBytes);
  BlockTrailer trailer;
  EXPECT_TRUE(CheckBlock("f", 1, {50, 7}, block, &trailer).ok());
  EXPECT_EQ(trailer.raw_bytes, 7u);
  EXPECT_TRUE(CheckBlock("f", 2, {50, 7}, block, &trailer).IsCorruption());
  EXPECT_TRUE(CheckBlock("f", 1, {51, 7}, block, &trailer).IsCorruption());
  // A block of the longest list: only its checksum is looked at here.
  std::string longest = "payload";
  SealBlock(1, 50, Compression::kLz4, static_cast<uint32_t>(kListBytesMax) + 1000, &longest);
  EXPECT_TRUE(CheckBlock("f", 1, {50, 7}, longest, &trailer).ok());
  std::string impossible = "payload";
  SealBlock(1, 50, Compression::kNone, 8, &impossible);
  EXPECT_TRUE(CheckBlock("f", 1, {50, 7}, impossible, &trailer).IsCorruption());
  impossible = "payload";
  SealBlock(1, 50, static_cast<Compression>(3), 7, &impossible);
  Status status = CheckBlock("f", 1, {50, 7}, impossible, &trailer);
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_NE(status.message().find("f: at offset 50"), std::string_view::npos);
}

}  // namespace
}  // namespace lava::ksst
