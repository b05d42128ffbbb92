#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

namespace lava {

/// Lets background jobs and snapshots use an instance that may be closed meanwhile: whoever is
/// inside is waited for by Close(), whoever comes later is turned away.
/// Threads:    any.
/// Ownership:  shared by the instance, its queued jobs and its snapshots; outlives the instance.
class Gate {
 public:
  /// False when closed; else Leave() must follow.
  bool Enter() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return false;
    ++inside_;
    return true;
  }
  void Leave() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (--inside_ == 0) empty_.notify_all();
  }
  /// Turns newcomers away and waits until nobody is inside; false when somebody still is after
  /// the time given.
  bool Close(std::chrono::milliseconds wait_max) {
    std::unique_lock<std::mutex> lock(mutex_);
    closed_ = true;
    return empty_.wait_for(lock, wait_max, [this] { return inside_ == 0; });
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
  std::mutex mutex_;
  std::condition_variable empty_;
  bool closed_ = false;
  uint32_t inside_ = 0;
};

}  // namespace lava
