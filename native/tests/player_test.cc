// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/history/player.h"

#include <gtest/gtest.h>

#include "tests/history/model_store.h"

namespace lava::testing {
namespace {

// Gives predefined answers to the first existence queries, and has no data.
class Answers final : public ModelStore {
 public:
  explicit Answers(std::vector<bool> told) : told_(std::move(told)) {}
  Result<bool> Contains(uint32_t, const std::string&, int32_t) override { return Next(); }
  Result<bool> ContainsPrefix(uint32_t, const std::string&, int32_t) override { return Next(); }

 private:
  bool Next() {
    if (asked_ == told_.size()) return false;
    return told_[asked_++];
  }
  const std::vector<bool> told_;
  size_t asked_ = 0;
};

constexpr uint32_t kWithoutTtl = 1, kWithTtl = 5;

std::string Ask(Op op, uint32_t table, std::vector<bool> told) {
  Answers store(std::move(told));
  Player player(&store);
  Operation operation;
  operation.op = op;
  operation.table = table;
  operation.key = "abc";
  operation.slot = -1;
  return player.Apply(operation);
}

// Regression, once in 10,000 histories: a compaction dropped the last expired entry of a prefix
// after ContainsPrefix() had seen it, and before the scan.
TEST(Player, WhatHasExpiredMayGoBetweenTwoReads) {
  for (const Op op : {Op::kContains, Op::kContainsPrefix})
    EXPECT_EQ(Ask(op, kWithTtl, {true, false}), "");
}

TEST(Player, WhatIsGoneStaysAway) {
  for (const Op op : {Op::kContains, Op::kContainsPrefix})
    EXPECT_NE(Ask(op, kWithTtl, {true, true}).find("disagree"), std::string::npos);
}

TEST(Player, WhatCannotExpireDoesNotGo) {
  for (const Op op : {Op::kContains, Op::kContainsPrefix}) {
    EXPECT_NE(Ask(op, kWithoutTtl, {true, false}).find("disagree"), std::string::npos);
    EXPECT_EQ(Ask(op, kWithoutTtl, {false}), "absent");
  }
}

}  // namespace
}  // namespace lava::testing
