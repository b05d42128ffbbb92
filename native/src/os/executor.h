#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

namespace lava::os {

/// Which job goes first when threads are short.
enum class Priority : uint8_t { kFlush = 0, kL0Compaction = 1, kCompaction = 2, kGc = 3 };

/// Runs jobs of all instances. The only starter of threads outside tests.
/// Threads:    any thread may submit. Jobs never block on other jobs.
/// Ownership:  queued jobs are dropped (not run) on destruction, which waits for running ones.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void Submit(Priority priority, std::function<void()> job) = 0;
  /// Tries again to start threads that jobs wait for and the system refused; cheap. For whoever
  /// waits for a job, since no later Submit may come. Does nothing in an executor without threads.
  virtual void Poke() {}
  virtual uint32_t thread_count() const = 0;
  virtual void SetThreadCount(uint32_t count) = 0;

  /// Starts a thread. Errors: std::system_error when the system has none left.
  using ThreadStarter = std::function<std::thread(std::function<void()> body)>;
  /// Threads start with the first job and end after a while without jobs; all signals blocked.
  /// start: for tests; null: std::thread.
  static std::unique_ptr<Executor> ThreadPool(uint32_t count, ThreadStarter start = nullptr);
};

}  // namespace lava::os
