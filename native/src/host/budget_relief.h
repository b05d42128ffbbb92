#pragma once

#include <functional>
#include <memory>

#include "base/mutex.h"
#include "os/thread_pool.h"

namespace lava {

/// Gives back, step by step, what a budget that has become smaller does not have any more: what is
/// pinned or has to be written first cannot be given back at once, and nobody may come by when it
/// can. A thread of its own, there only meanwhile, since it sleeps: background threads must not.
/// Threads:    any thread.
/// Ownership:  destruction waits for a step that runs.
class BudgetRelief {
 public:
  /// step gives back what it can, and says whether nothing is left to do; called without a lock.
  explicit BudgetRelief(std::function<bool()> step);
  ~BudgetRelief();
  /// Steps are made from now on: soon, then less and less often, each second at last. False when
  /// there is no memory for that: whoever asks next starts it.
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
