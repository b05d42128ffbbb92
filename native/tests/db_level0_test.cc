// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db_test_util.h"

// Combining files of L0 into one within L0, while it waits above a large L1 (DiffKV 3.4).
namespace lava::testing {
namespace {

class Level0Test : public ::testing::Test {
 protected:
  Level0Test() {
    db_.options().l0_compaction_trigger = 4;
    db_.options().l0_stall_trigger = 100;
    db_.options().compression = Compression::kNone;
    EXPECT_OK(db_.Open());
    t_ = db_.table("t");
    for (int i = 0; i < 500; ++i) Put("below" + std::to_string(i));
    EXPECT_OK(db_.CompactAll());
    EXPECT_EQ(db_->statistics().files_at_level[0], 0u);
  }
  void Put(const std::string& key) { EXPECT_OK(db_->Put(t_, {K(1, key)}, std::string(1000, 'v'))); }
  void Flush() {
    EXPECT_OK(db_.Flush());
    db_.executor().RunUntilIdle();
  }
  uint64_t FilesOfL0() { return db_->statistics().files_at_level[0]; }

  SimDB db_{31};
  Table* t_ = nullptr;
};

TEST_F(Level0Test, DeletionsStayAsLongAsOlderFilesOfL0HaveWhatTheyDelete) {
  Put("deleted");
  for (int i = 0; i < 8; ++i) Put("old" + std::to_string(i));
  Flush();
  ASSERT_EQ(FilesOfL0(), 1u);
  for (int i = 0; i < 4; ++i) {
    Put("small" + std::to_string(i));
    if (i == 1) ASSERT_OK(db_->Delete(t_, {K(1, "deleted")}));
    if (i == 2) ASSERT_OK(db_->Delete(t_, {K(1, "below7")}));
    EXPECT_EQ(FilesOfL0(), 1u + static_cast<uint64_t>(i));
    Flush();
  }
  EXPECT_EQ(FilesOfL0(), 2u) << "the small files must become one file";
  for (const bool reopened : {false, true}) {
    if (reopened) {
      db_.CloseDB();
      ASSERT_OK(db_.Open());
      t_ = db_.table("t");
    }
    EXPECT_EQ(FilesOfL0(), 2u);
    EXPECT_EQ(db_.Get(t_, K(1, "deleted")), "NotFound");
    EXPECT_EQ(db_.Get(t_, K(1, "below7")), "NotFound");
    EXPECT_EQ(db_.Get(t_, K(1, "old3")), std::string(1000, 'v'));
    EXPECT_EQ(db_.Get(t_, K(1, "small3")), std::string(1000, 'v'));
    std::vector<Model::Entry> entries;
    ASSERT_OK(db_.ScanAll(t_, {}, &entries));
    EXPECT_EQ(entries.size(), size_t{499 + 8 + 4});
  }
  ASSERT_OK(db_.CompactAll());
  std::vector<Model::Entry> entries;
  ASSERT_OK(db_.ScanAll(t_, {}, &entries));
  EXPECT_EQ(entries.size(), size_t{499 + 8 + 4});
}

// Each byte is written once each time that L0 grows by a factor of four.
TEST_F(Level0Test, AnOverwrittenKeyHasItsNewestValueWhicheverFilesWereCombined) {
  for (int i = 0; i < 30; ++i) {
    Put("key" + std::to_string(i));
    ASSERT_OK(db_->Put(t_, {K(1, "overwritten")}, std::to_string(i)));
    Flush();
    EXPECT_EQ(db_.Get(t_, K(1, "overwritten")), std::to_string(i));
    EXPECT_LE(FilesOfL0(), 7u);
  }
  const DBStatistics s = db_->statistics();
  EXPECT_GT(s.files_at_level[0], 0u)
      << "L0 must wait, because L1 has more than ten times as many bytes";
  EXPECT_LT(s.compaction_bytes_written, 500'000u + 3 * 40'000u) << "L1 must not be written again";
}

}  // namespace
}  // namespace lava::testing
