// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "os/executor.h"
#include "os/thread_pool.h"
#include "policy/cpu_budget.h"
#include "policy/fair_queue.h"

namespace lava {

/// Time as a scheduler sees it; tests replace it.
/// Threads:    any.
/// Units:      microseconds.
class SchedulerTime {
 public:
  virtual ~SchedulerTime() = default;
  virtual uint64_t NowMicros() = 0;
  virtual uint64_t ThreadCpuMicros() = 0;  // used by the calling thread
  /// Waits until *changed is notified, at most us_max and possibly less.
  virtual void Wait(CondVar* changed, Mutex* mutex, uint64_t us_max) LAVA_REQUIRES(mutex) = 0;
  static SchedulerTime* System();
};

/// Runs the background jobs of all instances of a process within a CpuBudget. FairQueue gives the
/// order: first urgent jobs, which somebody waits for, then the others by priority.
///
/// While the budget is in debt, only flushes and urgent jobs begin, and running jobs sleep when
/// they call their pacer. Flushes do not sleep. An urgent job sleeps no longer than it takes to
/// earn the time that it has used itself, so it is slowed whatever others owe.
///
/// A sleeping thread does not count as a working one: another takes its place for jobs that may
/// begin. To keep sleepers few, no more urgent jobs, and no more others, have begun at a time than
/// there are threads. Flushes do not count.
/// Threads:    any thread.
/// Ownership:  clients must be destroyed before it; destruction waits for running jobs.
/// Errors:     std::bad_alloc from Submit(); the job is not queued then.
class Scheduler final : private os::Pacer {
 public:
  /// Totals of all schedulers that a process has had.
  struct Totals {
    std::atomic<uint64_t> cpu_us{0};    // used by jobs
    std::atomic<uint64_t> paced_us{0};  // jobs' sleep for the budget
  };
  struct Setup {
    Totals* totals = nullptr;  // null: its own
    // For tests; null: threads and time of the system.
    os::ThreadPool::ThreadStarter start = nullptr;
    SchedulerTime* time = nullptr;
  };
  explicit Scheduler(uint32_t threads) : Scheduler(threads, Setup()) {}
  Scheduler(uint32_t threads, Setup setup);
  ~Scheduler() override;

  /// A client for an instance. Its destruction drops queued jobs and does not wait for running
  /// ones.
  std::unique_ptr<os::Executor> NewClient() LAVA_EXCLUDES(mutex_);

  uint32_t thread_count() const { return threads_.load(std::memory_order_relaxed); }
  void SetThreadCount(uint32_t count) LAVA_EXCLUDES(mutex_);
  /// Cores for all jobs together; 0: no limit. Takes effect at once.
  void SetCpu(double cores) LAVA_EXCLUDES(mutex_);

  const Totals& totals() const { return totals_; }
  struct Queued {
    uint64_t urgent = 0;  // somebody waits for them
    std::array<uint64_t, os::kPriorities> others{};
  };
  Queued queued() const LAVA_EXCLUDES(mutex_);

 private:
  class Client;
  struct Job {
    os::Priority priority;
    std::function<void()> run;
  };
  // A running job; lives on its thread's stack.
  struct Running {
    const Scheduler* scheduler;
    FairQueue::Client client;
    os::Priority priority;
    bool urgent;                    // somebody waits for it; guarded by the scheduler's mutex
    uint64_t counted_until_us = 0;  // CPU time of the thread
    uint64_t used_us = 0;
  };
  static thread_local Running* running_here_;

  void Submit(FairQueue::Client client, os::Priority priority, std::function<void()> run)
      LAVA_EXCLUDES(mutex_);
  void MakeUrgent(FairQueue::Client client, os::Priority priority) LAVA_EXCLUDES(mutex_);
  void Drop(FairQueue::Client client) LAVA_EXCLUDES(mutex_);
  void RunNext() LAVA_EXCLUDES(mutex_);
  std::optional<FairQueue::Pick> Take() LAVA_REQUIRES(mutex_);
  void Pace(const std::atomic<bool>* cancelled) override LAVA_EXCLUDES(mutex_);
  uint64_t Charge(Running* running) LAVA_REQUIRES(mutex_);
  uint64_t Sleep(uint64_t us_max) LAVA_REQUIRES(mutex_);
  struct Begun {
    uint64_t urgent = 0, others = 0;  // without flushes
  };
  Begun begun() const LAVA_REQUIRES(mutex_);
  FairQueue::Levels MayBegin() LAVA_REQUIRES(mutex_);
  void BeginMore() LAVA_REQUIRES(mutex_);

  Totals own_totals_;
  Totals& totals_;
  SchedulerTime* const time_;
  std::atomic<uint32_t> threads_;
  mutable Mutex mutex_;
  CondVar may_begin_;  // a queued job
  CondVar may_go_on_;  // a sleeping job
  FairQueue queue_ LAVA_GUARDED_BY(mutex_);
  CpuBudget budget_ LAVA_GUARDED_BY(mutex_);
  std::map<FairQueue::Ticket, Job> jobs_ LAVA_GUARDED_BY(mutex_);  // queued
  FairQueue::Ticket next_ticket_ LAVA_GUARDED_BY(mutex_) = 0;
  std::vector<Running*> running_ LAVA_GUARDED_BY(mutex_);
  size_t runners_ LAVA_GUARDED_BY(mutex_) = 0;  // calls of RunNext() that are queued or run
  uint32_t asleep_ LAVA_GUARDED_BY(mutex_) = 0;
  uint32_t pool_threads_ LAVA_GUARDED_BY(mutex_);
  bool stopping_ LAVA_GUARDED_BY(mutex_) = false;
  std::unique_ptr<os::ThreadPool> pool_;  // gets a RunNext() for each job
};

}  // namespace lava
