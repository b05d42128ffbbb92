// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/block_loader.h"

#include "table/table_test_util.h"

namespace lava::ksst {
namespace {

class BlockLoaderTest : public ::testing::Test {
 protected:
  std::unique_ptr<BlockLoader> Loader(const std::string& content) {
    EXPECT_TRUE(file_system_.CreateDirectory("/db").ok());
    EXPECT_TRUE(file_system_.SetContent("/db/1.ksst", content).ok());
    auto file = file_system_.OpenRandom("/db/1.ksst");
    EXPECT_TRUE(file.ok());
    return std::make_unique<BlockLoader>(std::move(*file), 7, kFormatVersion);
  }
  lava::testing::ChosenFileSystem file_system_;
};

TEST_F(BlockLoaderTest, ReadsWhatWasSealed) {
  std::string block = "payload";
  SealBlock(7, 3, Compression::kNone, 7, &block);
  auto loader = Loader("xyz" + block);
  std::string raw;
  ASSERT_TRUE(loader->LoadRaw({3, 7}, &raw).ok());
  EXPECT_EQ(raw, "payload");
  EXPECT_TRUE(loader->LoadRaw({2, 7}, &raw).IsCorruption());
  EXPECT_FALSE(loader->LoadRaw({4, 7}, &raw).ok()) << "the block ends after the file's end";
}

TEST_F(BlockLoaderTest, RightChecksumOverNonsenseIsRefused) {
  struct Case {
    std::string payload;
    Compression codec;
    uint32_t raw_bytes;
  };
  for (const Case& c :
       {Case{"no block", Compression::kNone, 8}, Case{"no lz4 data", Compression::kLz4, 100},
        Case{"no lz4 data", Compression::kLz4, 1u << 30},
        Case{"no zstd frame", Compression::kZstd, 100}}) {
    std::string block = c.payload;
    SealBlock(7, 0, c.codec, c.raw_bytes, &block);
    auto loader = Loader(block);
    BlockHandle handle{0, static_cast<uint32_t>(c.payload.size())};
    std::shared_ptr<const CachedDataBlock> data;
    Status status = loader->LoadData(handle, &data);
    EXPECT_TRUE(status.IsCorruption());
    EXPECT_NE(status.message().find("/db/1.ksst: at offset 0"), std::string_view::npos);
    std::shared_ptr<const CachedIndexPartition> index_partition;
    EXPECT_TRUE(loader->LoadIndexPartitionAt(handle, 0, &index_partition).IsCorruption());
    BlockBuffer buffer;
    DataBlock parsed;
    EXPECT_TRUE(loader->ParseData(handle, block, &buffer, &parsed).IsCorruption());
  }
}

TEST_F(BlockLoaderTest, HeadOfAWrittenFile) {
  ASSERT_TRUE(file_system_.CreateDirectory("/db").ok());
  auto records = lava::testing::SmallRecords(100);
  TableWriterOptions options;
  options.block_bytes = 200;
  options.index_partition_bytes = 300;
  RangeTombstoneSet tombstones;
  tombstones.Add("a", "b");
  ASSERT_TRUE(
      lava::testing::WriteTable(&file_system_, "/db/2.ksst", records, tombstones, options).ok());
  TableHead head;
  auto file = file_system_.OpenRandom("/db/2.ksst");
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(ReadTableHead(std::move(*file), &head).ok());
  EXPECT_EQ(head.properties.records, records.size());
  EXPECT_EQ(head.top.count(), head.properties.index_partitions);
  EXPECT_EQ(head.tombstones.ranges().size(), 1u);
  EXPECT_EQ(head.data_end, head.footer.tombstones.offset);
  uint64_t blocks = 0;
  for (uint32_t i = 0; i < head.top.count(); ++i) {
    std::shared_ptr<const CachedIndexPartition> index_partition;
    ASSERT_TRUE(
        head.loader
            ->LoadIndexPartitionAt(BlockAt(head.top, i), head.top.extent_begin(i), &index_partition)
            .ok());
    blocks += index_partition->index.count();
  }
  EXPECT_EQ(blocks, head.properties.data_blocks);
  EXPECT_GE(head.top.count(), 2u);
}

}  // namespace
}  // namespace lava::ksst
