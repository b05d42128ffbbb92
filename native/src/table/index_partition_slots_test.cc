// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/index_partition_slots.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "table/format.h"

namespace lava::ksst {
namespace {

std::shared_ptr<CachedIndexPartition> MakeIndexPartition() {
  IndexPartitionBuilder builder(10);
  builder.index.Add("key", 50, 37);
  builder.hashes = {PointHash("key"), PointHash("other")};
  std::string raw;
  builder.Finish(&raw);
  std::shared_ptr<CachedIndexPartition> index_partition;
  EXPECT_EQ(LoadIndexPartition(raw, kFormatVersion, 0, 50, &index_partition), nullptr);
  return index_partition;
}

using Answer = IndexPartitionSlots::Answer;

TEST(IndexPartitionSlotsTest, AnswersByTheFilterOfWhatItKeeps) {
  IndexPartitionSlots slots(2);
  std::shared_ptr<const CachedIndexPartition> out;
  EXPECT_EQ(slots.Ask(1, PointHash("key"), PointHash("key"), &out), Answer::kUnknown);
  slots.Prefetch(1, PointHash("key"));
  const auto index_partition = MakeIndexPartition();
  slots.Keep(1, index_partition);
  slots.Prefetch(1, PointHash("key"));
  EXPECT_EQ(slots.Ask(1, PointHash("key"), PointHash("key"), &out), Answer::kMaybe);
  EXPECT_EQ(out, index_partition);
  EXPECT_EQ(slots.Get(1), index_partition);
  EXPECT_EQ(slots.Get(0), nullptr);
  EXPECT_EQ(slots.Ask(0, PointHash("key"), PointHash("key"), &out), Answer::kUnknown);
  int denied = 0;
  for (uint64_t n = 0; n < 1000; ++n) {
    const uint64_t absent = PointHash(std::to_string(n));
    out.reset();
    if (slots.Ask(1, absent, absent, &out) == Answer::kNo) {
      ++denied;
      EXPECT_EQ(out, nullptr);
    }
    const Answer either = slots.Ask(1, absent, PointHash("other"), &out);
    EXPECT_TRUE(either == Answer::kMaybeOther || either == Answer::kMaybe);
    EXPECT_EQ(slots.Ask(1, PointHash("key"), absent, &out), Answer::kMaybe);
  }
  EXPECT_GT(denied, 900);
}

TEST(IndexPartitionSlotsTest, YieldsWhatWasNotAskedSince) {
  IndexPartitionSlots slots(1);
  const auto index_partition = MakeIndexPartition();
  EXPECT_FALSE(index_partition->Yield()) << "no slot keeps the index partition";
  slots.Keep(0, index_partition);
  EXPECT_EQ(index_partition->yieldable(), 1);
  EXPECT_FALSE(index_partition->Yield()) << "the index partition was kept just now";
  slots.Get(0);
  EXPECT_FALSE(index_partition->Yield()) << "the index partition was used since";
  EXPECT_TRUE(index_partition->Yield());
  EXPECT_EQ(index_partition->yieldable(), 0);
  EXPECT_EQ(index_partition.use_count(), 1);
  EXPECT_EQ(slots.Get(0), nullptr);
  EXPECT_FALSE(index_partition->Yield());
}

TEST(IndexPartitionSlotsTest, LetsGoAtTheEnd) {
  const auto index_partition = MakeIndexPartition();
  {
    IndexPartitionSlots slots(1);
    slots.Keep(0, index_partition);
    slots.Keep(0, MakeIndexPartition());  // the first one stays
    EXPECT_EQ(slots.Get(0), index_partition);
  }
  EXPECT_EQ(index_partition.use_count(), 1);
  EXPECT_FALSE(index_partition->Yield());
}

TEST(IndexPartitionSlotsTest, ManyThreadsAskKeepAndYield) {
  IndexPartitionSlots slots(1);
  const auto index_partition = MakeIndexPartition();
  std::atomic<uint64_t> kept{0}, wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        std::shared_ptr<const CachedIndexPartition> out;
        const Answer answer = slots.Ask(0, PointHash("key"), PointHash("key"), &out);
        if (answer == Answer::kUnknown) slots.Keep(0, index_partition);
        if (answer == Answer::kMaybe) {
          ++kept;
          wrong += out != index_partition;
        }
        if (i % 8 == 0) index_partition->Yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(kept, 0u);
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace lava::ksst
