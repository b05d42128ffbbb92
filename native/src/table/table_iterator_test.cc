// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/table_iterator.h"

#include "table/table_test_util.h"
#include "testing/fault_file_system.h"

namespace lava {
namespace {

using testing::OpenTable;
using testing::OwnedRecord;
using testing::ReadAll;

class TableIteratorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(base_.CreateDirectory("/db").ok());
    TableWriterOptions options;
    options.block_bytes = 120;
    options.index_partition_bytes = 200;
    ASSERT_TRUE(testing::WriteTable(&base_, "/db/1.ksst", records_, {}, options).ok());
  }
  const std::vector<OwnedRecord> records_ = testing::SmallRecords(120);
  testing::ChosenFileSystem base_;
  testing::FaultFileSystem faulty_{&base_};
  std::unique_ptr<BlockCache> cache_ = BlockCache::Create(0);
};

TEST_F(TableIteratorTest, SeekLandsOnTheNextRecordAcrossBlocksAndPartitions) {
  auto reader = OpenTable(&base_, "/db/1.ksst", cache_.get());
  ASSERT_TRUE(reader.ok());
  ASSERT_GT((*reader)->properties().index_partitions, 3u);
  for (bool fill : {true, false}) {
    auto iterator = (*reader)->NewIterator({fill, 0});
    for (size_t i = 0; i + 1 < records_.size(); ++i) {
      iterator->Seek(records_[i].key + '\0');
      size_t next = i + 1;
      if (records_[next].key == records_[i].key) ++next;
      ASSERT_TRUE(iterator->Valid());
      EXPECT_EQ(testing::Own(iterator->record()), records_[next]);
    }
    iterator->Seek(records_.back().key + '\0');
    EXPECT_FALSE(iterator->Valid());
    EXPECT_TRUE(iterator->status().ok());
    iterator->Seek("");
    EXPECT_EQ(testing::Own(iterator->record()), records_.front());
  }
}

TEST_F(TableIteratorTest, EveryFailedReadEndsTheWalkWithItsStatus) {
  auto reader = OpenTable(&faulty_, "/db/1.ksst", cache_.get());
  ASSERT_TRUE(reader.ok());
  for (testing::Fault fault :
       {testing::Fault::kIOError, testing::Fault::kBitFlip, testing::Fault::kShortRead}) {
    for (TableReader::IterateOptions options :
         {TableReader::IterateOptions{true, 0}, {false, 0}, {false, 700}}) {
      for (uint64_t call = 1;; ++call) {
        testing::FaultFileSystem::Plan plan;
        plan.fault = fault;
        plan.call = call;
        plan.only = testing::FileCall::kRead;
        plan.seed = call;
        faulty_.Arm(plan);
        auto all = ReadAll(**reader, options);
        bool fired = faulty_.fired() > 0;
        faulty_.Disarm();
        if (all.ok()) {
          ASSERT_EQ(*all, records_) << "call " << call;
        } else {
          ASSERT_NE(all.status().message().find("/db/1.ksst"), std::string_view::npos);
        }
        if (!fired) {
          EXPECT_GT(call, 5u);
          break;
        }
      }
    }
  }
}

TEST_F(TableIteratorTest, UsableAgainAfterAnError) {
  auto reader = OpenTable(&faulty_, "/db/1.ksst", cache_.get());
  ASSERT_TRUE(reader.ok());
  auto iterator = (*reader)->NewIterator({});
  testing::FaultFileSystem::Plan plan;
  plan.only = testing::FileCall::kRead;
  plan.call = 3;
  faulty_.Arm(plan);
  for (iterator->SeekToFirst(); iterator->Valid();) iterator->Next();
  EXPECT_TRUE(iterator->status().IsIOError());
  faulty_.Disarm();
  iterator->SeekToFirst();
  ASSERT_TRUE(iterator->Valid());
  EXPECT_TRUE(iterator->status().ok());
  EXPECT_EQ(testing::Own(iterator->record()), records_.front());
}

}  // namespace
}  // namespace lava
