#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

namespace lava::os {

/// Runs jobs in the order of their submission. The only starter of threads outside tests.
/// Threads:    any thread may submit. Jobs never block on other jobs.
/// Ownership:  queued jobs are dropped (not run) on destruction, which waits for running ones.
class ThreadPool {
 public:
  virtual ~ThreadPool() = default;
  /// Errors: std::bad_alloc; the job is not queued then. One that throws has no other effect.
  virtual void Submit(std::function<void()> job) = 0;
  /// Tries again to start threads that jobs wait for and the system refused; cheap.
  virtual void Poke() = 0;
  virtual uint32_t thread_count() const = 0;
  virtual void SetThreadCount(uint32_t count) = 0;

  /// Starts a thread. Errors: std::system_error when the system has none left.
  using ThreadStarter = std::function<std::thread(std::function<void()> body)>;
  /// Threads start with the first job and end after a while without jobs; all signals blocked.
  /// start: for tests; null: std::thread.
  static std::unique_ptr<ThreadPool> New(uint32_t count, ThreadStarter start = nullptr);
};

}  // namespace lava::os
