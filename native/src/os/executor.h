#pragma once

#include <cstdint>
#include <functional>
#include <memory>

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
  virtual uint32_t thread_count() const = 0;
  virtual void SetThreadCount(uint32_t count) = 0;

  /// Threads start with the first job and end after a while without jobs; all signals blocked.
  static std::unique_ptr<Executor> ThreadPool(uint32_t count);
};

}  // namespace lava::os
