#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "base/mutex.h"

namespace lava {

/// Lets background jobs and snapshots use an instance that may be closed meanwhile: whoever is
/// inside is waited for by Close(), whoever comes later is turned away.
/// Threads:    any.
/// Ownership:  shared by the instance, its queued jobs and its snapshots; outlives the instance.
class Gate {
 public:
  /// False when closed; else Leave() must follow.
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
  /// Turns newcomers away and waits until nobody is inside; false when somebody still is after
  /// the time given.
  bool Close(std::chrono::milliseconds wait_max) {
    const auto deadline = std::chrono::steady_clock::now() + wait_max;
    MutexLock lock(&mutex_);
    closed_ = true;
    while (inside_ > 0 && empty_.WaitUntil(&mutex_, deadline)) {
    }
    return inside_ == 0;
  }

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
