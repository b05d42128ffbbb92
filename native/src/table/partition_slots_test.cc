#include "table/partition_slots.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "table/format.h"

namespace lava::ksst {
namespace {

std::shared_ptr<CachedPartition> MakePartition() {
  PartitionBuilder builder(10);
  builder.index.Add("key", 50, 37);
  builder.hashes = {PointHash("key"), PointHash("other")};
  std::string raw;
  builder.Finish(&raw);
  std::shared_ptr<CachedPartition> partition;
  EXPECT_EQ(LoadPartition(raw, kFormatVersion, 0, 50, &partition), nullptr);
  return partition;
}

using Answer = PartitionSlots::Answer;

TEST(PartitionSlotsTest, AnswersByTheFilterOfWhatItKeeps) {
  PartitionSlots slots(2);
  std::shared_ptr<const CachedPartition> out;
  EXPECT_EQ(slots.Ask(1, PointHash("key"), PointHash("key"), &out), Answer::kUnknown);
  slots.Prefetch(1, PointHash("key"));
  const auto partition = MakePartition();
  slots.Keep(1, partition);
  slots.Prefetch(1, PointHash("key"));
  EXPECT_EQ(slots.Ask(1, PointHash("key"), PointHash("key"), &out), Answer::kMaybe);
  EXPECT_EQ(out, partition);
  EXPECT_EQ(slots.Get(1), partition);
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

TEST(PartitionSlotsTest, YieldsWhatWasNotAskedSince) {
  PartitionSlots slots(1);
  const auto partition = MakePartition();
  EXPECT_FALSE(partition->Yield()) << "nobody keeps it";
  slots.Keep(0, partition);
  EXPECT_EQ(partition->yieldable(), 1);
  EXPECT_FALSE(partition->Yield()) << "kept just now";
  slots.Get(0);
  EXPECT_FALSE(partition->Yield()) << "asked";
  EXPECT_TRUE(partition->Yield());
  EXPECT_EQ(partition->yieldable(), 0);
  EXPECT_EQ(partition.use_count(), 1);
  EXPECT_EQ(slots.Get(0), nullptr);
  EXPECT_FALSE(partition->Yield());
}

TEST(PartitionSlotsTest, LetsGoAtTheEnd) {
  const auto partition = MakePartition();
  {
    PartitionSlots slots(1);
    slots.Keep(0, partition);
    slots.Keep(0, MakePartition());  // the first one stays
    EXPECT_EQ(slots.Get(0), partition);
  }
  EXPECT_EQ(partition.use_count(), 1);
  EXPECT_FALSE(partition->Yield());
}

TEST(PartitionSlotsTest, ManyThreadsAskKeepAndYield) {
  PartitionSlots slots(1);
  const auto partition = MakePartition();
  std::atomic<uint64_t> kept{0}, wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        std::shared_ptr<const CachedPartition> out;
        const Answer answer = slots.Ask(0, PointHash("key"), PointHash("key"), &out);
        if (answer == Answer::kUnknown) slots.Keep(0, partition);
        if (answer == Answer::kMaybe) {
          ++kept;
          wrong += out != partition;
        }
        if (i % 8 == 0) partition->Yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(kept, 0u);
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace lava::ksst
