// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/search_damage.h"

#include <gtest/gtest.h>

#include "db/jobs_for_test.h"

namespace lava {
namespace {

class SearchDamageTest : public JobsForTest {
 protected:
  DamageSearch Search(const Status& status) {
    return SearchDamage(&parts_->tree, parts_->tables, status);
  }
};

TEST_F(SearchDamageTest, FindsTheFileOfTheVersionThatACorruptionNames) {
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t", {.separation_bytes = 100});
  AddFile(table, {"pa"}, std::string(1'000, 'v'));
  AddFile(table, {"pb"}, "v");
  const KeyFileEntry entry = parts->version()->levels[0][0];
  DamageSearch search = Search(Status::Corruption("/db/" + entry.file->id.FileName() + ": bad"));
  EXPECT_TRUE(search.finished);
  ASSERT_TRUE(search.found.has_value());
  EXPECT_EQ(search.found->id, entry.file->id);
  EXPECT_TRUE(search.found->is_key_file);
  EXPECT_EQ(search.found->tables, std::vector<std::string>{"t"});
  EXPECT_EQ(search.found->lowers, std::vector<std::string>{entry.lower});
  ASSERT_EQ(parts->version()->value_files.size(), 1u);
  const FileId values = parts->version()->value_files.begin()->first;
  search = Search(Status::Corruption(values.ValueFileName()));
  ASSERT_TRUE(search.found.has_value());
  EXPECT_EQ(search.found->id, values);
  EXPECT_FALSE(search.found->is_key_file);
}

TEST_F(SearchDamageTest, OtherFailuresAreOfNoFile) {
  PartsForTest* const parts = Open();
  AddFile(parts->NewTable("t"), {"pa"}, "v");
  const std::string name = parts->version()->levels[0][0].file->id.FileName();
  for (const Status& status :
       {Status::OK(), Status::IOError(name), Status::NoSpace(name),
        Status::Corruption("of no file"), Status::Corruption(FileId{{1, 2}, 3}.FileName())}) {
    const DamageSearch search = Search(status);
    EXPECT_TRUE(search.finished) << status.ToString();
    EXPECT_FALSE(search.found.has_value()) << status.ToString();
  }
}

}  // namespace
}  // namespace lava
