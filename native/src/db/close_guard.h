// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "base/check.h"
#include "base/mutex.h"

namespace lava {

/// Lets background jobs and snapshots use an instance that another thread may close at the same
/// time. Close() waits for the users inside the guard, and no user can enter afterwards.
/// Threads:    any.
/// Ownership:  shared by the instance, its queued jobs and its snapshots, so the guard may outlive
///             the instance.
class CloseGuard {
 public:
  /// False: the guard is closed. True: the caller is inside, and must call Leave().
  bool Enter() {
    MutexLock lock(&mutex_);
    if (closed_) return false;
    ++inside_;
    return true;
  }
  void Leave() {
    MutexLock lock(&mutex_);
    LAVA_DCHECK(inside_ > 0);
    if (--inside_ == 0) empty_.NotifyAll();
  }
  /// Closes the guard to new users and waits until no user is inside. False: some user is still
  /// inside after wait_max. May be called again.
  bool Close(std::chrono::milliseconds wait_max) {
    const auto deadline = std::chrono::steady_clock::now() + wait_max;
    MutexLock lock(&mutex_);
    closed_ = true;
    while (inside_ > 0 && empty_.WaitUntil(&mutex_, deadline)) {
    }
    return inside_ == 0;
  }

  /// Enters the guard for its own lifetime; converts to false if the guard was closed.
  /// Threads: one.
  class Use {
   public:
    explicit Use(CloseGuard* guard) : guard_(guard->Enter() ? guard : nullptr) {}
    ~Use() {
      if (guard_ != nullptr) guard_->Leave();
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    explicit operator bool() const { return guard_ != nullptr; }

   private:
    CloseGuard* guard_;
  };

 private:
  Mutex mutex_;
  CondVar empty_;
  bool closed_ LAVA_GUARDED_BY(mutex_) = false;
  uint32_t inside_ LAVA_GUARDED_BY(mutex_) = 0;
};

}  // namespace lava
