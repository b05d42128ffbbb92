// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/value_head.h"

#include <gtest/gtest.h>

#include "testing/fault_file_system.h"
#include "value/value_test_util.h"

namespace lava::testing {
namespace {

class ValueHeadTest : public ::testing::Test {
 protected:
  ValueHeadTest() {
    EXPECT_TRUE(files_.CreateDirectory("/v").ok());
    EXPECT_TRUE(WriteValues(&files_, kValuePath, SmallValues(60), {Compression::kLz4, 7}).ok());
    auto image = ImageOf(&files_, kValuePath);
    EXPECT_TRUE(image.ok());
    image_ = *image;
  }
  Status OpenRepaired() {
    image_.Repair();
    EXPECT_TRUE(files_.SetContent(kValuePath, image_.bytes).ok());
    return OpenHead(&files_, kValuePath).status();
  }

  ChosenFileSystem files_;
  ValueFileImage image_;
};

TEST_F(ValueHeadTest, PartsStandWithoutGaps) {
  uint64_t at = 0;
  for (const auto* parts : {&image_.records, &image_.key_blocks, &image_.index_partitions}) {
    EXPECT_FALSE(parts->empty());
    for (const auto& part : *parts) {
      EXPECT_EQ(part.offset, at);
      at = part.end;
    }
  }
  EXPECT_EQ(image_.properties.offset, at);
  EXPECT_EQ(image_.top_index.offset, image_.properties.end);
  EXPECT_EQ(image_.top_index.end + vsst::kPlainFooterBytes, image_.bytes.size());
  EXPECT_TRUE(OpenRepaired().ok());
}

TEST_F(ValueHeadTest, BlocksAreChecked) {
  auto head = OpenHead(&files_, kValuePath);
  ASSERT_TRUE(head.ok());
  std::string raw;
  BlockHandle handle = (*head)->top.key_blocks()[0];
  EXPECT_TRUE((*head)->LoadBlock(handle, &raw).ok());
  --handle.bytes;
  EXPECT_TRUE((*head)->LoadBlock(handle, &raw).IsCorruption());
  handle.offset = image_.bytes.size();
  EXPECT_TRUE((*head)->LoadBlock(handle, &raw).IsCorruption())
      << "the block is after the file's end";
}

TEST_F(ValueHeadTest, CountsOfPropertiesMustFit) {
  // The counts of records and of index partitions have one byte each.
  const std::string good = image_.bytes;
  image_.bytes[image_.properties.offset] ^= 1;
  EXPECT_TRUE(OpenRepaired().IsCorruption()) << "the records must match those of the blob files";
  image_.bytes = good;
  image_.bytes[image_.top_index.offset] ^= 1;
  EXPECT_TRUE(OpenRepaired().IsCorruption())
      << "the number of index partitions must match the top index";
}

TEST_F(ValueHeadTest, WindowReadsInPieces) {
  std::string content;
  for (int i = 0; i < 200'000; ++i) PutFixed32(&content, static_cast<uint32_t>(i));
  ASSERT_TRUE(files_.SetContent(kValuePath, content).ok());
  FaultFileSystem counting(&files_);
  auto file = counting.OpenRandom(kValuePath);
  ASSERT_TRUE(file.ok());
  vsst::ReadWindow window(file->get(), content.size());
  Random random(3);
  for (uint64_t at = 0; at < content.size();) {
    const uint64_t length = std::min<uint64_t>(random.Uniform(1000), content.size() - at);
    Slice bytes;
    ASSERT_TRUE(window.Read(at, length, &bytes).ok());
    ASSERT_EQ(bytes, Slice(content).substr(at, length));
    at += length;
  }
  EXPECT_LE(counting.calls(FileCall::kRead), 4u);
  Slice bytes;
  ASSERT_TRUE(window.Read(10, 700'000, &bytes).ok())
      << "a backward read may be longer than a piece";
  EXPECT_EQ(bytes, Slice(content).substr(10, 700'000));
}

}  // namespace
}  // namespace lava::testing
