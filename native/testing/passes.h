// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace lava::testing {

/// Counts passing threads, so that others can wait for a number of them.
/// Threads:    any.
class Passes {
 public:
  void Pass() {
    std::lock_guard<std::mutex> lock(mutex_);
    ++passed_;
    changed_.notify_all();
  }
  void WaitFor(uint64_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return passed_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t passed_ = 0;
};

}  // namespace lava::testing
