// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// An instance in a real directory, with direct I/O.

#include <gtest/gtest.h>

#include <filesystem>

#include "db_real_test_util.h"

namespace lava {
namespace {

using testing::K;

class DBDirectIo : public testing::RealDBTest,
                   public ::testing::WithParamInterface<std::pair<bool, bool>> {
 protected:
  DBDirectIo() {
    options_.use_direct_reads = GetParam().first;
    options_.use_direct_io_for_flush_and_compaction = GetParam().second;
  }
};

TEST_P(DBDirectIo, WritesCompactsCollectsAndOpensAgain) {
  ASSERT_NO_FATAL_FAILURE(WriteCompactCollectAndOpenAgain());
  // Files written with direct I/O can be read without it.
  const std::vector<TableInfo> tables = db_->ListTables();
  testing::UntilDone([&] { return db_->Close(); });
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
    const std::string extension = entry.path().extension();
    if (extension == ".ksst" || extension == ".vsst") {
      EXPECT_OK(VerifyFile(entry.path(), tables));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, DBDirectIo,
                         ::testing::Values(std::pair{true, true}, std::pair{true, false},
                                           std::pair{false, true}));

// Only the posix file system uses direct I/O; a given file system is used unchanged.
TEST(DBDirectIoOption, DoesNotMatterToAFileSystemThatIsGiven) {
  testing::SimDB db(1);
  db.options().use_direct_reads = true;  // not used, because the file system is given
  ASSERT_OK(db.Open());
  ASSERT_OK(db->Put(db.table("t"), {K(1, "a")}, "b"));
  ASSERT_OK(db.Flush());
  EXPECT_EQ(db->statistics().files_refused_direct, 0u);
  EXPECT_EQ(db.Get(db.table("t"), K(1, "a")), "b");
}

}  // namespace
}  // namespace lava
