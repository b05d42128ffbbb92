#pragma once

#include <cstdint>
#include <functional>

#include "os/pacer.h"

namespace lava::os {

/// Which job goes first when threads are short.
enum class Priority : uint8_t { kFlush = 0, kL0Compaction = 1, kCompaction = 2, kGc = 3 };
inline constexpr uint32_t kPriorities = 4;

/// Runs the jobs of an instance, as its part of what runs those of all.
/// Threads:    any thread may submit. Jobs never block on other jobs.
/// Ownership:  queued jobs are dropped (not run) on destruction, which does not wait for those that
///             run.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Errors: std::bad_alloc; the job is not queued then. One that throws has no other effect.
  virtual void Submit(Priority priority, std::function<void()> job) = 0;
  /// Somebody waits for the jobs of a priority that are queued or run now: until they have ended
  /// they go before all that nobody waits for, of any priority, and the CPU budget only slows them.
  virtual void Urge(Priority) {}
  /// Tries again to start threads that jobs wait for and the system refused; cheap. For whoever
  /// waits for a job, since no later Submit may come. Does nothing in an executor without threads.
  virtual void Poke() {}
  virtual uint32_t thread_count() const = 0;
  /// For jobs that run here, to call as they work; valid as long as they run. May be null.
  virtual Pacer* pacer() { return nullptr; }
};

}  // namespace lava::os
