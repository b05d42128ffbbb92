// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/value_decisions.h"

#include <gtest/gtest.h>

namespace lava {
namespace {

class ValueDecisionsTest : public ::testing::Test {
 protected:
  ValueDecisionsTest() {
    input_.inputs.emplace_back().level = 2;
    input_.output_level = 3;
    file_.level = 1;
  }
  void Note(ValueDecisions* decisions, ValueMergeReason reason, uint64_t reached) {
    MergeableFile judged;
    judged.raw_bytes = 900;
    judged.garbage = 300;
    judged.reached = reached;
    decisions->Note(input_, file_, judged, reason);
  }

  Counters counters_;
  CompactionInput input_;
  ValueFileMeta file_;
};

TEST_F(ValueDecisionsTest, CountsMergedBytesByTheReason) {
  ValueDecisions decisions(&counters_, 0);
  Note(&decisions, ValueMergeReason::kDirty, 1);
  Note(&decisions, ValueMergeReason::kOverlapping, 10);
  Note(&decisions, ValueMergeReason::kMovesDown, 100);
  Note(&decisions, ValueMergeReason::kDirty, 1000);
  Note(&decisions, ValueMergeReason::kCollection, 7);
  Note(&decisions, ValueMergeReason::kUnpaid, 7);
  EXPECT_EQ(counters_.merged_for_garbage_bytes, 1001u);
  EXPECT_EQ(counters_.merged_for_order_bytes, 10u);
  EXPECT_EQ(counters_.merged_down_bytes, 100u);
  EXPECT_TRUE(decisions.Take().empty()) << "no texts must be kept when the limit is 0";
}

TEST_F(ValueDecisionsTest, KeepsTheLastOnes) {
  ValueDecisions decisions(&counters_, 2);
  Note(&decisions, ValueMergeReason::kDirty, 11);
  Note(&decisions, ValueMergeReason::kBusy, 22);
  Note(&decisions, ValueMergeReason::kCollection, 33);
  const std::vector<std::string> taken = decisions.Take();
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0], "compaction of L2 to L3, " + file_.id.ValueFileName() +
                          " of L1: of 900 bytes 300 are garbage, 22 are reached: left, another "
                          "job has it");
  EXPECT_NE(taken[1].find("33 are reached: left to a collection"), std::string::npos);
  EXPECT_TRUE(decisions.Take().empty()) << "each decision must be returned only once";
}

}  // namespace
}  // namespace lava
