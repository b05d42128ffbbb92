// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/fair_queue.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <sstream>
#include <string>
#include <vector>

namespace lava {
namespace {

// Plays a script of lines; the expected result of a line follows "->":
//   new <client>                   push <client> <level> <job>...       drop <client> -> <job>...
//   move <client> <from> <to>      run [<level>...] -> <job>|-       cost <job> <cost>
// A job runs until a "cost" line ends it.
class Script {
 public:
  void Play(const std::string& script) {
    std::istringstream lines(script);
    for (std::string line; std::getline(lines, line);) {
      if (line.find_first_not_of(' ') == std::string::npos) continue;
      const size_t arrow = line.find(" -> ");
      std::istringstream words(line.substr(0, arrow));
      std::string result;
      Do(&words, &result);
      EXPECT_EQ(result, arrow == std::string::npos ? "" : line.substr(arrow + 4)) << line;
    }
  }

 private:
  void Do(std::istringstream* words, std::string* result) {
    std::string verb, name;
    *words >> verb;
    if (verb == "run") {
      FairQueue::Levels of = 0;
      for (uint32_t level; *words >> level;) of |= FairQueue::Bit(level);
      const auto pick = queue_.Pop(of != 0 ? of : queue_.levels_with_jobs());
      *result = pick ? jobs_[pick->ticket] : "-";
      if (pick) running_[*result] = *pick;
      return;
    }
    *words >> name;
    if (verb == "new") clients_[name] = queue_.AddClient();
    if (verb == "push") {
      uint32_t level;
      *words >> level;
      for (std::string job; *words >> job;) {
        jobs_.push_back(job);
        queue_.Push(clients_.at(name), level, jobs_.size() - 1);
      }
    }
    if (verb == "move") {
      uint32_t from, to;
      *words >> from >> to;
      queue_.Move(clients_.at(name), from, to);
    }
    if (verb == "cost") {
      uint64_t cost;
      *words >> cost;
      queue_.Settle(running_.at(name), cost);
    }
    if (verb == "drop") {
      for (const FairQueue::Ticket ticket : queue_.RemoveClient(clients_.at(name)))
        *result += (result->empty() ? "" : " ") + jobs_[ticket];
    }
  }

  FairQueue queue_{3};
  std::map<std::string, FairQueue::Client> clients_;
  std::vector<std::string> jobs_;
  std::map<std::string, FairQueue::Pick> running_;
};

TEST(FairQueue, LevelsAreStrictAndAClientsJobsKeepTheirOrder) {
  Script().Play(R"(
    new a
    push a 2 late last
    push a 0 1 2 3
    push a 1 middle
    run -> 1
    run -> 2
    run 0 1 -> 3
    run 0 -> -
    run 0 2 -> late
    run -> middle
    run -> last
    run -> -
  )");
}

TEST(FairQueue, ClientsTakeTurns) {
  Script().Play(R"(
    new a
    new b
    new c
    push a 0 a1 a2 a3
    push b 0 b1 b2
    push c 0 c1
    run -> a1
    run -> b1
    run -> c1
    run -> a2
    run -> b2
    run -> a3
  )");
}

TEST(FairQueue, WhoWasServedLeastGoesFirst) {
  Script().Play(R"(
    new a
    new b
    push a 0 a1 a2 a3
    push b 0 b1 b2 b3 b4 b5
    run -> a1
    cost a1 4000
    run -> b1
    cost b1 1000
    run -> b2
    cost b2 1000
    run -> b3
    cost b3 1000
    run -> b4
    cost b4 1500
    run -> a2
    cost a2 100
    run -> a3
    cost a3 500
    run -> b5
  )");
}

TEST(FairQueue, AJobThatRunsCountsAsMuchAsItsClientsLastOne) {
  Script().Play(R"(
    new a
    new b
    push a 0 a1 a2 a3
    push b 0 b1 b2 b3
    run -> a1
    cost a1 1000
    run -> b1
    cost b1 400
    run -> b2
    run -> b3
    run -> a2
    run -> a3
  )");
}

TEST(FairQueue, IdleTimeGivesNoCredit) {
  Script().Play(R"(
    new a
    new idle
    push idle 0 i1
    run -> i1
    cost i1 100
    push a 0 a1 a2 a3 a4 a5
    run -> a1
    cost a1 9000
    run -> a2
    cost a2 9000
    push idle 0 i2 i3 i4 i5
    run -> i2
    cost i2 5000
    run -> i3
    cost i3 5000
    run -> a3
    cost a3 9000
    run -> i4
  )");
}

TEST(FairQueue, ANewcomerStartsWhereTheOthersAre) {
  Script().Play(R"(
    new a
    push a 0 a1 a2 a3 a4
    run -> a1
    cost a1 9000
    run -> a2
    cost a2 9000
    new b
    push b 0 b1 b2 b3
    run -> b1
    cost b1 10000
    run -> a3
    cost a3 9000
    run -> b2
  )");
}

TEST(FairQueue, LevelsKeepAccountsOfTheirOwn) {
  Script().Play(R"(
    new a
    new b
    push a 2 collection
    run -> collection
    cost collection 1000000
    push a 0 a1
    push b 0 b1
    run -> a1
    run -> b1
  )");
}

TEST(FairQueue, WhatIsMovedGoesBehindWhatIsThere) {
  Script().Play(R"(
    new a
    new b
    push b 1 b1
    push a 1 a1 a2
    push a 0 a0
    move b 2 0
    move a 1 0
    run -> a0
    run -> a1
    run 1 -> b1
    run -> a2
    move a 0 1
    run -> -
  )");
}

TEST(FairQueue, ADroppedClientsJobsGoWithIt) {
  Script().Play(R"(
    new a
    new b
    push a 0 a1 a2
    push a 1 a3
    push b 0 b1
    run -> a1
    drop a -> a2 a3
    cost a1 1000
    run -> b1
    run -> -
    new c
    push c 0 c1
    run -> c1
  )");
}

// Simulates threads: time advances from the end of one job to the end of the next.
class Simulation {
 public:
  using Pick = FairQueue::Pick;
  using Cost = std::function<uint64_t(const Pick&)>;
  // Called when a job begins; may push more jobs.
  using Began = std::function<void(const Pick&, uint64_t now)>;

  Simulation(uint32_t threads, FairQueue* queue) : queue_(*queue), idle_(threads) {}

  void Run(const Cost& cost, const Began& began) {
    do {
      for (std::optional<Pick> pick; idle_ > 0 && (pick = queue_.Pop(~FairQueue::Levels{0}));) {
        --idle_;
        ends_.push({now_ + cost(*pick), now_, *pick});
        began(*pick, now_);
      }
      if (ends_.empty()) return;
      const End end = ends_.top();
      ends_.pop();
      now_ = end.at;
      queue_.Settle(end.pick, end.at - end.began);
      ++idle_;
    } while (true);
  }

 private:
  struct End {
    uint64_t at, began;
    Pick pick;
    bool operator<(const End& other) const { return at > other.at; }
  };
  FairQueue& queue_;
  uint32_t idle_;
  uint64_t now_ = 0;
  std::priority_queue<End> ends_;
};

// Models a checkpoint of 100 instances: all flush and compact at the same moment.
TEST(FairQueue, JobsOfManyClientsAtOnceAreServedByTheirShare) {
  constexpr uint64_t kClients = 100, kThreads = 2, kFlushUs = 20'000, kCompactionUs = 300'000;
  FairQueue queue(3);
  std::vector<FairQueue::Client> clients;
  for (uint64_t c = 0; c < kClients; ++c) clients.push_back(queue.AddClient());
  for (const FairQueue::Client client : clients) {
    for (FairQueue::Ticket job = 0; job < 3; ++job) queue.Push(client, 1, job);
    queue.Push(client, 2, 3);
  }
  std::map<FairQueue::Client, uint64_t> flushes;
  uint64_t last_flush_us = 0, last_compaction_us = 0;
  Simulation(kThreads, &queue)
      .Run([](const auto& pick) { return pick.level == 1 ? kFlushUs : kCompactionUs; },
           [&](const auto& pick, uint64_t now) {
             (pick.level == 1 ? last_flush_us : last_compaction_us) = now;
             if (pick.level == 2) return;
             const uint64_t n = flushes[pick.client]++;
             EXPECT_EQ(pick.ticket, n) << "the jobs of a client must keep their order";
             // No client's n-th flush begins before all others have had n - 1.
             EXPECT_LE(now, (n + 1) * kClients * kFlushUs / kThreads);
             EXPECT_GE(now, n * kClients * kFlushUs / kThreads);
           });
  const uint64_t flushed_us = 3 * kClients * kFlushUs / kThreads;
  EXPECT_LT(last_flush_us, flushed_us);
  EXPECT_LT(last_compaction_us, flushed_us + kClients * kCompactionUs / kThreads);
}

// However many jobs one client queues, another client's first job waits only for jobs that already
// run.
TEST(FairQueue, OneThatSubmitsMuchDelaysAnotherByWhatRunsAlready) {
  static constexpr uint64_t kThreads = 3, kJobUs = 100'000;
  FairQueue queue(3);
  const FairQueue::Client busy = queue.AddClient();
  for (FairQueue::Ticket job = 0; job < 1000; ++job) queue.Push(busy, 2, job);
  std::map<FairQueue::Client, uint64_t> came_us, waited_us;
  uint64_t began = 0;
  Simulation(kThreads, &queue)
      .Run([](const auto&) { return kJobUs; },
           [&](const auto& pick, uint64_t now) {
             if (pick.client != busy) {
               waited_us[pick.client] = now - came_us[pick.client];
               return;
             }
             if (++began % 100 > 0) return;
             const FairQueue::Client other = queue.AddClient();
             came_us[other] = now;
             queue.Push(other, 2, 0);
           });
  EXPECT_EQ(waited_us.size(), 10u);
  for (const auto& [client, waited] : waited_us) EXPECT_LE(waited, kJobUs);
}

// Clients with jobs of different sizes get equal time, not equal numbers of jobs.
TEST(FairQueue, SharesAreEqualWhateverJobsCost) {
  constexpr uint64_t kUs[] = {1'000, 10'000, 70'000};
  FairQueue queue(3);
  std::map<FairQueue::Client, uint64_t> served_us;
  for (int c = 0; c < 3; ++c) {
    const FairQueue::Client client = queue.AddClient();
    served_us[client] = 0;
    for (FairQueue::Ticket job = 0; job < 10'000; ++job) queue.Push(client, 2, job);
  }
  const auto cost = [&](const FairQueue::Pick& pick) { return kUs[pick.client - 1]; };
  bool all = true;
  Simulation(2, &queue).Run(cost, [&](const auto& pick, uint64_t) {
    served_us[pick.client] += cost(pick);
    all = all && pick.ticket < 9'999;
    if (!all) return;
    for (const auto& [client, us] : served_us) {
      // Difference: two concurrent jobs, and one that began at the expected cost.
      EXPECT_LE(us, served_us[1] + 3 * kUs[2]);
      EXPECT_LE(served_us[1], us + 3 * kUs[2]);
    }
  });
}

}  // namespace
}  // namespace lava
