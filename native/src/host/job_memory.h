#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>

#include "memory/memory_counter.h"

namespace lava {

/// Somebody whose job found no memory.
class MemoryWaiter {
 public:
  virtual ~MemoryWaiter() = default;
  /// Asks to look for work again soon; must not block nor call back.
  virtual void MemoryFreed() = 0;
};

/// Hands out the working sets of background jobs, before they take them.
///
/// No job waits for memory on a thread: one that finds none goes back to where it came from, and
/// its instance looks again when a job ends. It cannot wait for ever. A flush, which frees more
/// than it takes, always gets its working set: so many as there are threads are kept back from
/// everybody else. And when no job runs, the next one gets what it asks for, whatever the budget
/// says, so some job always goes on.
/// Threads:    any.
/// Ownership:  must outlive the grants.
class JobMemory {
 public:
  JobMemory() = default;
  JobMemory(const JobMemory&) = delete;
  JobMemory& operator=(const JobMemory&) = delete;

  /// A running job's memory. Threads: one.
  class Grant {
   public:
    Grant(Grant&& from) noexcept
        : owner_(from.owner_), counter_(from.counter_), bytes_(from.bytes_) {
      from.owner_ = nullptr;
    }
    Grant& operator=(Grant&&) = delete;
    ~Grant() {
      if (owner_ != nullptr) owner_->End(counter_, bytes_);
    }

   private:
    friend class JobMemory;
    Grant(JobMemory* owner, MemoryCounter* counter, uint64_t bytes)
        : owner_(owner), counter_(counter), bytes_(bytes) {}
    JobMemory* owner_;
    MemoryCounter* counter_;
    uint64_t bytes_;
  };

  /// For flushes.
  Grant Begin(MemoryCounter* counter, uint64_t bytes);
  /// For other jobs; none when there is not enough.
  std::optional<Grant> TryBegin(MemoryCounter* counter, uint64_t bytes);
  /// For whom TryBegin() gave none, once it has put its job back: it is told when a job ends,
  /// unless it is forgotten before. False when none runs: it may try again at once.
  bool Await(MemoryWaiter* waiter);
  /// The waiter is not called any more once this returns.
  void Forget(MemoryWaiter* waiter);

  /// Jobs that found no memory, and those that got what the budget did not have.
  uint64_t put_off() const;
  uint64_t overdrafts() const;
  uint32_t running() const;

 private:
  void End(MemoryCounter* counter, uint64_t bytes);

  mutable std::mutex mutex_;
  std::list<MemoryWaiter*> waiters_;  // each once
  uint32_t running_ = 0;
  uint64_t put_off_ = 0, overdrafts_ = 0;
};

}  // namespace lava
