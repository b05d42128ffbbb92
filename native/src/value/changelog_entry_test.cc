// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/changelog_entry.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "value/value_log_writer.h"
#include "value/value_test_util.h"

namespace lava::vsst {
namespace {

TEST(ChangelogEntry, HeadsComeBack) {
  const std::vector<ChangelogEntryHead> heads = {{1, 0, false, 0, ""},
                                                 {2, 1, false, 0, "an entry"},
                                                 {1ull << 40, 300, true, 0, "front"},
                                                 {9, 9, true, 1, ""},
                                                 {300, 0, true, 1, "f"}};
  for (const ChangelogEntryHead& head : heads) {
    std::string bytes;
    EncodeChangelogEntryHead(head, &bytes);
    ChangelogEntryHead back;
    ASSERT_TRUE(DecodeChangelogEntryHead(bytes, &back));
    EXPECT_EQ(back.sequence, head.sequence);
    EXPECT_EQ(back.skipped, head.skipped);
    EXPECT_EQ(back.has_value, head.has_value);
    EXPECT_EQ(back.inline_bytes, head.inline_bytes);
    EXPECT_EQ(back.bytes, head.bytes);
  }
  ChangelogEntryHead head;
  EXPECT_FALSE(DecodeChangelogEntryHead("", &head));
  EXPECT_FALSE(DecodeChangelogEntryHead("\x01", &head));
  EXPECT_FALSE(DecodeChangelogEntryHead("\x02\x01", &head));
  EXPECT_FALSE(DecodeChangelogEntryHead("\x02\x03\x01", &head))
      << "more entries are skipped than came before";
  EXPECT_FALSE(DecodeChangelogEntryHead("\x02\x01\xff\xff", &head));
  EXPECT_FALSE(DecodeChangelogEntryHead("\x02\x01\xff\xff\xff\xff\xff\x01", &head))
      << "the number of skipped entries is too large";
}

class ChangelogEntryReaderTest : public ::testing::Test {
 protected:
  /// Two entries, at an offset that is not the segment's beginning.
  void SetUp() override {
    Append("k1", "an earlier value");
    offset_ = bytes_.size();
    std::string head;
    EncodeChangelogEntryHead({7, 0, true, 1, "front "}, &head);
    Append("", head);
    Append("k2", "-the value");
    EncodeChangelogEntryHead({8, 0, false, 0, "no value"}, &head);
    Append("", head);
  }
  void Append(Slice key, Slice value) {
    std::string record;
    EncodeRecord(UniqueIdOf(kName), bytes_.size(), 0, key,
                 {Compression::kNone, static_cast<uint32_t>(value.size()), value}, &record);
    bytes_ += record;
  }
  Slice Entries() const { return Slice(bytes_).substr(offset_); }

  static constexpr const char* kName = "0-1.vsst";
  std::string bytes_;
  uint64_t offset_ = 0;
};

TEST_F(ChangelogEntryReaderTest, EntriesAreReadOneBehindTheOther) {
  for (const std::string name : {"0-1.vsst", "some/directory/0-1.vsst"}) {
    ChangelogEntryReader reader(name, offset_, Entries());
    std::string entry;
    ASSERT_TRUE(reader.Next(&entry).ok());
    EXPECT_EQ(entry, "front the value");
    EXPECT_EQ(reader.sequence(), 7u);
    ASSERT_TRUE(reader.Next(&entry).ok());
    EXPECT_EQ(entry, "no value");
    EXPECT_EQ(reader.sequence(), 8u);
    EXPECT_TRUE(reader.done());
    EXPECT_EQ(reader.offset(), bytes_.size());
  }
}

TEST_F(ChangelogEntryReaderTest, EveryDamageIsTold) {
  const auto read = [](const std::string& name, uint64_t offset, Slice bytes) {
    ChangelogEntryReader reader(name, offset, bytes);
    std::string entry;
    Status status;
    while (status.ok() && !reader.done()) status = reader.Next(&entry);
    return status;
  };
  EXPECT_TRUE(read(kName, offset_, Entries()).ok());
  EXPECT_TRUE(read("0-2.vsst", offset_, Entries()).IsCorruption())
      << "the name belongs to another segment";
  EXPECT_TRUE(read(kName, offset_ + 1, Entries()).IsCorruption()) << "the offset is wrong";
  EXPECT_TRUE(read(kName, 0, bytes_).IsCorruption()) << "the bytes are a value without an entry";
  for (size_t i = 0; i < Entries().size(); ++i) {
    std::string damaged(Entries());
    damaged[i] = static_cast<char>(damaged[i] ^ 0x20);
    const Status status = read(kName, offset_, damaged);
    EXPECT_TRUE(status.IsCorruption()) << i;
    EXPECT_NE(status.ToString().find(kName), std::string::npos);
  }
  size_t sound = 0;
  for (size_t length = 1; length < Entries().size(); ++length)
    if (read(kName, offset_, Entries().substr(0, length)).ok()) ++sound;
  EXPECT_EQ(sound, 1u) << "only a cut between the two entries leaves intact entries";
}

TEST_F(ChangelogEntryReaderTest, AValueAloneIsRead) {
  std::string value;
  EXPECT_TRUE(
      ChangelogEntryReader::ReadValue(kName, 0, Slice(bytes_).substr(0, offset_), &value).ok());
  EXPECT_EQ(value, "an earlier value");
  EXPECT_TRUE(ChangelogEntryReader::ReadValue(kName, 0, bytes_, &value).IsCorruption())
      << "the bytes contain more than the value";
  EXPECT_TRUE(ChangelogEntryReader::ReadValue(kName, offset_, Entries(), &value).IsCorruption());
}

}  // namespace
}  // namespace lava::vsst
