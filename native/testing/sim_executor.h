#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "os/executor.h"
#include "testing/random.h"

namespace lava::testing {

/// Jobs wait until the test runs them, on its own thread, in an order that the seed decides: the
/// same seed gives the same history.
/// Threads:    any may submit; one runs.
/// Ownership:  jobs that were not run are dropped on destruction.
class SimExecutor : public os::Executor {
 public:
  enum class Order : uint8_t { kRandom, kPriority };  // kPriority: as the scheduler with one thread
  explicit SimExecutor(uint64_t seed, Order order = Order::kRandom)
      : random_(seed), order_(order) {}

  void Submit(os::Priority priority, std::function<void()> job) override;
  void Urge(os::Priority priority) override;
  uint32_t thread_count() const override;
  void SetThreadCount(uint32_t count);

  /// Runs one queued job; false when there is none.
  bool RunOne();
  /// Runs the oldest queued job of a priority; false when there is none.
  bool RunOne(os::Priority priority);
  /// Runs jobs, also those that they submit, until none is queued or jobs_max have run.
  /// Returns how many ran.
  uint64_t RunUntilIdle(uint64_t jobs_max = 1'000'000);
  /// Forgets queued jobs, as destruction does.
  uint64_t DropAll();
  uint64_t pending() const;
  /// Queued jobs that somebody waits for.
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
  std::vector<Job> jobs_;  // in the order of their submission
  uint64_t jobs_run_ = 0;
  uint32_t thread_count_ = 1;
};

}  // namespace lava::testing
