// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "compaction/compaction_job.h"

#include <gtest/gtest.h>

#include "compaction/tree_for_test.h"
#include "manifest/sums.h"
#include "read/readers.h"
#include "read/stamped_for_test.h"

namespace lava {
namespace {

TEST(CompactionJob, OutputsAreCutAtTheirSizeAndStayDisjoint) {
  TreeForTest tree;
  for (int i = 100; i < 400; ++i) tree.Put(K(std::to_string(i)), std::string(50, 'v'));
  tree.SealAndFlush();
  for (int i = 100; i < 400; i += 3) tree.Put(K(std::to_string(i)), std::string(60, 'w'));
  tree.SealAndFlush();
  tree.target_file_bytes = 2000;
  const CompactionOutput output = tree.Compact(tree.PlanLevels(0, 1));
  EXPECT_GT(output.files.size(), 3u);
  EXPECT_GT(output.bytes_read, 0u);
  uint64_t bytes = 0;
  for (const auto& file : output.files) {
    bytes += file->bytes;
    EXPECT_NE(ReaderOf(*file), nullptr);
    EXPECT_EQ(file->tables.at(7).first, file->records);
  }
  EXPECT_EQ(output.bytes_written, bytes);
  EXPECT_EQ(tree.Scan(), tree.model());
}

TEST(CompactionJob, NeverCutsUnderACarriedPrefixDelete) {
  TreeForTest tree;
  const std::string map = K("mm");
  tree.Put(K("zz"), "keeps the levels below from being empty");
  tree.Put(map + "old", "1", TreeForTest::kPrefixBytes);
  tree.SealAndFlush();
  tree.Compact(tree.PlanLevels(0, 1));
  tree.Compact(tree.PlanLevels(1, 2));
  tree.DeletePrefix(map);
  for (int i = 100; i < 300; ++i)
    tree.Put(map + std::to_string(i), std::string(50, 'v'), TreeForTest::kPrefixBytes);
  for (int i = 100; i < 300; ++i) tree.Put(K("nn" + std::to_string(i)), std::string(50, 'v'));
  tree.SealAndFlush();
  tree.target_file_bytes = 1000;
  const CompactionOutput output = tree.Compact(tree.PlanLevels(0, 1));
  ASSERT_GT(output.files.size(), 2u);
  EXPECT_EQ(output.files[0]->prefix_deletes, 1u);
  EXPECT_EQ(output.files[0]->records, 201u);
  EXPECT_EQ(output.files[0]->upper, PrefixEnd(map));
  EXPECT_EQ(tree.Scan(), tree.model());
  EXPECT_EQ(tree.Get(map + "old", TreeForTest::kPrefixBytes), nullptr);
}

TEST(CompactionJob, RangeTombstonesAreCutAtTheOutputs) {
  TreeForTest tree;
  for (int i = 100; i < 300; ++i) tree.Put(K(std::to_string(i)), "old");
  tree.SealAndFlush();
  tree.Compact(tree.PlanLevels(0, 1));
  tree.Compact(tree.PlanLevels(1, 2));
  tree.DeleteRange(K("1"), K("29"));
  for (int i = 100; i < 250; ++i) tree.Put(K(std::to_string(i) + "n"), std::string(50, 'v'));
  tree.SealAndFlush();
  tree.target_file_bytes = 1000;
  const CompactionOutput output = tree.Compact(tree.PlanLevels(0, 1));
  ASSERT_GT(output.files.size(), 2u);
  std::string end = K("1");
  for (const auto& file : output.files) {
    const auto ranges = ReaderOf(*file)->range_tombstones().ranges();
    ASSERT_EQ(ranges.size(), 1u);
    EXPECT_EQ(ranges[0].begin, end);
    end = ranges[0].end;
    EXPECT_LE(file->lower, ranges[0].begin);
    EXPECT_GE(file->upper, ranges[0].end);
  }
  EXPECT_EQ(end, K("29"));
  EXPECT_EQ(tree.Scan(), tree.model());
  // At the bottom nothing older is left, so the tombstones are dropped.
  const CompactionOutput bottom = tree.Compact(tree.PlanLevels(1, 2));
  for (const auto& file : bottom.files) EXPECT_EQ(file->range_tombstones, 0u);
  EXPECT_EQ(tree.Scan(), tree.model());
}

// The merge would miss the tombstones of a missing file even if its records arrived in time.
TEST(CompactionJob, NothingIsDoneWithoutAFileThatIsNotThere) {
  TreeForTest tree;
  tree.Put(K("a"), "old");
  tree.SealAndFlush();
  tree.DeleteRange(K("a"), K("c"));
  tree.SealAndFlush();
  const CompactionInput input = tree.PlanLevels(0, 1);
  FileMeta& newest = *input.inputs[0].entries[0].file;
  std::shared_ptr<TableReader> reader = newest.reader.TakeForTest();
  CompactionOutput output;
  const Status status = RunCompaction(tree.context(), input, &output);
  EXPECT_TRUE(status.IsNeedsFile()) << status.ToString();
  EXPECT_EQ(status.message(), newest.id.FileName());
  newest.reader.Set(std::move(reader));
  tree.Compact(input);
  EXPECT_TRUE(tree.Scan().empty());
}

TEST(CompactionJob, AFileOfRangeTombstonesAlone) {
  TreeForTest tree;
  tree.Put(K("b"), "old");
  tree.SealAndFlush();
  tree.Compact(tree.PlanLevels(0, 1));
  tree.Compact(tree.PlanLevels(1, 2));
  tree.DeleteRange(K("a"), K("c"));
  tree.SealAndFlush();
  const CompactionOutput output = tree.Compact(tree.PlanLevels(0, 1));
  ASSERT_EQ(output.files.size(), 1u);
  EXPECT_EQ(output.files[0]->records, 0u);
  EXPECT_TRUE(tree.Scan().empty());
  EXPECT_TRUE(tree.Compact(tree.PlanLevels(1, 2)).files.empty());
}

// An expired record above an older one becomes a tombstone until nothing older is left.
TEST(CompactionJob, ExpiredRecordHidesWhatIsOlder) {
  TreeForTest tree;
  tree.tables[7] = {TableKind::kValue, TtlLayout::kValue, 100};
  tree.Put(K("a"), Stamped(5000));
  tree.Put(K("b"), Stamped(5000));
  tree.SealAndFlush();
  tree.Compact(tree.PlanLevels(0, 1));
  tree.Compact(tree.PlanLevels(1, 2));
  tree.Put(K("a"), Stamped(10));
  tree.SealAndFlush();
  tree.now_ms = 1000;
  const CompactionOutput upper = tree.Compact(tree.PlanLevels(0, 1));
  EXPECT_EQ(upper.records_expired, 1u);
  ASSERT_EQ(upper.files.size(), 1u);
  EXPECT_EQ(TreeForTest::Dump(*upper.files[0]), "delete a\n");
  EXPECT_EQ(tree.Get(K("a")), nullptr);
  const CompactionOutput bottom = tree.Compact(tree.PlanLevels(1, 2));
  ASSERT_EQ(bottom.files.size(), 1u);
  EXPECT_EQ(bottom.files[0]->records, 1u);
  EXPECT_EQ(bottom.files[0]->deletes, 0u);
}

TEST(CompactionJob, ExpiredListElements) {
  TreeForTest tree;
  tree.tables[7] = {TableKind::kList, TtlLayout::kList, 100};
  const std::string old = TreeForTest::Segment(Stamped(10));
  const std::string fresh = TreeForTest::Segment(Stamped(950));
  tree.Append(K("base"), fresh);
  tree.Append(K("all"), fresh);
  tree.SealAndFlush();
  tree.Compact(tree.PlanLevels(0, 1));
  tree.Compact(tree.PlanLevels(1, 2));
  tree.now_ms = 1000;
  tree.Append(K("base"), old + fresh + old);
  tree.Append(K("all"), old);  // an operand without a base here: the base below stays
  tree.Put(K("put"), old);     // nothing older: vanishes
  tree.Put(K("all2"), old);    // the key is in the range of the file below: becomes a tombstone
  tree.SealAndFlush();
  const CompactionOutput output = tree.Compact(tree.PlanLevels(0, 1));
  ASSERT_EQ(output.files.size(), 1u);
  EXPECT_EQ(output.files[0]->records, 2u);
  EXPECT_EQ(output.files[0]->deletes, 1u);
  EXPECT_EQ(*tree.Get(K("base")), fresh + fresh);
  EXPECT_EQ(*tree.Get(K("all")), fresh);
  EXPECT_EQ(tree.Get(K("put")), nullptr);
  EXPECT_EQ(output.records_expired, 5u);
}

TEST(CompactionJob, TablesThatAreNotRegisteredAreNotFiltered) {
  TreeForTest tree;
  tree.Put(K("a"), Stamped(1));
  tree.now_ms = 1 << 30;
  tree.SealAndFlush();
  EXPECT_EQ(tree.Compact(tree.PlanLevels(0, 1)).records_expired, 0u);
  EXPECT_EQ(tree.Scan(), tree.model());
}

// A version may have two entries of a file with disjoint bounds at different levels.
TEST(CompactionJob, ClippedEntriesShowOnlyTheirBounds) {
  TreeForTest tree;
  tree.Put(K("older"), "so that the flush keeps tombstones");
  tree.SealAndFlush();
  for (uint8_t partition = 0; partition < 4; ++partition) {
    tree.Put(TreeForTest::Key(partition, 7, "a"), "v");
    tree.DeleteRange(TreeForTest::Key(partition, 7, "x"), TreeForTest::Key(partition, 7, "y"));
  }
  tree.SealAndFlush();
  const KeyFileEntry whole = tree.version()->levels[0][0];
  auto clipped = std::make_shared<Version>();
  KeyFileEntry left = whole, right = whole;
  left.upper = std::string(1, '\1');
  right.lower = std::string(1, '\3');
  clipped->levels[0].push_back(left);
  clipped->levels[1].push_back(right);
  clipped->sums = CountSums(*clipped);
  tree.set_version(clipped);
  EXPECT_EQ(tree.Scan().size(), 2u);
  EXPECT_EQ(tree.Scan(TreeForTest::Key(1, 7, "")).size(), 1u);
  const auto runs = tree.Runs();
  EXPECT_NE(runs[1]->Covering(TreeForTest::Key(0, 7, "xa")), nullptr);
  EXPECT_EQ(runs[1]->Covering(TreeForTest::Key(3, 7, "xa")), nullptr);
  EXPECT_NE(runs[2]->Covering(TreeForTest::Key(3, 7, "xa")), nullptr);
  const CompactionOutput output = tree.Compact(tree.PlanLevels(0, 1));
  uint64_t records = 0;
  for (const auto& file : output.files) records += file->records;
  EXPECT_EQ(records, 2u);
}

TEST(CompactionJob, CancelledJobLeavesNothing) {
  TreeForTest tree;
  for (int i = 0; i < 2000; ++i) tree.Put(K(std::to_string(i)), "v");
  tree.SealAndFlush();
  const auto before = tree.file_system().Paths();
  const std::atomic<bool> cancelled{true};
  tree.context().cancelled = &cancelled;
  CompactionOutput output;
  const Status status = RunCompaction(tree.context(), tree.PlanLevels(0, 1), &output);
  EXPECT_EQ(status.code(), Status::Code::kAborted);
  EXPECT_TRUE(output.files.empty());
  EXPECT_EQ(tree.file_system().Paths(), before);
}

TEST(CompactionJob, CorruptInputFailsItAndLeavesNothing) {
  TreeForTest tree;
  for (int i = 0; i < 2000; ++i) tree.Put(K(std::to_string(i)), "v");
  tree.SealAndFlush();
  const std::string path = tree.context().PathOf(tree.version()->levels[0][0].file->id);
  std::string content = *tree.file_system().Content(path);
  content[2000] = static_cast<char>(content[2000] ^ 1);
  ASSERT_TRUE(tree.file_system().SetContent(path, content).ok());
  const auto before = tree.file_system().Paths();
  CompactionOutput output;
  const Status status = RunCompaction(tree.context(), tree.PlanLevels(0, 1), &output);
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.message().find(path), std::string_view::npos) << status.ToString();
  EXPECT_EQ(tree.file_system().Paths(), before);
}

}  // namespace
}  // namespace lava
