#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "base/mutex.h"

namespace lava {

/// Lets background jobs and snapshots use an instance that another thread may close meanwhile.
/// Close() waits for the users inside the gate, and later users cannot enter.
/// Threads:    any.
/// Ownership:  shared by the instance, its queued jobs and its snapshots, so the gate may outlive
///             the instance.
class Gate {
 public:
  /// False: the gate is closed. True: the caller is inside, and must call Leave().
  bool Enter() {
    MutexLock lock(&mutex_);
    if (closed_) return false;
    ++inside_;
    return true;
  }
  void Leave() {
    MutexLock lock(&mutex_);
    if (--inside_ == 0) empty_.NotifyAll();
  }
  /// Closes the gate to new users and waits until no user is inside. False: some user is still
  /// inside after wait_max. May be called again.
  bool Close(std::chrono::milliseconds wait_max) {
    const auto deadline = std::chrono::steady_clock::now() + wait_max;
    MutexLock lock(&mutex_);
    closed_ = true;
    while (inside_ > 0 && empty_.WaitUntil(&mutex_, deadline)) {
    }
    return inside_ == 0;
  }

  /// Is inside the gate during its own lifetime; false in conditions if the gate was closed.
  /// Threads: one.
  class Visit {
   public:
    explicit Visit(Gate* gate) : gate_(gate->Enter() ? gate : nullptr) {}
    ~Visit() {
      if (gate_ != nullptr) gate_->Leave();
    }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    explicit operator bool() const { return gate_ != nullptr; }

   private:
    Gate* gate_;
  };

 private:
  Mutex mutex_;
  CondVar empty_;
  bool closed_ LAVA_GUARDED_BY(mutex_) = false;
  uint32_t inside_ LAVA_GUARDED_BY(mutex_) = 0;
};

}  // namespace lava
