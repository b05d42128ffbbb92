#include "memory/memory_counter.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace lava {
namespace {

TEST(MemoryCounterTest, ChargesAllAncestors) {
  MemoryCounter process;
  MemoryCounter instance(&process);
  MemoryCounter memtable(&instance);
  MemoryCounter cache(&instance);
  memtable.Charge(100);
  cache.Charge(20);
  EXPECT_EQ(memtable.used(), 100u);
  EXPECT_EQ(cache.used(), 20u);
  EXPECT_EQ(instance.used(), 120u);
  EXPECT_EQ(process.used(), 120u);
  memtable.Release(100);
  instance.Charge(1);
  EXPECT_EQ(memtable.used(), 0u);
  EXPECT_EQ(instance.used(), 21u);
  EXPECT_EQ(process.used(), 21u);
}

TEST(MemoryCounterTest, TellsOfChargesBelowWhenTheyAreCounted) {
  struct Observer final : ChargeObserver {
    void Charged() override { seen.push_back(counter->used()); }
    const MemoryCounter* counter = nullptr;
    std::vector<uint64_t> seen;
  } observer;
  MemoryCounter process(nullptr, &observer);
  observer.counter = &process;
  MemoryCounter instance(&process);
  instance.Charge(5);
  process.Charge(2);
  instance.Release(5);
  EXPECT_EQ(observer.seen, (std::vector<uint64_t>{5, 7}));
}

TEST(MemoryCounterTest, LosesNothingUnderThreads) {
  MemoryCounter process;
  constexpr uint64_t kRounds = 10'000;
  std::vector<std::thread> threads;
  for (uint64_t t = 1; t <= 4; ++t) {
    threads.emplace_back([&process, t] {
      MemoryCounter child(&process);
      for (uint64_t i = 0; i < kRounds; ++i) {
        child.Charge(t + 1);
        child.Release(1);
      }
      child.Release(child.used() - t);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(process.used(), 1u + 2 + 3 + 4);
}

}  // namespace
}  // namespace lava
