#include "policy/write_throttle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <vector>

namespace lava {
namespace {

constexpr uint64_t kKiB = 1 << 10, kMiB = 1 << 20;

ThrottleInput Idle() {
  ThrottleInput input;
  input.active_bytes = 2 * kMiB;
  input.memtable_bytes_max = 16 * kMiB;
  input.write_bytes = 100;
  input.lease_used_bytes = 2 * kMiB;
  input.lease_bytes = 32 * kMiB;
  return input;
}

TEST(WriteThrottle, Table) {
  struct Row {
    const char* name;
    void (*change)(ThrottleInput*);
    StallCondition condition;
  };
  const Row rows[] = {
      {"idle", [](ThrottleInput*) {}, StallCondition::kNone},
      {"one below the stall", [](ThrottleInput* i) { i->l0_depth = 23; }, StallCondition::kNone},
      {"at the stall", [](ThrottleInput* i) { i->l0_depth = 24; },
       StallCondition::kWaitForCompaction},
      {"sealed runs full, but the write fits", [](ThrottleInput* i) { i->sealed_runs = 4; },
       StallCondition::kNone},
      {"memtable full", [](ThrottleInput* i) { i->active_bytes = 16 * kMiB; },
       StallCondition::kSeal},
      {"memtable full, so are sealed runs",
       [](ThrottleInput* i) {
         i->active_bytes = 16 * kMiB;
         i->sealed_runs = 4;
       },
       StallCondition::kWaitForFlush},
      {"a write larger than a memtable goes into an empty one",
       [](ThrottleInput* i) {
         i->active_empty = true;
         i->active_bytes = 0;
         i->write_bytes = 20 * kMiB;
       },
       StallCondition::kNone},
      {"lease full", [](ThrottleInput* i) { i->lease_used_bytes = 32 * kMiB; },
       StallCondition::kSeal},
      {"lease full, nothing of it is here",
       [](ThrottleInput* i) {
         i->active_bytes = 100 * kKiB;
         i->lease_used_bytes = 40 * kMiB;
       },
       StallCondition::kNone},
      {"lease full, one of many instances",
       [](ThrottleInput* i) {
         i->active_bytes = 100 * kKiB;
         i->lease_used_bytes = 33 * kMiB;
         i->lease_members = 200;
       },
       StallCondition::kSeal},
      {"lease full, a flush is on its way: no small file",
       [](ThrottleInput* i) {
         i->sealed_runs = 1;
         i->lease_used_bytes = 32 * kMiB;
       },
       StallCondition::kNone},
      {"lease far over, a flush is on its way",
       [](ThrottleInput* i) {
         i->sealed_runs = 1;
         i->lease_used_bytes = 36 * kMiB;
       },
       StallCondition::kWaitForFlush},
      {"lease far over, nothing to wait for",
       [](ThrottleInput* i) { i->lease_used_bytes = 60 * kMiB; }, StallCondition::kSeal},
  };
  for (const Row& row : rows) {
    ThrottleInput input = Idle();
    row.change(&input);
    EXPECT_EQ(JudgeWrite(input), row.condition) << row.name;
  }
}

TEST(WriteThrottle, WorthSealing) {
  EXPECT_EQ(WorthSealingBytes(64 * kMiB, 128 * kMiB, 1), kMiB);
  EXPECT_EQ(WorthSealingBytes(1 * kMiB, 128 * kMiB, 1), 512 * kKiB) << "half a small memtable";
  EXPECT_EQ(WorthSealingBytes(64 * kMiB, 32 * kMiB, 100), 32 * kMiB / 200);
  EXPECT_EQ(WorthSealingBytes(64 * kMiB, 8 * kMiB, 1000), 64 * kKiB);
  EXPECT_EQ(WorthSealingBytes(64 * kMiB, 8 * kMiB, 0), kMiB);
}

// Instances write in turn, and a flush ends now and then. Checks the bound that the header states.
TEST(WriteThrottle, ManyInstancesStayWithinTheirLease) {
  for (const uint32_t members : {1u, 3u, 10u, 100u, 400u}) {
    struct Instance {
      uint64_t active = 0;
      std::deque<uint64_t> sealed;
    };
    std::vector<Instance> instances(members);
    ThrottleInput input;
    input.lease_bytes = 8 * kMiB;
    input.memtable_bytes_max = 4 * kMiB;
    input.lease_members = members;
    input.write_bytes = 1000;
    const uint64_t worth = WorthSealingBytes(4 * kMiB, 8 * kMiB, members);
    const uint64_t bound = 9 * kMiB + members * (worth + 1000);
    uint64_t most = 0, written = 0;
    for (uint32_t turn = 0; turn < 200'000; ++turn) {
      Instance& self = instances[turn % members];
      input.sealed_runs = static_cast<uint32_t>(self.sealed.size());
      input.active_bytes = self.active;
      input.active_empty = self.active == 0;
      const StallCondition condition = JudgeWrite(input);
      if (condition == StallCondition::kSeal) self.sealed.push_back(std::exchange(self.active, 0));
      if (condition == StallCondition::kNone || condition == StallCondition::kSeal) {
        self.active += 1000;
        input.lease_used_bytes += 1000;
        ++written;
      }
      most = std::max(most, input.lease_used_bytes);
      if (turn % 50 != 0) continue;
      Instance& flushed = instances[turn / 50 % members];
      if (flushed.sealed.empty()) continue;
      input.lease_used_bytes -= flushed.sealed.front();
      flushed.sealed.pop_front();
    }
    EXPECT_LE(most, bound) << members;
    EXPECT_GT(written, 10'000u) << members << ": nobody is held for ever";
  }
}

}  // namespace
}  // namespace lava
