// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>

#include "base/mutex.h"
#include "os/thread_pool.h"

namespace lava {

/// Frees memory step by step after a budget has become smaller. Memory that is pinned or must be
/// written first cannot be freed at once, and perhaps no other call comes by later. Uses a thread
/// of its own, which exists only meanwhile: it sleeps, which background threads must not.
/// Threads:    any thread.
/// Ownership:  destruction waits for a running step.
class BudgetRelief {
 public:
  /// step frees the memory that it can, and returns whether nothing is left to do. No lock is held.
  explicit BudgetRelief(std::function<bool()> step);
  ~BudgetRelief();
  /// Begins to call step: soon, then less and less often, finally once a second. False when there
  /// is no memory to begin; the next call tries again.
  bool Start() LAVA_EXCLUDES(mutex_);

 private:
  void Run() LAVA_EXCLUDES(mutex_);

  const std::function<bool()> step_;
  Mutex mutex_;
  CondVar changed_;
  bool running_ LAVA_GUARDED_BY(mutex_) = false;
  bool started_again_ LAVA_GUARDED_BY(mutex_) = false;
  bool stopping_ LAVA_GUARDED_BY(mutex_) = false;
  std::unique_ptr<os::ThreadPool> pool_;
};

}  // namespace lava
