// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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
      {"one run below the stall", [](ThrottleInput* i) { i->l0_depth = 23; },
       StallCondition::kNone},
      {"as many runs as at the stall", [](ThrottleInput* i) { i->l0_depth = 24; },
       StallCondition::kWaitForCompaction},
      {"the sealed runs are full, but the write fits into the memtable",
       [](ThrottleInput* i) { i->sealed_runs = 4; }, StallCondition::kNone},
      {"the memtable is full", [](ThrottleInput* i) { i->active_bytes = 16 * kMiB; },
       StallCondition::kSeal},
      {"the memtable is full, and so are the sealed runs",
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
      {"the lease is full", [](ThrottleInput* i) { i->lease_used_bytes = 32 * kMiB; },
       StallCondition::kSeal},
      {"the lease is full, but this instance uses little of it",
       [](ThrottleInput* i) {
         i->active_bytes = 100 * kKiB;
         i->lease_used_bytes = 40 * kMiB;
       },
       StallCondition::kNone},
      {"the lease is full, and is shared by many instances",
       [](ThrottleInput* i) {
         i->active_bytes = 100 * kKiB;
         i->lease_used_bytes = 33 * kMiB;
         i->lease_members = 200;
       },
       StallCondition::kSeal},
      {"the lease is full and a flush runs: no small memtable is sealed",
       [](ThrottleInput* i) {
         i->sealed_runs = 1;
         i->lease_used_bytes = 32 * kMiB;
       },
       StallCondition::kNone},
      {"the lease is far exceeded, and a flush runs",
       [](ThrottleInput* i) {
         i->sealed_runs = 1;
         i->lease_used_bytes = 36 * kMiB;
       },
       StallCondition::kWaitForFlush},
      {"the lease is far exceeded, and no flush runs",
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
  EXPECT_EQ(WorthSealingBytes(1 * kMiB, 128 * kMiB, 1), 512 * kKiB)
      << "a small memtable must be sealed from half of its size on";
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
    EXPECT_GT(written, 10'000u) << members << ": no write may wait for ever";
  }
}

}  // namespace
}  // namespace lava
