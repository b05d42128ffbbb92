// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

namespace lava::os {

/// Runs jobs in the order of their submission. Outside tests no other code starts threads.
/// Threads:    any thread may submit. Jobs never block on other jobs.
/// Ownership:  destruction drops queued jobs without running them, and waits for running jobs.
class ThreadPool {
 public:
  virtual ~ThreadPool() = default;
  /// Errors: std::bad_alloc; the job is then not queued. An exception that a job throws is ignored.
  virtual void Submit(std::function<void()> job) = 0;
  /// Retries starting threads that queued jobs need and the system refused; cheap.
  virtual void RetryThreads() = 0;
  virtual uint32_t thread_count() const = 0;
  virtual void SetThreadCount(uint32_t count) = 0;

  /// Starts a thread. Errors: std::system_error if the system has no thread left.
  using ThreadStarter = std::function<std::thread(std::function<void()> body)>;
  /// Makes a pool of at most count threads. Threads start when jobs need them and end after a while
  /// without jobs. They block all signals except those of faults.
  /// start: replaces std::thread in tests; may be null.
  static std::unique_ptr<ThreadPool> New(uint32_t count, ThreadStarter start = nullptr);
};

}  // namespace lava::os
