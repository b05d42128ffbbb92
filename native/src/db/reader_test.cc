// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/reader.h"

#include <gtest/gtest.h>

#include "db/jobs_for_test.h"

namespace lava {
namespace {

class ReaderTest : public JobsForTest {};

TEST_F(ReaderTest, LookupsAndScansSeeMemtablesAndFilesOfTheNewestView) {
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t");
  AddFile(table, {"pa", "pb", "pc", "pd"}, "file");
  ASSERT_TRUE(parts->writer.Put(table, {"pb", 0}, "sealed").ok());
  ASSERT_TRUE(parts->writer.Put(table, {"pc", 0}, "sealed").ok());
  uint64_t through = 0;
  ASSERT_TRUE(parts->writer.Seal(FlushCause::kRequested, &through).ok());
  ASSERT_TRUE(parts->writer.Put(table, {"pc", 0}, "active").ok());
  ASSERT_TRUE(parts->writer.Delete(table, {"pd", 0}).ok());
  EXPECT_EQ(parts->Scan(table), "pa=file pb=sealed pc=active ");
  EXPECT_EQ(parts->Get(table, "pa"), "file");
  EXPECT_EQ(parts->Get(table, "pb"), "sealed");
  EXPECT_EQ(parts->Get(table, "pc"), "active");
  EXPECT_EQ(parts->Get(table, "pd"), Status::NotFound().ToString());
  executor_.RunUntilIdle();
  EXPECT_EQ(parts->Scan(table), "pa=file pb=sealed pc=active ");
  EXPECT_EQ(parts->Get(table, "pb"), "sealed");
}

TEST_F(ReaderTest, OfAClosedInstanceNothingIsRead) {
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t");
  AddFile(table, {"pa"}, "file");
  parts->writer.HideView();
  PinnedValue value;
  EXPECT_TRUE(parts->reader.points().Get(table, {"pa", 0}, &value, nullptr, nullptr).IsClosed());
  ScanRequest request;
  request.lower = "p";
  ScanPage page;
  EXPECT_TRUE(parts->reader.scans().Scan(table, request, &page, nullptr).IsClosed());
}

TEST_F(ReaderTest, ReadsHaveTheInstancesBoundForWholeValues) {
  environment_.value_in_memory_bytes_max = 1'000;
  PartsForTest* const parts = Open();
  EXPECT_EQ(parts->reader.context().whole_bytes_max, 1'000u);
  EXPECT_EQ(parts->reader.context().newest_view, parts->tree.newest_view());
  EXPECT_EQ(parts->reader.context().counters, &parts->instance.counters);
}

}  // namespace
}  // namespace lava
