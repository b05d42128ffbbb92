// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/memory_budget.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace lava {
namespace {

constexpr MemoryPurpose kMemtables = MemoryPurpose::kMemtables, kScans = MemoryPurpose::kScans;

TEST(MemoryBudget, ChargesEveryLevelByPurpose) {
  MemoryBudget process, slot(&process), instance(&slot), other(&slot);
  instance.counter(kMemtables)->Charge(100);
  instance.counter(kScans)->Charge(20);
  other.counter(kScans)->Charge(3);
  EXPECT_EQ(instance.total().used(), 120u);
  EXPECT_EQ(other.total().used(), 3u);
  for (const MemoryBudget* level : {&slot, &process}) {
    EXPECT_EQ(level->counter(kMemtables).used(), 100u);
    EXPECT_EQ(level->counter(kScans).used(), 23u);
    EXPECT_EQ(level->total().used(), 123u);
  }
  instance.counter(kMemtables)->Release(100);
  slot.counter(kMemtables)->Charge(1);
  EXPECT_EQ(instance.counter(kMemtables)->used(), 0u);
  EXPECT_EQ(process.counter(kMemtables)->used(), 1u);
  EXPECT_EQ(process.total().used(), 24u);
}

TEST(MemoryBudget, ARefusedChargeCountsNowhere) {
  MemoryBudget process, slot(&process), instance(&slot);
  process.SetLimit(100);
  slot.SetLimit(60);
  MemoryCounter* scans = instance.counter(kScans);
  EXPECT_TRUE(scans->TryCharge(60));
  EXPECT_FALSE(scans->TryCharge(1)) << "the limit of the slot is reached";
  EXPECT_TRUE(process.counter(kScans)->TryCharge(30));
  scans->Release(20);
  EXPECT_FALSE(scans->TryCharge(31))
      << "the limit of the process is reached, although the slot is below its own";
  EXPECT_EQ(instance.total().used(), 40u);
  EXPECT_EQ(slot.total().used(), 40u);
  EXPECT_EQ(process.total().used(), 70u);
  EXPECT_EQ(slot.refusals() + process.refusals(), 2u);
  EXPECT_TRUE(scans->TryCharge(20));
  // Charge() passes the limit, and TryCharge() fails until those bytes are released.
  scans->Charge(1000);
  EXPECT_FALSE(scans->TryCharge(1));
  scans->Release(1000);
  EXPECT_FALSE(scans->TryCharge(UINT64_MAX)) << "the sum must not wrap around";
}

TEST(MemoryBudget, ALimitMayBeLoweredBelowWhatIsUsed) {
  MemoryBudget process;
  EXPECT_TRUE(process.counter(kScans)->TryCharge(50));
  process.SetLimit(10);
  EXPECT_FALSE(process.counter(kScans)->TryCharge(1));
  process.counter(kScans)->Release(45);
  EXPECT_TRUE(process.counter(kScans)->TryCharge(5));
}

struct Observer final : ChargeObserver {
  void Charged() override {
    seen.push_back(budget->total().used());
    charged.push_back(budget->charged());
  }
  bool Allows(uint64_t bytes) override { return bytes != 13; }
  const MemoryBudget* budget = nullptr;
  std::vector<uint64_t> seen, charged;
};

TEST(MemoryBudget, TellsOfChargesBelowBeforeTheirMemoryIsThere) {
  Observer observer;
  MemoryBudget process(nullptr, &observer);
  observer.budget = &process;
  MemoryBudget instance(&process);
  instance.counter(kScans)->Charge(5);
  EXPECT_TRUE(process.counter(kMemtables)->TryCharge(2));
  instance.counter(kScans)->Release(5);
  EXPECT_EQ(observer.seen, (std::vector<uint64_t>{5, 7}));
  EXPECT_EQ(observer.charged, (std::vector<uint64_t>{0, 5}))
      << "the observer must be called before the charge counts, so that it can free memory first";
  EXPECT_EQ(process.charged(), 2u);
}

TEST(MemoryBudget, AnObserverRefusesAsALimitDoes) {
  Observer observer;
  MemoryBudget process(nullptr, &observer);
  observer.budget = &process;
  MemoryBudget instance(&process);
  EXPECT_FALSE(instance.counter(kScans)->TryCharge(13));
  EXPECT_EQ(instance.total().used(), 0u);
  EXPECT_EQ(process.refusals(), 1u);
  EXPECT_TRUE(observer.seen.empty());
  instance.counter(kScans)->Charge(13);  // Charge() does not ask Allows()
  EXPECT_EQ(process.total().used(), 13u);
}

TEST(MemoryBudget, NeverPassesItsLimitUnderThreads) {
  MemoryBudget process;
  constexpr uint64_t kLimit = 1000;
  process.SetLimit(kLimit);
  std::atomic<uint64_t> passed{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 1; t <= 4; ++t) {
    threads.emplace_back([&, t] {
      MemoryBudget child(&process);
      MemoryCounter* counter = child.counter(kScans);
      for (int i = 0; i < 10'000; ++i) {
        const uint64_t bytes = 100 * t;
        if (!counter->TryCharge(bytes)) continue;
        if (process.total().used() > kLimit) ++passed;
        counter->Release(bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(passed.load(), 0u);
  EXPECT_EQ(process.total().used(), 0u);
}

TEST(MemoryBudget, ACounterByItselfOnlyCounts) {
  MemoryCounter counter;
  counter.Charge(5);
  EXPECT_TRUE(counter.TryCharge(UINT64_MAX - 5));
  counter.Release(UINT64_MAX - 5);
  EXPECT_EQ(counter.used(), 5u);
}

TEST(MemoryBudget, AScopedChargeGoesWithItsScope) {
  MemoryBudget process;
  process.SetLimit(10);
  {
    const ScopedCharge held(process.counter(kScans), 8);
    ScopedCharge refused, granted;
    EXPECT_FALSE(refused.Try(process.counter(kScans), 3));
    EXPECT_TRUE(granted.Try(process.counter(kScans), 2));
    EXPECT_EQ(process.total().used(), 10u);
  }
  EXPECT_EQ(process.total().used(), 0u);
}

TEST(MemoryBudget, EveryPurposeHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (uint32_t i = 0; i < kMemoryPurposes; ++i)
    names.insert(NameOf(static_cast<MemoryPurpose>(i)));
  EXPECT_EQ(names.size(), kMemoryPurposes);
  EXPECT_FALSE(names.contains(""));
}

}  // namespace
}  // namespace lava
