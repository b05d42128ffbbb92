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

/// Time as a scheduler sees it; tests put their own in.
/// Threads: any.
class SchedulerTime {
 public:
  virtual ~SchedulerTime() = default;
  virtual uint64_t NowMicros() = 0;
  virtual uint64_t ThreadCpuMicros() = 0;  // that the calling thread has used
  /// Waits until *changed is notified, or for so long; for less, too.
  virtual void Wait(CondVar* changed, Mutex* mutex, uint64_t us_max) LAVA_REQUIRES(mutex) = 0;
  static SchedulerTime* System();
};

/// Runs the background jobs of all instances of a process: in the order of FairQueue, with what
/// somebody waits for in front, then by priority, and within a CpuBudget.
///
/// While the budget is in debt nothing begins but flushes and what somebody waits for, and what
/// runs sleeps where it calls its pacer. Flushes do not; and what somebody waits for sleeps no
/// longer than it takes to earn what itself has used, so it is slowed, whatever others owe.
///
/// A thread that sleeps does not count as one of those that may work: another takes its place for
/// what may begin. So that sleepers stay few, as many jobs that are waited for, but for flushes,
/// and as many that are not, have begun at a time as there are threads.
/// Threads:    any thread.
/// Ownership:  clients must be gone before it; destruction waits for jobs that run.
class Scheduler final : private os::Pacer {
 public:
  /// Of all schedulers of a process, one after the other.
  struct Totals {
    std::atomic<uint64_t> cpu_us{0};    // used by jobs
    std::atomic<uint64_t> paced_us{0};  // that jobs slept for the budget
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

  /// An instance's part. Dropping it drops its queued jobs, and does not wait for running ones.
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
  // A job on its thread's stack.
  struct Running {
    const Scheduler* scheduler;
    FairQueue::Client client;
    os::Priority priority;
    bool urgent;                    // somebody waits for it; under the scheduler's mutex
    uint64_t counted_until_us = 0;  // of the thread's CPU time
    uint64_t used_us = 0;
  };
  static thread_local Running* running_here_;

  void Submit(FairQueue::Client client, os::Priority priority, std::function<void()> run)
      LAVA_EXCLUDES(mutex_);
  void Urge(FairQueue::Client client, os::Priority priority) LAVA_EXCLUDES(mutex_);
  void Drop(FairQueue::Client client) LAVA_EXCLUDES(mutex_);
  void RunNext() LAVA_EXCLUDES(mutex_);
  std::optional<FairQueue::Pick> Take() LAVA_REQUIRES(mutex_);
  void Pace(const std::atomic<bool>* cancelled) override LAVA_EXCLUDES(mutex_);
  uint64_t Charge(Running* running) LAVA_REQUIRES(mutex_);
  uint64_t Sleep(uint64_t us_max) LAVA_REQUIRES(mutex_);
  struct Begun {
    uint64_t urgent = 0, others = 0;  // but for flushes
  };
  Begun begun() const LAVA_REQUIRES(mutex_);
  FairQueue::Levels MayBegin() LAVA_REQUIRES(mutex_);
  void BeginMore() LAVA_REQUIRES(mutex_);

  Totals own_totals_;
  Totals& totals_;
  SchedulerTime* const time_;
  std::atomic<uint32_t> threads_;
  mutable Mutex mutex_;
  CondVar may_begin_;  // something
  CondVar may_go_on_;  // some job that sleeps
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
