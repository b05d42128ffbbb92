// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <optional>

#include "base/mutex.h"
#include "memory/memory_counter.h"

namespace lava {

/// The owner of a job that found no memory.
class MemoryWaiter {
 public:
  virtual ~MemoryWaiter() = default;
  /// Asks the owner to look for work again soon; must not block nor call back.
  virtual void MemoryFreed() = 0;
};

/// Charges the working sets of a lease's background jobs before the jobs allocate them.
///
/// No thread waits for memory: a job that finds none goes back to its queue, and its instance looks
/// again when a job of the lease ends. So no job waits for ever, nor for another lease. A flush
/// frees more than it takes, so it always gets its working set; memory for as many flushes as there
/// are threads is kept from everybody else. When no job of the lease but flushes runs, the next one
/// gets its memory even beyond the budget, so some job of each lease always goes on. Large jobs do
/// not starve: after kRefusalsMax refusals no job but flushes begins until all others have ended.
/// Threads:    any.
/// Ownership:  must outlive the grants.
/// Units:      bytes.
class JobMemory {
 public:
  /// Totals over all leases of a process: jobs that found no memory, and jobs that got memory
  /// beyond the budget.
  struct Totals {
    std::atomic<uint64_t> put_off{0}, overdrafts{0};
  };
  /// totals must outlive this object.
  explicit JobMemory(Totals* totals) : totals_(*totals) {}
  JobMemory(const JobMemory&) = delete;
  JobMemory& operator=(const JobMemory&) = delete;

  /// The memory of a running job. Threads: one.
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
  /// For other jobs; none when memory is short.
  std::optional<Grant> TryBegin(MemoryCounter* counter, uint64_t bytes) LAVA_EXCLUDES(mutex_);
  /// For the owner of a job that TryBegin() refused, once the job is back in its queue. The waiter
  /// is called when a job ends, unless it is forgotten before. False when only flushes run: the
  /// caller may try again at once.
  bool Await(MemoryWaiter* waiter) LAVA_EXCLUDES(mutex_);
  /// The waiter is not called any more once this returns.
  void Forget(MemoryWaiter* waiter) LAVA_EXCLUDES(mutex_);

  uint32_t running() const LAVA_EXCLUDES(mutex_);  // including flushes
  static constexpr uint32_t kRefusalsMax = 32;

 private:
  void End(MemoryCounter* counter, uint64_t bytes, bool is_flush) LAVA_EXCLUDES(mutex_);

  Totals& totals_;
  mutable Mutex mutex_;
  std::list<MemoryWaiter*> waiters_ LAVA_GUARDED_BY(mutex_);  // each once
  uint32_t flushes_ LAVA_GUARDED_BY(mutex_) = 0;              // running
  uint32_t others_ LAVA_GUARDED_BY(mutex_) = 0;               // running jobs that are not flushes
  uint32_t refusals_ LAVA_GUARDED_BY(mutex_) = 0;             // since only flushes ran
};

}  // namespace lava
