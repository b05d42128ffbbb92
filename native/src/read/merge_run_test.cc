// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "read/merge_run.h"

#include <gtest/gtest.h>

#include "compaction/tree_for_test.h"

namespace lava {
namespace {

// Three files of one level: a..c, e..g, i..k.
class LevelRunTest : public ::testing::Test {
 protected:
  LevelRunTest() {
    for (const char* keys : {"abc", "efg", "ijk"}) {
      for (const char* k = keys; *k != 0; ++k) tree_.Put(K(std::string(1, *k)), "v");
      tree_.SealAndFlush();
      level_.push_back(tree_.version()->levels[0][0]);
    }
  }
  static std::string Walk(RecordIterator& it) {
    std::string keys;
    for (; it.Valid(); it.Next()) keys.append(it.record().key.substr(6));
    EXPECT_TRUE(it.status().ok());
    return keys;
  }
  TreeForTest tree_;
  FileList level_;
};

TEST_F(LevelRunTest, WalksFileAfterFile) {
  const auto run = NewLevelRun(level_, {});
  RecordIterator& it = run->records();
  it.SeekToFirst();
  EXPECT_EQ(Walk(it), "abcefgijk");
  it.Seek(K("d"));
  EXPECT_EQ(Walk(it), "efgijk");
  it.Seek(K("b"));
  EXPECT_EQ(Walk(it), "bcefgijk");
  it.Seek(K("z"));
  EXPECT_EQ(Walk(it), "");
  it.Seek(K("k"));
  EXPECT_EQ(Walk(it), "k");
}

TEST_F(LevelRunTest, BoundsHideRecords) {
  level_.Mutable(level_.begin()).lower = K("b");
  level_.Mutable(level_.begin() + 1).upper = K("f");
  level_.Mutable(level_.begin() + 2).lower = K("k");
  const auto run = NewLevelRun(level_, {});
  run->records().SeekToFirst();
  EXPECT_EQ(Walk(run->records()), "bcek");
  run->records().Seek(K("a"));
  EXPECT_EQ(Walk(run->records()), "bcek");
  run->records().Seek(K("f"));
  EXPECT_EQ(Walk(run->records()), "k");
}

TEST_F(LevelRunTest, AMissingFileEndsTheWalkForGood) {
  FileMeta& second = *level_[1].file;
  std::shared_ptr<TableReader> reader = second.reader.TakeForTest();
  const auto expect_needed = [&](const RecordIterator& it) {
    EXPECT_FALSE(it.Valid());
    EXPECT_TRUE(it.status().IsNeedsFile());
    EXPECT_EQ(it.status().message(), second.id.FileName());
  };
  const auto walked = NewLevelRun(level_, {}), sought = NewLevelRun(level_, {}),
             beside = NewLevelRun(level_, {});
  walked->records().SeekToFirst();
  for (int i = 0; i < 3; ++i) walked->records().Next();
  expect_needed(walked->records());
  sought->records().Seek(K("f"));
  expect_needed(sought->records());
  beside->records().Seek(K("i"));
  EXPECT_EQ(Walk(beside->records()), "ijk") << "the walk does not reach the missing file";

  // The walks began without the file's tombstones, so its records must not appear either.
  second.reader.Set(std::move(reader));
  for (MergeRun* run : {walked.get(), sought.get()}) {
    run->records().SeekToFirst();
    expect_needed(run->records());
    run->records().Seek(K("f"));
    expect_needed(run->records());
  }
  beside->records().Seek(K("f"));
  EXPECT_EQ(Walk(beside->records()), "fgijk");
}

TEST(FileRunTest, OfAMissingFileThereIsNone) {
  TreeForTest tree;
  // Without older records a flush drops deletes.
  tree.Put(K("mm1"), "v");
  tree.Put(K("xx"), "v");
  tree.SealAndFlush();
  tree.Put(K("b"), "v");
  tree.DeletePrefix(K("mm"));
  tree.DeleteRange(K("x"), K("y"));
  tree.SealAndFlush();
  const KeyFileEntry& entry = tree.version()->levels[0][0];
  std::shared_ptr<TableReader> reader = entry.file->reader.TakeForTest();
  const Status status = NewFileRun(entry, {}).status();
  EXPECT_TRUE(status.IsNeedsFile());
  EXPECT_EQ(status.message(), entry.file->id.FileName());

  FileList level;
  level.push_back(entry);
  const auto run = NewLevelRun(level, {});
  EXPECT_EQ(run->Covering(K("xx")), nullptr);
  RangeTombstoneSet tombstones;
  run->AddRangeTombstones(&tombstones);
  EXPECT_TRUE(tombstones.empty());
  EXPECT_TRUE(run->HasPrefixDelete(K("mm")).status().IsNeedsFile());

  entry.file->reader.Set(std::move(reader));
  EXPECT_TRUE(NewFileRun(entry, {}).ok());
  EXPECT_NE(run->Covering(K("xx")), nullptr);
  run->AddRangeTombstones(&tombstones);
  EXPECT_FALSE(tombstones.empty());
  EXPECT_TRUE(*run->HasPrefixDelete(K("mm")));
}

TEST_F(LevelRunTest, EmptyLevel) {
  const auto run = NewLevelRun({}, {});
  run->records().SeekToFirst();
  EXPECT_FALSE(run->records().Valid());
  EXPECT_EQ(run->Covering("a"), nullptr);
}

TEST(FileRun, PrefixDeletesWithinBoundsOnly) {
  TreeForTest tree;
  tree.Put(K("zz"), "v");
  tree.SealAndFlush();
  tree.DeletePrefix(K("mm"));
  tree.SealAndFlush();
  KeyFileEntry entry = tree.version()->levels[0][0];
  EXPECT_TRUE(*NewFileRun(entry, {}).value()->HasPrefixDelete(K("mm")));
  EXPECT_FALSE(*NewFileRun(entry, {}).value()->HasPrefixDelete(K("mn")));
  entry.upper = K("m");
  EXPECT_FALSE(*NewFileRun(entry, {}).value()->HasPrefixDelete(K("mm")));
  FileList level;
  level.push_back(tree.version()->levels[0][0]);
  const auto run = NewLevelRun(level, {});
  EXPECT_TRUE(run->has_prefix_deletes());
  EXPECT_TRUE(*run->HasPrefixDelete(K("mm")));
  EXPECT_FALSE(*run->HasPrefixDelete(K("a")));
}

TEST(RangesOverlap, HalfOpen) {
  EXPECT_TRUE(RangesOverlap("a", "c", "b", "d"));
  EXPECT_FALSE(RangesOverlap("a", "b", "b", "d"));
  EXPECT_TRUE(RangesOverlap("a", "", "b", "d"));
  EXPECT_FALSE(RangesOverlap("e", "", "b", "d"));
  EXPECT_TRUE(RangesOverlap("c", "", "b", ""));
}

}  // namespace
}  // namespace lava
