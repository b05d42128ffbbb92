// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/block_access.h"

#include "table/table_test_util.h"

namespace lava::ksst {
namespace {

TEST(BlockAccessTest, ReadsOnceThenFromTheCache) {
  lava::testing::ChosenFileSystem file_system;
  ASSERT_TRUE(file_system.CreateDirectory("/db").ok());
  ASSERT_TRUE(
      lava::testing::WriteTable(&file_system, "/db/1.ksst", lava::testing::SmallRecords(50)).ok());
  TableHead head;
  auto file = file_system.OpenRandom("/db/1.ksst");
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(ReadTableHead(std::move(*file), &head).ok());
  auto cache = BlockCache::Create(1 << 20);
  TableReader::ReadCounters counters;
  BlockAccess access{head.loader.get(), cache.get(), cache->NewFileId(), &counters};
  std::shared_ptr<const CachedIndexPartition> first, second;
  bool cached = true;
  ASSERT_TRUE(access.IndexPartition(head.top, 0, &first, &cached).ok());
  EXPECT_FALSE(cached);
  ASSERT_TRUE(access.IndexPartition(head.top, 0, &second, &cached).ok());
  EXPECT_TRUE(cached);
  EXPECT_EQ(first, second);
  EXPECT_EQ(counters.block_reads.load(), 1u);
  std::shared_ptr<const CachedDataBlock> block, again;
  ASSERT_TRUE(access.Data(BlockAt(first->index, 0), &block).ok());
  ASSERT_TRUE(access.Data(BlockAt(first->index, 0), &again).ok());
  EXPECT_EQ(block, again);
  EXPECT_EQ(counters.block_reads.load(), 2u);
  access.CountFilterUseful();
  EXPECT_EQ(counters.filter_useful.load(), 1u);
  access.counters = nullptr;
  cache->SetCapacity(0);
  cache->EraseFile(access.file_id);
  ASSERT_TRUE(access.Data(BlockAt(first->index, 0), &again).ok());
  EXPECT_NE(block, again) << "a block that is not kept must still be readable";
}

}  // namespace
}  // namespace lava::ksst
