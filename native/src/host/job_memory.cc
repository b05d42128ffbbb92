// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "host/job_memory.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <list>
#include <optional>

#include "base/check.h"
#include "base/mutex.h"
#include "memory/memory_counter.h"

namespace lava {

JobMemory::Grant JobMemory::Begin(MemoryCounter* counter, uint64_t bytes) {
  counter->Charge(bytes);
  MutexLock lock(&mutex_);
  ++flushes_;
  return Grant(this, counter, bytes, /*is_flush=*/true);
}

std::optional<JobMemory::Grant> JobMemory::TryBegin(MemoryCounter* counter, uint64_t bytes) {
  MutexLock lock(&mutex_);
  // A job that needs no memory never waits.
  const bool drains = refusals_ >= kRefusalsMax && others_ > 0 && bytes > 0;
  if (drains || !counter->TryCharge(bytes)) {
    if (others_ > 0) {
      ++refusals_;
      totals_.put_off.fetch_add(1, std::memory_order_relaxed);
      return std::nullopt;
    }
    totals_.overdrafts.fetch_add(1, std::memory_order_relaxed);
    counter->Charge(bytes);
  }
  if (others_++ == 0) refusals_ = 0;
  return Grant(this, counter, bytes, /*is_flush=*/false);
}

bool JobMemory::Await(MemoryWaiter* waiter) {
  MutexLock lock(&mutex_);
  if (others_ == 0) return false;
  if (std::find(waiters_.begin(), waiters_.end(), waiter) == waiters_.end())
    waiters_.push_back(waiter);
  return true;
}

void JobMemory::Forget(MemoryWaiter* waiter) {
  MutexLock lock(&mutex_);
  waiters_.remove(waiter);
}

void JobMemory::End(MemoryCounter* counter, uint64_t bytes, bool is_flush) {
  counter->Release(bytes);
  MutexLock lock(&mutex_);
  uint32_t& running = is_flush ? flushes_ : others_;
  LAVA_CHECK(running > 0);
  --running;
  // Tells all waiters: one job's memory may suffice for several, and the others wait again.
  std::list<MemoryWaiter*> waiters;
  waiters.swap(waiters_);
  for (MemoryWaiter* waiter : waiters) waiter->MemoryFreed();
}

uint32_t JobMemory::running() const {
  MutexLock lock(&mutex_);
  return flushes_ + others_;
}

}  // namespace lava
