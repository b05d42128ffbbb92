#include "host/scheduler.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "base/check.h"
#include "os/clock.h"

namespace lava {
namespace {

// Levels of the queue: what somebody waits for, then the priorities.
constexpr uint32_t kUrgent = 0;
constexpr uint32_t LevelOf(os::Priority priority) { return 1 + static_cast<uint32_t>(priority); }
constexpr uint32_t kLevels = 1 + os::kPriorities;
constexpr uint32_t kBelowFlush = LevelOf(os::Priority::kFlush) + 1;

// How late a job that sleeps sees that its instance closes.
constexpr uint64_t kSliceUs = 10'000;
constexpr uint64_t kWaitUs = 100'000;

class SystemTime final : public SchedulerTime {
 public:
  uint64_t NowMicros() override { return os::MonotonicMicros(); }
  uint64_t ThreadCpuMicros() override { return os::ThreadCpuMicros(); }
  void Wait(std::condition_variable* changed, std::unique_lock<std::mutex>* lock,
            uint64_t us_max) override {
    changed->wait_for(*lock, std::chrono::microseconds(us_max));
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
  void Urge(os::Priority priority) override { scheduler_.Urge(number_, priority); }
  void Poke() override { scheduler_.pool_->Poke(); }
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
    std::lock_guard<std::mutex> lock(mutex_);
    LAVA_CHECK(jobs_.empty());
    stopping_ = true;
    changed_.notify_all();
  }
  pool_.reset();
}

std::unique_ptr<os::Executor> Scheduler::NewClient() {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::make_unique<Client>(this, queue_.AddClient());
}

void Scheduler::SetThreadCount(uint32_t count) {
  std::lock_guard<std::mutex> lock(mutex_);
  threads_ = std::max(count, 1u);
  ReplaceSleepers();
  changed_.notify_all();
}

void Scheduler::SetCpu(double cores) {
  std::lock_guard<std::mutex> lock(mutex_);
  budget_.SetCores(cores, time_->NowMicros());
  changed_.notify_all();
}

Scheduler::Queued Scheduler::queued() const {
  std::lock_guard<std::mutex> lock(mutex_);
  Queued queued{.urgent = queue_.queued(kUrgent)};
  for (uint32_t n = 0; n < os::kPriorities; ++n) queued.others[n] = queue_.queued(1 + n);
  return queued;
}

void Scheduler::Submit(FairQueue::Client client, os::Priority priority, std::function<void()> run) {
  LAVA_CHECK(run != nullptr && LevelOf(priority) < kLevels);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const FairQueue::Ticket ticket = next_ticket_++;
    jobs_.emplace(ticket, Job{priority, std::move(run)});
    queue_.Push(client, LevelOf(priority), ticket);
    ReplaceSleepers();
    changed_.notify_all();
  }
  pool_->Submit([this] { RunNext(); });
}

void Scheduler::Urge(FairQueue::Client client, os::Priority priority) {
  std::lock_guard<std::mutex> lock(mutex_);
  queue_.Move(client, LevelOf(priority), kUrgent);
  for (Running* running : running_)
    if (running->client == client && running->priority == priority) running->urgent = true;
  ReplaceSleepers();
  changed_.notify_all();
}

void Scheduler::Drop(FairQueue::Client client) {
  std::vector<Job> dropped;  // what they own goes outside the lock
  std::lock_guard<std::mutex> lock(mutex_);
  for (const FairQueue::Ticket ticket : queue_.RemoveClient(client))
    dropped.push_back(std::move(jobs_.extract(ticket).mapped()));
  ReplaceSleepers();
  changed_.notify_all();
}

// On a thread of the pool, once for each job that was submitted: takes whichever is to go first.
void Scheduler::RunNext() {
  Lock lock(mutex_);
  const std::optional<FairQueue::Pick> pick = Take(&lock);
  if (!pick) return;
  Job job = std::move(jobs_.extract(pick->ticket).mapped());
  Running running{this, pick->client, job.priority, pick->level == kUrgent};
  const auto place = running_.insert(running_.end(), &running);
  if (pick->level >= kBelowFlush) ++running_below_flush_;
  ReplaceSleepers();
  lock.unlock();
  running.counted_until_us = time_->ThreadCpuMicros();
  running_here_ = &running;
  job.run();
  job.run = nullptr;  // what the job owned goes outside the lock
  running_here_ = nullptr;
  lock.lock();
  Charge(&running);
  queue_.Settle(*pick, running.used_us);
  running_.erase(place);
  if (pick->level >= kBelowFlush) --running_below_flush_;
  changed_.notify_all();
}

// Waits while there are only jobs that may not begin.
std::optional<FairQueue::Pick> Scheduler::Take(Lock* lock) {
  while (!stopping_ && !jobs_.empty()) {
    const uint64_t debt_us = budget_.PaidInUs(time_->NowMicros());
    // Threads in the place of sleepers are there for what may not wait.
    const bool all = debt_us == 0 && running_below_flush_ < threads_;
    if (auto pick = queue_.Pop(all ? kLevels : kBelowFlush)) return pick;
    time_->Wait(&changed_, lock, debt_us > 0 ? std::min(debt_us, kWaitUs) : kWaitUs);
  }
  return std::nullopt;
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
  Lock lock(mutex_);
  const uint64_t used_us = Charge(running);
  if (running->priority == os::Priority::kFlush) return;
  const uint64_t own_us = budget_.EarnedInUs(used_us);
  uint64_t slept_us = 0;
  while (!stopping_ && (cancelled == nullptr || !cancelled->load(std::memory_order_relaxed))) {
    uint64_t left_us = budget_.PaidInUs(time_->NowMicros());
    if (running->urgent) left_us = std::min(left_us, own_us - std::min(own_us, slept_us));
    if (left_us == 0) return;
    slept_us += Sleep(&lock, std::min(left_us, kSliceUs));
  }
}

uint64_t Scheduler::Sleep(Lock* lock, uint64_t us_max) {
  const uint64_t began_us = time_->NowMicros();
  ++asleep_;
  ReplaceSleepers();
  time_->Wait(&changed_, lock, us_max);
  --asleep_;
  const uint64_t slept_us = time_->NowMicros() - began_us;
  totals_.paced_us.fetch_add(slept_us, std::memory_order_relaxed);
  return slept_us;
}

// The pool has as many threads more as jobs sleep, as long as something waits that may begin all
// the same.
void Scheduler::ReplaceSleepers() {
  uint64_t may_begin = 0;
  for (uint32_t level = 0; level < kBelowFlush; ++level) may_begin += queue_.queued(level);
  const uint32_t wanted = threads_ + (may_begin > 0 ? asleep_ : 0);
  if (wanted == pool_threads_) return;
  pool_threads_ = wanted;
  pool_->SetThreadCount(wanted);
}

}  // namespace lava
