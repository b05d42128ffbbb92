// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "base/spin_lock.h"

namespace lava {

/// A reader/writer lock of one word, for short critical sections with little contention: it spins,
/// then yields. A waiting writer goes before readers that come later; further writers wait behind
/// it.
/// Threads:    any thread. Not recursive.
class LAVA_CAPABILITY("spin lock") RwSpinLock {
 public:
  void Lock() LAVA_ACQUIRE() {
    uint32_t expected = 0;
    if (state_.compare_exchange_strong(expected, kWriter, std::memory_order_acquire)) return;
    for (uint32_t round = 0;; ++round) {
      const uint32_t old = state_.fetch_or(kWriter, std::memory_order_acquire);
      if ((old & kWriter) == 0) break;  // we are the next writer; readers may remain
      SpinPause(round);
    }
    for (uint32_t round = 0; state_.load(std::memory_order_acquire) != kWriter; ++round)
      SpinPause(round);
  }
  void Unlock() LAVA_RELEASE() { state_.fetch_and(~kWriter, std::memory_order_release); }

  void LockShared() LAVA_ACQUIRE_SHARED() {
    for (uint32_t round = 0;; ++round) {
      if ((state_.fetch_add(1, std::memory_order_acquire) & kWriter) == 0) return;
      state_.fetch_sub(1, std::memory_order_relaxed);
      while ((state_.load(std::memory_order_relaxed) & kWriter) != 0) SpinPause(round++);
    }
  }
  void UnlockShared() LAVA_RELEASE_SHARED() { state_.fetch_sub(1, std::memory_order_release); }

 private:
  static constexpr uint32_t kWriter = 1u << 31;
  std::atomic<uint32_t> state_{0};
};

}  // namespace lava
