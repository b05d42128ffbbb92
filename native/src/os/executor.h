// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>

#include "os/pacer.h"

namespace lava::os {

/// Order in which jobs run when there are fewer threads than jobs.
enum class Priority : uint8_t { kFlush = 0, kL0Compaction = 1, kCompaction = 2, kCollection = 3 };
inline constexpr uint32_t kPriorities = 4;

/// Runs the background jobs of one instance; several executors may share the process's threads.
/// Threads:    any thread may submit. Jobs never block on other jobs.
/// Ownership:  destruction drops queued jobs without running them, and does not wait for running
///             jobs.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Errors: std::bad_alloc; the job is then not queued. An exception that a job throws is ignored.
  virtual void Submit(Priority priority, std::function<void()> job) = 0;
  /// Makes the queued and running jobs of a priority urgent, because a writer waits for them. Until
  /// they end, urgent jobs run before all other jobs of any priority, and the CPU budget only slows
  /// them.
  virtual void MakeUrgent(Priority) {}
  /// Retries starting threads that queued jobs need and the system refused; cheap. A thread that
  /// waits for a job calls this, because no later Submit may follow. Does nothing in an executor
  /// without threads.
  virtual void RetryThreads() {}
  virtual uint32_t thread_count() const = 0;
  /// The pacer that jobs of this executor call while they work; valid while they run. May be null.
  virtual Pacer* pacer() { return nullptr; }
};

}  // namespace lava::os
