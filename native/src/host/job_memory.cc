#include "host/job_memory.h"

#include <algorithm>

#include "base/check.h"

namespace lava {

JobMemory::Grant JobMemory::Begin(MemoryCounter* counter, uint64_t bytes) {
  counter->Charge(bytes);
  std::lock_guard<std::mutex> lock(mutex_);
  ++running_;
  return Grant(this, counter, bytes);
}

std::optional<JobMemory::Grant> JobMemory::TryBegin(MemoryCounter* counter, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!counter->TryCharge(bytes)) {
    if (running_ > 0) {
      ++put_off_;
      return std::nullopt;
    }
    ++overdrafts_;
    counter->Charge(bytes);
  }
  ++running_;
  return Grant(this, counter, bytes);
}

bool JobMemory::Await(MemoryWaiter* waiter) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (running_ == 0) return false;
  if (std::find(waiters_.begin(), waiters_.end(), waiter) == waiters_.end())
    waiters_.push_back(waiter);
  return true;
}

void JobMemory::Forget(MemoryWaiter* waiter) {
  std::lock_guard<std::mutex> lock(mutex_);
  waiters_.remove(waiter);
}

void JobMemory::End(MemoryCounter* counter, uint64_t bytes) {
  counter->Release(bytes);
  std::lock_guard<std::mutex> lock(mutex_);
  LAVA_CHECK(running_ > 0);
  --running_;
  // All of them: what one job gave back may do for several, and who finds too little waits again.
  std::list<MemoryWaiter*> waiters;
  waiters.swap(waiters_);
  for (MemoryWaiter* waiter : waiters) waiter->MemoryFreed();
}

uint64_t JobMemory::put_off() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return put_off_;
}

uint64_t JobMemory::overdrafts() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return overdrafts_;
}

uint32_t JobMemory::running() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return running_;
}

}  // namespace lava
