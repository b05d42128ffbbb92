// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "host/scheduler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "testing/passes.h"

namespace lava {
namespace {

using os::Priority;
using testing::Passes;

// A clock for tests. Threads use as much CPU time as they say. Time passes while they wait, or when
// the test says so.
class TestTime final : public SchedulerTime {
 public:
  explicit TestTime(bool passes) : passes_(passes) {}
  uint64_t NowMicros() override { return now_us_; }
  uint64_t ThreadCpuMicros() override { return used_us_; }
  void Wait(CondVar* changed, Mutex* mutex, uint64_t us_max) override LAVA_REQUIRES(mutex) {
    ++waits_;
    if (passes_) {
      now_us_ += us_max;
      MutexUnlock unlock(mutex);
      std::this_thread::yield();
    } else {
      changed->WaitFor(mutex, std::chrono::milliseconds(1));
    }
  }
  void Work(uint64_t us) { used_us_ += us; }  // of the calling thread
  void Advance(uint64_t us) { now_us_ += us; }
  /// Returns once a thread has begun to wait after this call.
  void AwaitWait() {
    for (const uint64_t seen = waits_; waits_ == seen;) std::this_thread::yield();
  }

 private:
  const bool passes_;
  std::atomic<uint64_t> now_us_{1'000'000}, waits_{0};
  static inline thread_local uint64_t used_us_ = 0;
};

// Holds a thread of a scheduler by a job of a separate client, until Go().
class Held {
 public:
  explicit Held(Scheduler* scheduler) : client_(scheduler->NewClient()) {
    client_->Submit(Priority::kFlush, [this] {
      inside_.Pass();
      go_.WaitFor(1);
      left_.Pass();
    });
    inside_.WaitFor(1);
  }
  ~Held() {
    Go();
    left_.WaitFor(1);
  }
  void Go() { go_.Pass(); }

 private:
  Passes inside_, go_, left_;
  std::unique_ptr<os::Executor> client_;
};

// Returns when the scheduler's only thread has finished with all former jobs.
void AwaitThread(Scheduler* scheduler) { Held next(scheduler); }

TEST(Scheduler, WhatSomebodyWaitsForGoesFirstThenByPriority) {
  std::string order;
  Passes done;
  Scheduler scheduler(1);
  auto client = scheduler.NewClient();
  auto other = scheduler.NewClient();
  const auto submit = [&](os::Executor* to, Priority priority, char name) {
    to->Submit(priority, [&, name] {
      order.push_back(name);  // one thread
      done.Pass();
    });
  };
  Held held(&scheduler);
  submit(client.get(), Priority::kCollection, 'g');
  submit(client.get(), Priority::kCompaction, 'c');
  submit(client.get(), Priority::kL0Compaction, 'l');
  submit(client.get(), Priority::kFlush, 'f');
  submit(other.get(), Priority::kFlush, 'F');
  submit(other.get(), Priority::kCollection, 'G');
  EXPECT_EQ(scheduler.queued().others, (std::array<uint64_t, 4>{2, 1, 1, 2}));
  client->MakeUrgent(Priority::kCollection);
  EXPECT_EQ(scheduler.queued().urgent, 1u);
  EXPECT_EQ(scheduler.queued().others, (std::array<uint64_t, 4>{2, 1, 1, 1}));
  held.Go();
  done.WaitFor(6);
  EXPECT_EQ(order, "gfFlcG");
}

TEST(Scheduler, ClientsAreServedInTurn) {
  TestTime time(false);
  std::string order;
  Passes done;
  Scheduler scheduler(1, {.time = &time});
  std::vector<std::unique_ptr<os::Executor>> clients;
  Held held(&scheduler);
  for (int c = 0; c < 3; ++c) {
    clients.push_back(scheduler.NewClient());
    for (int i = 0; i < 2; ++i) {
      clients.back()->Submit(Priority::kCompaction, [&, c] {
        order.push_back(static_cast<char>('a' + c));
        time.Work(c == 0 ? 10'000 : 1'000);
        done.Pass();
      });
    }
  }
  held.Go();
  done.WaitFor(6);
  EXPECT_EQ(order, "abcbca") << "client a must wait longer, because its first job used much time";
  AwaitThread(&scheduler);
  EXPECT_EQ(scheduler.totals().cpu_us, 24'000u);
}

TEST(Scheduler, ADroppedClientsJobsNeverRun) {
  auto owned = std::make_shared<int>(1);
  std::atomic<int> ran{0};
  Passes inside, go, done;
  Scheduler scheduler(1);
  auto client = scheduler.NewClient();
  auto other = scheduler.NewClient();
  client->Submit(Priority::kFlush, [&] {
    inside.Pass();
    go.WaitFor(1);
    ++ran;
  });
  inside.WaitFor(1);
  for (int i = 0; i < 5; ++i) client->Submit(Priority::kCollection, [&, owned] { ++ran; });
  client->MakeUrgent(Priority::kCollection);
  client->Submit(Priority::kCompaction, [&, owned] { ++ran; });
  EXPECT_EQ(owned.use_count(), 7);
  client.reset();  // while one of its jobs runs
  EXPECT_EQ(owned.use_count(), 1);
  EXPECT_EQ(scheduler.queued().urgent, 0u);
  other->Submit(Priority::kCollection, [&] { done.Pass(); });
  go.Pass();
  done.WaitFor(1);
  EXPECT_EQ(ran, 1);
}

TEST(Scheduler, AJobWithoutAThreadGetsOneLater) {
  std::atomic<bool> refuse{true};
  Passes done;
  Scheduler scheduler(2, {.start = [&](std::function<void()> body) {
                        if (refuse) throw std::system_error(EAGAIN, std::generic_category());
                        return std::thread(std::move(body));
                      }});
  auto client = scheduler.NewClient();
  client->Submit(Priority::kFlush, [&] { done.Pass(); });
  refuse = false;
  client->RetryThreads();
  done.WaitFor(1);
}

TEST(Scheduler, MoreThreadsTakeUpQueuedJobs) {
  Passes inside, go;
  Scheduler scheduler(1);
  auto client = scheduler.NewClient();
  for (int i = 0; i < 3; ++i) {
    client->Submit(Priority::kCompaction, [&] {
      inside.Pass();
      go.WaitFor(1);
    });
  }
  inside.WaitFor(1);
  scheduler.SetThreadCount(3);
  EXPECT_EQ(client->thread_count(), 3u);
  inside.WaitFor(3);
  scheduler.SetThreadCount(1);
  go.Pass();
  for (int i = 0; i < 10; ++i) client->Submit(Priority::kCollection, [&] { inside.Pass(); });
  inside.WaitFor(13);
}

// Jobs never use more than the sum of the budget's earnings so far, its initial content, and the
// current step of each job. This holds whatever threads do in the meantime.
TEST(Scheduler, TheBudgetHoldsWhileManyAreBusy) {
  constexpr uint64_t kStepUs = 2'000, kSteps = 50, kThreads = 4, kClients = 8;
  constexpr double kCores = 0.5;
  TestTime time(true);
  const uint64_t began_us = time.NowMicros();
  std::atomic<uint64_t> used_us{0}, breaches{0};
  Passes done;
  Scheduler scheduler(kThreads, {.time = &time});
  scheduler.SetCpu(kCores);
  std::vector<std::unique_ptr<os::Executor>> clients;
  for (uint64_t c = 0; c < kClients; ++c) clients.push_back(scheduler.NewClient());
  const auto job = [&](os::Pacer* pacer) {
    for (uint64_t step = 0; step < kSteps; ++step) {
      time.Work(kStepUs);
      const uint64_t used = used_us += kStepUs;
      const double allowed =
          kCores * (static_cast<double>(time.NowMicros() - began_us) + CpuBudget::kBurstUs) +
          kThreads * kStepUs;
      if (static_cast<double>(used) > allowed) ++breaches;
      pacer->Pace(nullptr);
    }
    done.Pass();
  };
  for (const Priority priority :
       {Priority::kL0Compaction, Priority::kCompaction, Priority::kCollection})
    for (const auto& client : clients)
      client->Submit(priority, [&job, pacer = client->pacer()] { job(pacer); });
  done.WaitFor(3 * kClients);
  EXPECT_EQ(breaches, 0u);
  EXPECT_EQ(used_us, 3 * kClients * kSteps * kStepUs);
  EXPECT_GT(scheduler.totals().paced_us, 0u);
}

// A flush that uses much CPU time.
void GoIntoDebt(TestTime* time, os::Executor* client) {
  Passes done;
  client->Submit(Priority::kFlush, [&] {
    time->Work(10'000'000);
    client->pacer()->Pace(nullptr);  // a flush pays, but does not sleep
    done.Pass();
  });
  done.WaitFor(1);
}

TEST(Scheduler, InDebtOnlyFlushesBeginAndWhatSomebodyWaitsFor) {
  TestTime time(false);
  Passes flushed, collected, compacted;
  Scheduler scheduler(2, {.time = &time});
  scheduler.SetCpu(1);
  auto client = scheduler.NewClient();
  auto other = scheduler.NewClient();
  GoIntoDebt(&time, client.get());
  client->Submit(Priority::kCompaction, [&] { compacted.Pass(); });
  other->Submit(Priority::kL0Compaction, [&] { compacted.Pass(); });
  client->Submit(Priority::kCollection, [&] { collected.Pass(); });
  time.AwaitWait();
  EXPECT_EQ(scheduler.queued().others, (std::array<uint64_t, 4>{0, 1, 1, 1}));
  other->Submit(Priority::kFlush, [&] { flushed.Pass(); });
  flushed.WaitFor(1);
  client->MakeUrgent(Priority::kCollection);
  collected.WaitFor(1);
  EXPECT_EQ(scheduler.queued().others, (std::array<uint64_t, 4>{0, 1, 1, 0}));
  time.Advance(static_cast<uint64_t>(CpuBudget::kForgivenAboveUs));
  compacted.WaitFor(2);
  EXPECT_EQ(scheduler.totals().paced_us, 0u);
}

TEST(Scheduler, AFlushTakesThePlaceOfWhatSleeps) {
  TestTime time(false);
  Passes slept, flushed, compacted;
  std::atomic<bool> awake{false};
  Scheduler scheduler(1, {.time = &time});
  scheduler.SetCpu(0.5);
  auto client = scheduler.NewClient();
  auto other = scheduler.NewClient();
  client->Submit(Priority::kCompaction, [&] {
    time.Work(1'000'000);
    slept.Pass();
    client->pacer()->Pace(nullptr);
    awake = true;
    compacted.Pass();
  });
  slept.WaitFor(1);
  time.AwaitWait();
  other->Submit(Priority::kL0Compaction, [&] { compacted.Pass(); });
  for (uint64_t i = 1; i <= 3; ++i) {
    other->Submit(Priority::kFlush, [&] { flushed.Pass(); });
    flushed.WaitFor(i);
  }
  EXPECT_FALSE(awake);
  EXPECT_EQ(scheduler.queued().others[1], 1u);
  time.Advance(2'000'000);
  compacted.WaitFor(2);
}

TEST(Scheduler, AJobThatIsCancelledSleepsNoLonger) {
  TestTime time(false);
  std::atomic<bool> cancelled{false};
  Passes began, ended, again;
  Scheduler scheduler(1, {.time = &time});
  scheduler.SetCpu(0.01);
  auto client = scheduler.NewClient();
  client->Submit(Priority::kCompaction, [&] {
    began.Pass();
    time.Work(1'000'000'000);
    client->pacer()->Pace(&cancelled);
    ended.Pass();
  });
  began.WaitFor(1);
  time.AwaitWait();
  cancelled = true;
  ended.WaitFor(1);  // time stands still

  // The budget may also be lifted in the meantime.
  client->Submit(Priority::kL0Compaction, [&] {
    time.Work(1'000'000'000);
    client->pacer()->Pace(nullptr);
    again.Pass();
  });
  client->MakeUrgent(Priority::kL0Compaction);
  time.AwaitWait();
  scheduler.SetCpu(0);
  again.WaitFor(1);
}

// The job need not wait for the debt of others.
TEST(Scheduler, WhatSomebodyWaitsForIsOnlySlowed) {
  TestTime time(true);
  Passes done;
  uint64_t slept_us = 0;
  Scheduler scheduler(2, {.time = &time});
  scheduler.SetCpu(0.5);
  auto client = scheduler.NewClient();
  auto other = scheduler.NewClient();
  GoIntoDebt(&time, other.get());
  const auto compaction = [&] {
    for (int step = 0; step < 10; ++step) {
      time.Work(1'000);
      const uint64_t began_us = time.NowMicros();
      client->pacer()->Pace(nullptr);
      slept_us += time.NowMicros() - began_us;
    }
    done.Pass();
  };
  {
    Held one(&scheduler), two(&scheduler);
    client->Submit(Priority::kL0Compaction, compaction);
    client->MakeUrgent(Priority::kL0Compaction);
  }
  done.WaitFor(1);
  EXPECT_EQ(slept_us, 20'000u)
      << "the job must sleep only for the time that it used itself, at half a core";
}

// Without this limit all slowed jobs would run at once, each at the rate of the budget.
TEST(Scheduler, NoMoreSleepThanThereAreThreads) {
  TestTime time(false);
  Passes began, ended;
  std::atomic<uint64_t> begun{0};
  Scheduler scheduler(2, {.time = &time});
  scheduler.SetCpu(0.5);
  std::vector<std::unique_ptr<os::Executor>> clients;
  clients.reserve(8);  // jobs read it while it grows
  for (int c = 0; c < 8; ++c) {
    clients.push_back(scheduler.NewClient());
    if (c == 0) GoIntoDebt(&time, clients[0].get());
    clients[c]->Submit(Priority::kL0Compaction, [&, c] {
      ++begun;
      began.Pass();
      time.Work(1'000'000);
      clients[c]->pacer()->Pace(nullptr);
      ended.Pass();
    });
    clients[c]->MakeUrgent(Priority::kL0Compaction);
  }
  began.WaitFor(2);
  for (int i = 0; i < 10; ++i) time.AwaitWait();
  EXPECT_EQ(begun, 2u);
  EXPECT_EQ(scheduler.queued().urgent, 6u);
  scheduler.SetCpu(0);
  ended.WaitFor(8);
}

TEST(Scheduler, ThePacerIsForJobsOnItsOwnThreads) {
  TestTime time(false);
  Passes done;
  Scheduler scheduler(1, {.time = &time}), other(1, {.time = &time});
  scheduler.SetCpu(0.01);
  auto client = scheduler.NewClient();
  auto elsewhere = other.NewClient();
  time.Work(1'000'000);
  client->pacer()->Pace(nullptr);
  elsewhere->Submit(Priority::kCollection, [&] {
    time.Work(1'000'000);
    client->pacer()->Pace(nullptr);
    done.Pass();
  });
  done.WaitFor(1);
  EXPECT_EQ(scheduler.totals().cpu_us, 0u);
}

}  // namespace
}  // namespace lava
