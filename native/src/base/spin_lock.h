// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "base/thread_annotations.h"

namespace lava {

/// Waits a little, as one of the rounds of a loop that waits for another thread: the first 64
/// rounds burn the processor, later ones give it up.
inline void SpinPause(uint32_t round) {
  constexpr uint32_t kSpins = 64;
  if (round < kSpins) {
    __builtin_ia32_pause();
  } else {
    std::this_thread::yield();
  }
}

/// A lock of one byte for sections of a few instructions in which nothing else is locked. A thread
/// that waits burns its processor, and gives it up now and then, since the holder may have lost its
/// own.
/// Threads:    any. Not recursive.
class LAVA_CAPABILITY("spin lock") SpinLock {
 public:
  void Lock() LAVA_ACQUIRE() {
    while (locked_.exchange(true, std::memory_order_acquire)) [[unlikely]] Wait();
  }
  void Unlock() LAVA_RELEASE() { locked_.store(false, std::memory_order_release); }

 private:
  void Wait() const {
    for (uint32_t round = 0; locked_.load(std::memory_order_relaxed); ++round) SpinPause(round);
  }

  std::atomic<bool> locked_{false};
};

/// Holds a spin lock during its own lifetime.
class LAVA_SCOPED_CAPABILITY SpinLockGuard {
 public:
  explicit SpinLockGuard(SpinLock* lock) LAVA_ACQUIRE(lock) : lock_(*lock) { lock_.Lock(); }
  ~SpinLockGuard() LAVA_RELEASE() { lock_.Unlock(); }
  SpinLockGuard(const SpinLockGuard&) = delete;
  SpinLockGuard& operator=(const SpinLockGuard&) = delete;

 private:
  SpinLock& lock_;
};

}  // namespace lava
