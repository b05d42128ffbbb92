// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/verify.h"

#include <gtest/gtest.h>

#include "value/value_test_util.h"

namespace lava::testing {
namespace {

/// Files with right checksums whose parts do not agree.
class ValueVerifyTest : public ::testing::Test {
 protected:
  ValueVerifyTest() {
    EXPECT_TRUE(files_.CreateDirectory("/v").ok());
    ValueMap values;
    for (int i = 10; i < 22; ++i) values[{"key" + std::to_string(i), BlobFileId(1)}] = "value";
    values[{"key15", BlobFileId(2)}] = "value";
    EXPECT_TRUE(WriteValues(&files_, kValuePath, values, {Compression::kNone, 4}).ok());
    auto image = ImageOf(&files_, kValuePath);
    EXPECT_TRUE(image.ok());
    good_ = *image;
  }
  Status Verify(const ValueFileImage& image) {
    EXPECT_TRUE(files_.SetContent(kValuePath, image.bytes).ok());
    auto head = OpenHead(&files_, kValuePath);
    if (!head.ok()) return head.status();
    return vsst::VerifyValueFile(**head);
  }
  /// Changes a byte, repairs all checksums and verifies: must be Corruption with path and offset.
  std::string ErrorOf(uint64_t offset, char byte) {
    ValueFileImage image = good_;
    EXPECT_NE(image.bytes[offset], byte) << "the test must change the byte";
    image.bytes[offset] = byte;
    image.Repair();
    const Status status = Verify(image);
    EXPECT_TRUE(status.IsCorruption()) << offset << ' ' << status.ToString();
    EXPECT_NE(status.message().find("at offset"), Slice::npos);
    return status.ToString();
  }

  ChosenFileSystem files_;
  ValueFileImage good_;
};

TEST_F(ValueVerifyTest, AGoodFile) {
  EXPECT_EQ(good_.index_partitions.size(), 3u);
  EXPECT_TRUE(Verify(good_).ok());
}

TEST_F(ValueVerifyTest, RecordsThatTheIndexesDoNotName) {
  const uint64_t record = good_.records[3].offset;
  EXPECT_NE(ErrorOf(record + 3, 'x').find("dense key index"), std::string::npos);
  EXPECT_NE(ErrorOf(record, 1).find("dense key index"), std::string::npos)
      << "the byte now names another blob file";
  ErrorOf(record + 1, 4);  // key and value bytes
}

TEST_F(ValueVerifyTest, PartitionsThatAreNotThoseOfTheRecords) {
  const uint64_t index_partition = good_.index_partitions[1].offset;
  const uint64_t bits = index_partition + 10, fingerprints = bits + 3, positions = fingerprints + 4;
  auto other = [&](uint64_t at) { return static_cast<char>(good_.bytes[at] + 1); };
  for (const uint64_t at : {index_partition + 4, bits, bits + 2, fingerprints, fingerprints + 3})
    EXPECT_NE(ErrorOf(at, other(at)).find("partition"), std::string::npos);
  EXPECT_NE(ErrorOf(positions, other(positions)).find("partition"), std::string::npos);
}

TEST_F(ValueVerifyTest, SumsOfTheProperties) {
  // Raw, stored and tree bytes. The count of index partitions is checked on opening.
  for (uint64_t i = 1; i < 4; ++i) {
    const uint64_t at = good_.properties.offset + i;
    EXPECT_NE(ErrorOf(at, static_cast<char>(good_.bytes[at] ^ 1)).find("properties"),
              std::string::npos);
  }
  const size_t lower = good_.bytes.find("key10", good_.properties.offset);
  EXPECT_NE(ErrorOf(lower + 4, '/').find("properties"), std::string::npos);
}

TEST_F(ValueVerifyTest, SeparatorsThatLeadElsewhere) {
  // "key14" is the second index partition's first key, "key13" the first one's last.
  const size_t separator = good_.bytes.find("key14", good_.top_index.offset);
  ASSERT_NE(separator, std::string::npos);
  for (const char byte : {'3', '5'})
    EXPECT_NE(ErrorOf(separator + 4, byte).find("partition"), std::string::npos);
}

/// / Any changed byte with corrected checksums gives OK or an error, never a crash.
TEST_F(ValueVerifyTest, EveryByteBehindRightChecksums) {
  uint64_t passed = 0;
  for (size_t at = 0; at < good_.bytes.size(); ++at) {
    for (const int flip : {1, 0x80, 0xff}) {
      ValueFileImage image = good_;
      image.bytes[at] = static_cast<char>(image.bytes[at] ^ flip);
      image.Repair();
      const Status status = Verify(image);
      if (status.ok()) ++passed;
      EXPECT_TRUE(status.ok() || status.IsCorruption() ||
                  status.code() == Status::Code::kNotSupported);
    }
  }
  // Changes that pass: values, the checksums that Repair() makes, and ids of blob files.
  EXPECT_GT(passed, 0u);
}

}  // namespace
}  // namespace lava::testing
