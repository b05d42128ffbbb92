// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "host/scheduler.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "base/thread_annotations.h"
#include "os/clock.h"
#include "os/executor.h"
#include "os/pacer.h"
#include "policy/fair_queue.h"

namespace lava {
namespace {

// Levels of the queue: jobs that somebody waits for, flushes first; then the others by priority.
constexpr uint32_t kUrgentFlush = 0, kUrgent = 1;
constexpr uint32_t LevelOf(os::Priority priority) {
  return kUrgent + 1 + static_cast<uint32_t>(priority);
}
constexpr uint32_t UrgentLevelOf(os::Priority priority) {
  return priority == os::Priority::kFlush ? kUrgentFlush : kUrgent;
}
constexpr uint32_t kLevels = kUrgent + 1 + os::kPriorities;
constexpr FairQueue::Levels kFlushes =
    FairQueue::Bit(kUrgentFlush) | FairQueue::Bit(LevelOf(os::Priority::kFlush));
constexpr FairQueue::Levels kOthers = FairQueue::Bit(LevelOf(os::Priority::kL0Compaction)) |
                                      FairQueue::Bit(LevelOf(os::Priority::kCompaction)) |
                                      FairQueue::Bit(LevelOf(os::Priority::kCollection));

// A sleeping job notices within this time that its instance closes.
constexpr uint64_t kSliceUs = 10'000;
constexpr uint64_t kWaitUs = 100'000;

class SystemTime final : public SchedulerTime {
 public:
  uint64_t NowMicros() override { return os::MonotonicMicros(); }
  uint64_t ThreadCpuMicros() override { return os::ThreadCpuMicros(); }
  void Wait(CondVar* changed, Mutex* mutex, uint64_t us_max) override LAVA_REQUIRES(mutex) {
    changed->WaitFor(mutex, std::chrono::microseconds(us_max));
  }
};

}  // namespace

SchedulerTime* SchedulerTime::System() {
  static SystemTime time;
  return &time;
}

thread_local Scheduler::Running* Scheduler::running_here_ = nullptr;

class Scheduler::Client final : public os::Executor {
 public:
  Client(Scheduler* scheduler, FairQueue::Client number)
      : scheduler_(*scheduler), number_(number) {}
  ~Client() override { scheduler_.Drop(number_); }
  void Submit(os::Priority priority, std::function<void()> job) override {
    scheduler_.Submit(number_, priority, std::move(job));
  }
  void MakeUrgent(os::Priority priority) override { scheduler_.MakeUrgent(number_, priority); }
  void RetryThreads() override { scheduler_.pool_->RetryThreads(); }
  uint32_t thread_count() const override { return scheduler_.thread_count(); }
  os::Pacer* pacer() override { return &scheduler_; }

 private:
  Scheduler& scheduler_;
  const FairQueue::Client number_;
};

Scheduler::Scheduler(uint32_t threads, Setup setup)
    : totals_(setup.totals != nullptr ? *setup.totals : own_totals_),
      time_(setup.time != nullptr ? setup.time : SchedulerTime::System()),
      threads_(std::max(threads, 1u)),
      queue_(kLevels),
      pool_threads_(threads_),
      pool_(os::ThreadPool::New(threads_, std::move(setup.start))) {}

Scheduler::~Scheduler() {
  {
    MutexLock lock(&mutex_);
    LAVA_CHECK(jobs_.empty());
    stopping_ = true;
    may_begin_.NotifyAll();
    may_go_on_.NotifyAll();
  }
  pool_.reset();
}

std::unique_ptr<os::Executor> Scheduler::NewClient() {
  MutexLock lock(&mutex_);
  return std::make_unique<Client>(this, queue_.AddClient());
}

void Scheduler::SetThreadCount(uint32_t count) {
  MutexLock lock(&mutex_);
  threads_ = std::max(count, 1u);
  BeginMore();
}

void Scheduler::SetCpu(double cores) {
  MutexLock lock(&mutex_);
  budget_.SetCores(cores, time_->NowMicros());
  BeginMore();
  may_go_on_.NotifyAll();
}

Scheduler::Queued Scheduler::queued() const {
  MutexLock lock(&mutex_);
  Queued queued{.urgent = queue_.queued(kUrgentFlush) + queue_.queued(kUrgent)};
  for (uint32_t n = 0; n < os::kPriorities; ++n)
    queued.others[n] = queue_.queued(LevelOf(static_cast<os::Priority>(n)));
  return queued;
}

void Scheduler::Submit(FairQueue::Client client, os::Priority priority, std::function<void()> run) {
  LAVA_CHECK(run != nullptr && LevelOf(priority) < kLevels);
  MutexLock lock(&mutex_);
  running_.reserve(runners_ + 1);
  // First, because a runner that finds no job of its own takes another one, or ends.
  pool_->Submit([this] { RunNext(); });
  ++runners_;
  const FairQueue::Ticket ticket = next_ticket_++;
  const auto at = jobs_.emplace(ticket, Job{priority, std::move(run)}).first;
  try {
    queue_.Push(client, LevelOf(priority), ticket);
  } catch (...) {
    jobs_.erase(at);
    throw;
  }
  BeginMore();
}

void Scheduler::MakeUrgent(FairQueue::Client client, os::Priority priority) {
  MutexLock lock(&mutex_);
  queue_.Move(client, LevelOf(priority), UrgentLevelOf(priority));
  for (Running* running : running_)
    if (running->client == client && running->priority == priority) running->urgent = true;
  BeginMore();
  may_go_on_.NotifyAll();
}

void Scheduler::Drop(FairQueue::Client client) {
  std::map<FairQueue::Ticket, Job> dropped;  // destroyed outside the lock
  MutexLock lock(&mutex_);
  for (const FairQueue::Ticket ticket : queue_.RemoveClient(client))
    dropped.insert(jobs_.extract(ticket));
  BeginMore();
  may_begin_.NotifyAll();  // perhaps no job is left
}

// Runs on a thread of the pool, once for each submitted job, and takes the job that is to go first.
// Allocates no memory, because a failure would lose the job.
void Scheduler::RunNext() {
  MutexLock lock(&mutex_);
  const std::optional<FairQueue::Pick> pick = Take();
  if (!pick) {
    --runners_;
    return;
  }
  Job job = std::move(jobs_.extract(pick->ticket).mapped());
  Running running{this, pick->client, job.priority, pick->level <= kUrgent};
  running_.push_back(&running);
  BeginMore();
  lock.Unlock();
  running.counted_until_us = time_->ThreadCpuMicros();
  running_here_ = &running;
  try {
    job.run();
  } catch (...) {  // the job has reported what it could
  }
  job.run = nullptr;  // its captures are destroyed outside the lock
  running_here_ = nullptr;
  lock.Lock();
  Charge(&running);
  queue_.Settle(*pick, running.used_us);
  running_.erase(std::find(running_.begin(), running_.end(), &running));
  --runners_;
  BeginMore();
}

// Waits while no queued job may begin.
std::optional<FairQueue::Pick> Scheduler::Take() {
  while (!stopping_ && !jobs_.empty()) {
    if (auto pick = queue_.Pop(MayBegin())) return pick;
    const uint64_t debt_us = budget_.PaidInUs(time_->NowMicros());
    time_->Wait(&may_begin_, &mutex_, debt_us > 0 ? std::min(debt_us, kWaitUs) : kWaitUs);
  }
  return std::nullopt;
}

Scheduler::Begun Scheduler::begun() const {
  Begun begun;
  for (const Running* running : running_) {
    if (running->priority == os::Priority::kFlush) continue;
    ++(running->urgent ? begun.urgent : begun.others);
  }
  return begun;
}

// The levels whose jobs may begin now.
FairQueue::Levels Scheduler::MayBegin() {
  const uint32_t threads = threads_;
  if (running_.size() - asleep_ >= threads) return 0;
  FairQueue::Levels levels = kFlushes;
  const auto [urgent, others] = begun();
  if (urgent < threads) levels |= FairQueue::Bit(kUrgent);
  if (others < threads && budget_.PaidInUs(time_->NowMicros()) == 0) levels |= kOthers;
  return levels;
}

// Ensures that a thread takes a job that may begin. If all threads sleep or work, the pool gets one
// more for each that sleeps.
void Scheduler::BeginMore() {
  const bool any = (queue_.levels_with_jobs() & MayBegin()) != 0;
  const uint32_t wanted = threads_ + (any ? asleep_ : 0);
  if (wanted != pool_threads_) {
    pool_threads_ = wanted;
    pool_->SetThreadCount(wanted);
  }
  if (any) may_begin_.NotifyAll();
}

uint64_t Scheduler::Charge(Running* running) {
  const uint64_t until_us = time_->ThreadCpuMicros();
  const uint64_t used_us = until_us - running->counted_until_us;
  running->counted_until_us = until_us;
  running->used_us += used_us;
  totals_.cpu_us.fetch_add(used_us, std::memory_order_relaxed);
  budget_.Charge(used_us, running->urgent || running->priority == os::Priority::kFlush,
                 time_->NowMicros());
  return used_us;
}

void Scheduler::Pace(const std::atomic<bool>* cancelled) {
  Running* const running = running_here_;
  if (running == nullptr || running->scheduler != this) return;
  MutexLock lock(&mutex_);
  const uint64_t used_us = Charge(running);
  if (running->priority == os::Priority::kFlush) return;
  uint64_t slept_us = 0;
  while (!stopping_ && (cancelled == nullptr || !cancelled->load(std::memory_order_relaxed))) {
    uint64_t left_us = budget_.PaidInUs(time_->NowMicros());
    if (running->urgent) {
      // All jobs that somebody waits for share the earnings.
      const uint64_t own_us = budget_.EarnedInUs(used_us * begun().urgent);
      left_us = std::min(left_us, own_us - std::min(own_us, slept_us));
    }
    if (left_us == 0) return;
    slept_us += Sleep(std::min(left_us, kSliceUs));
  }
}

uint64_t Scheduler::Sleep(uint64_t us_max) {
  const uint64_t began_us = time_->NowMicros();
  ++asleep_;
  BeginMore();
  time_->Wait(&may_go_on_, &mutex_, us_max);
  --asleep_;
  const uint64_t slept_us = time_->NowMicros() - began_us;
  totals_.paced_us.fetch_add(slept_us, std::memory_order_relaxed);
  return slept_us;
}

}  // namespace lava
