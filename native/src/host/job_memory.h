#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <optional>

#include "base/mutex.h"
#include "memory/memory_counter.h"

namespace lava {

/// Somebody whose job found no memory.
class MemoryWaiter {
 public:
  virtual ~MemoryWaiter() = default;
  /// Asks to look for work again soon; must not block nor call back.
  virtual void MemoryFreed() = 0;
};

/// Hands out the working sets of the background jobs of a lease, before they take them.
///
/// No job waits for memory on a thread: one that finds none goes back to where it came from, and
/// its instance looks again when a job of the lease ends. It cannot wait for ever, nor for another
/// lease. A flush, which frees more than it takes, always gets its working set: so many as there
/// are threads are kept back from everybody else. And when no job of the lease but flushes runs,
/// the next one gets what it asks for, whatever the budget says, so some job of each lease always
/// goes on. That comes even where small ones follow each other: after so many refusals none begins
/// before all have ended.
/// Threads:    any.
/// Ownership:  must outlive the grants.
class JobMemory {
 public:
  /// Of all leases of a process: jobs that found no memory, and those that got what the budget did
  /// not have.
  struct Totals {
    std::atomic<uint64_t> put_off{0}, overdrafts{0};
  };
  /// totals must outlive it.
  explicit JobMemory(Totals* totals) : totals_(*totals) {}
  JobMemory(const JobMemory&) = delete;
  JobMemory& operator=(const JobMemory&) = delete;

  /// A running job's memory. Threads: one.
  class Grant {
   public:
    Grant(Grant&& from) noexcept
        : owner_(from.owner_),
          counter_(from.counter_),
          bytes_(from.bytes_),
          is_flush_(from.is_flush_) {
      from.owner_ = nullptr;
    }
    Grant& operator=(Grant&&) = delete;
    ~Grant() {
      if (owner_ != nullptr) owner_->End(counter_, bytes_, is_flush_);
    }

   private:
    friend class JobMemory;
    Grant(JobMemory* owner, MemoryCounter* counter, uint64_t bytes, bool is_flush)
        : owner_(owner), counter_(counter), bytes_(bytes), is_flush_(is_flush) {}
    JobMemory* owner_;
    MemoryCounter* counter_;
    uint64_t bytes_;
    bool is_flush_;
  };

  /// For flushes.
  Grant Begin(MemoryCounter* counter, uint64_t bytes) LAVA_EXCLUDES(mutex_);
  /// For other jobs; none when there is not enough.
  std::optional<Grant> TryBegin(MemoryCounter* counter, uint64_t bytes) LAVA_EXCLUDES(mutex_);
  /// For whom TryBegin() gave none, once it has put its job back: it is told when a job ends,
  /// unless it is forgotten before. False when none but flushes runs: it may try again at once.
  bool Await(MemoryWaiter* waiter) LAVA_EXCLUDES(mutex_);
  /// The waiter is not called any more once this returns.
  void Forget(MemoryWaiter* waiter) LAVA_EXCLUDES(mutex_);

  uint32_t running() const LAVA_EXCLUDES(mutex_);  // flushes, too
  static constexpr uint32_t kRefusalsMax = 32;

 private:
  void End(MemoryCounter* counter, uint64_t bytes, bool is_flush) LAVA_EXCLUDES(mutex_);

  Totals& totals_;
  mutable Mutex mutex_;
  std::list<MemoryWaiter*> waiters_ LAVA_GUARDED_BY(mutex_);  // each once
  uint32_t flushes_ LAVA_GUARDED_BY(mutex_) = 0;              // that run
  uint32_t others_ LAVA_GUARDED_BY(mutex_) = 0;               // other jobs that run
  uint32_t refusals_ LAVA_GUARDED_BY(mutex_) = 0;             // since none but flushes ran
};

}  // namespace lava
