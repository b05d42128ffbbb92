// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value_log/active_log_segments.h"

#include <gtest/gtest.h>

#include "memory/memory_budget.h"
#include "testing/fault_file_system.h"
#include "testing/mem_file_system.h"

namespace lava {
namespace {

using testing::FaultFileSystem;
using testing::FileCall;
using testing::MemFileSystem;

constexpr uint64_t kValueFileBytes = 2000, kEntryBytesMax = 5000;

class ActiveLogSegmentsTest : public ::testing::Test {
 protected:
  FileId NextId() { return {{1, 2}, std::exchange(number_, number_ + kLogBlobFilesMax)}; }
  std::shared_ptr<ValueLogSegment> AddForValues() {
    const FileId id = NextId();
    std::shared_ptr<ValueLogSegment> segment = *ValueLogSegment::Create(
        &faults_, id.ValueFileName(), id, {.compression = Compression::kNone});
    segments_.Add(segment);
    segments_.BeginValues(segment);
    return segment;
  }
  std::shared_ptr<ChangelogSegment> AddForEntries() {
    const FileId id = NextId();
    std::shared_ptr<ChangelogSegment> segment = *ChangelogSegment::Create(
        &faults_, id.ValueFileName(), id, {.compression = Compression::kNone},
        budget_.counter(MemoryPurpose::kMemtables));
    segments_.Add(segment);
    segments_.BeginChangelog(segment);
    return segment;
  }
  Status AppendValue(size_t bytes) {
    ValueReference reference;
    const uint64_t before = segments_.values()->bytes();
    const Status status =
        segments_.values()->Append("key", std::string(bytes, 'v'), /*synced=*/false, &reference);
    segments_.ValueAppended(before);
    return status;
  }
  Status AppendEntry(size_t bytes) {
    LoggedRecord logged;
    const uint64_t before = segments_.changelog()->bytes();
    LAVA_RETURN_IF_ERROR(segments_.changelog()->AppendEntry(
        sequence_++, 0, std::string(bytes, 'e'), nullptr, /*synced=*/false, &logged, nullptr));
    segments_.EntryAppended(before);
    return Status::OK();
  }

  MemFileSystem memory_;
  FaultFileSystem faults_{&memory_};
  MemoryBudget budget_;
  uint64_t number_ = 1, sequence_ = 1;
  ActiveLogSegments segments_{kValueFileBytes, kEntryBytesMax};
};

TEST_F(ActiveLogSegmentsTest, SealHandsOverAllSegmentsAndBeginsAnew) {
  EXPECT_TRUE(segments_.empty());
  EXPECT_EQ(segments_.values(), nullptr);
  EXPECT_EQ(segments_.changelog(), nullptr);
  const std::shared_ptr<ValueLogSegment> values = AddForValues();
  const std::shared_ptr<ChangelogSegment> entries = AddForEntries();
  EXPECT_EQ(segments_.values(), values.get());
  EXPECT_EQ(segments_.changelog(), entries.get());
  ASSERT_TRUE(AppendValue(kValueFileBytes).ok());
  EXPECT_TRUE(segments_.full());

  const std::vector<std::shared_ptr<ValueLogSegment>> expected{values, entries};
  EXPECT_EQ(segments_.all(), expected);
  EXPECT_EQ(segments_.Seal(), expected);
  EXPECT_TRUE(segments_.empty());
  EXPECT_FALSE(segments_.full());
  EXPECT_EQ(segments_.values(), nullptr);
  EXPECT_EQ(segments_.changelog(), nullptr);
  AddForValues();
  ASSERT_TRUE(AppendValue(10).ok());
  EXPECT_FALSE(segments_.full()) << "bytes of the previous memtable must not count";
}

TEST_F(ActiveLogSegmentsTest, ASegmentThatEndedStaysTheMemtables) {
  const std::shared_ptr<ValueLogSegment> values = AddForValues();
  const std::shared_ptr<ChangelogSegment> entries = AddForEntries();
  segments_.EndValues();
  EXPECT_EQ(segments_.values(), nullptr);
  EXPECT_EQ(segments_.changelog(), entries.get());
  segments_.EndChangelog();
  EXPECT_EQ(segments_.changelog(), nullptr);
  EXPECT_EQ(segments_.all().size(), 2u);
}

TEST_F(ActiveLogSegmentsTest, ValuesOfAllSegmentsFillTheMemtable) {
  AddForValues();
  ASSERT_TRUE(AppendValue(kValueFileBytes / 2).ok());
  EXPECT_FALSE(segments_.full());
  segments_.EndValues();
  AddForValues();
  ASSERT_TRUE(AppendValue(kValueFileBytes / 2).ok());
  EXPECT_TRUE(segments_.full());
}

TEST_F(ActiveLogSegmentsTest, AFailedSegmentFillsTheMemtable) {
  AddForValues();
  ASSERT_TRUE(AppendValue(10).ok());
  faults_.Arm({.only = FileCall::kFlush});
  EXPECT_FALSE(AppendValue(10).ok());
  EXPECT_TRUE(segments_.full()) << "no other value may follow in the failed segment";
}

TEST_F(ActiveLogSegmentsTest, AVeryLargeValueBeginsASegment) {
  AddForValues();
  segments_.PrepareForValue(1 << 20);
  EXPECT_NE(segments_.values(), nullptr);
  segments_.PrepareForValue(4 << 20);
  EXPECT_EQ(segments_.values(), nullptr);
}

TEST_F(ActiveLogSegmentsTest, AChangelogSegmentTakesEntriesUpToTheSizeOfAValueFile) {
  EXPECT_FALSE(segments_.TakesEntry()) << "there is no segment yet";
  AddForEntries();
  EXPECT_TRUE(segments_.TakesEntry());
  ASSERT_TRUE(AppendEntry(kValueFileBytes / 2).ok());
  EXPECT_TRUE(segments_.TakesEntry());
  ASSERT_TRUE(AppendEntry(kValueFileBytes / 2).ok());
  EXPECT_FALSE(segments_.TakesEntry());
  EXPECT_FALSE(segments_.full()) << "the memtable may have more segments";
}

TEST_F(ActiveLogSegmentsTest, AFailedChangelogSegmentTakesNoEntry) {
  AddForEntries();
  ASSERT_TRUE(AppendEntry(10).ok());
  faults_.Arm({.only = FileCall::kFlush});
  EXPECT_FALSE(AppendEntry(10).ok());
  EXPECT_FALSE(segments_.TakesEntry());
  EXPECT_FALSE(segments_.full()) << "the next entry must get a new segment";
}

TEST_F(ActiveLogSegmentsTest, EntriesOfAllSegmentsFillTheMemtable) {
  for (int i = 0; i < 2; ++i) {
    AddForEntries();
    ASSERT_TRUE(AppendEntry(kValueFileBytes).ok());
    EXPECT_FALSE(segments_.full());
  }
  AddForEntries();
  ASSERT_TRUE(AppendEntry(kValueFileBytes).ok());
  EXPECT_TRUE(segments_.full());
}

}  // namespace
}  // namespace lava
