// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "os/executor.h"
#include "testing/random.h"

namespace lava::testing {

/// Runs jobs when the test asks for it, on the test's thread, in an order determined by the seed:
/// the same seed gives the same history.
/// Threads:    any thread may submit; one runs.
/// Ownership:  the destructor drops jobs that were not run.
class SimExecutor : public os::Executor {
 public:
  enum class Order : uint8_t { kRandom, kPriority };  // kPriority: as the scheduler with one thread
  explicit SimExecutor(uint64_t seed, Order order = Order::kRandom)
      : random_(seed), order_(order) {}

  void Submit(os::Priority priority, std::function<void()> job) override;
  void MakeUrgent(os::Priority priority) override;
  uint32_t thread_count() const override;
  void SetThreadCount(uint32_t count);

  /// Runs one queued job. False if there is none.
  bool RunOne();
  /// Runs the oldest queued job of a priority. False if there is none.
  bool RunOne(os::Priority priority);
  /// Runs jobs, including newly submitted ones, until none is queued or jobs_max have run.
  /// Returns the number of jobs run.
  uint64_t RunUntilIdle(uint64_t jobs_max = 1'000'000);
  /// Drops queued jobs, as the destructor does. Returns their number.
  uint64_t DropAll();
  uint64_t pending() const;
  /// Queued jobs that were urged because a writer waits for them.
  uint64_t pending_urgent() const;
  uint64_t jobs_run() const;

 private:
  struct Job {
    os::Priority priority;
    std::function<void()> run;
    bool urgent = false;
  };

  mutable std::mutex mutex_;
  Random random_;
  const Order order_;
  std::vector<Job> jobs_;  // in the order of submission
  uint64_t jobs_run_ = 0;
  uint32_t thread_count_ = 1;
};

}  // namespace lava::testing
