// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "process/wal_registry.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "base/guarded.h"
#include "base/mutex.h"
#include "base/run_in_background.h"
#include "base/shared_reference.h"
#include "fs/file_system.h"
#include "lava/status.h"
#include "lava/volume.h"
#include "log/lava_log.h"
#include "os/executor.h"

namespace lava {
namespace {

class Jobs : public os::Executor {
 public:
  explicit Jobs(const RunInBackground& run) : run_(run) {}
  void Submit(os::Priority, std::function<void()> job) override { run_(std::move(job)); }
  uint32_t thread_count() const override { return 1; }

 private:
  const RunInBackground& run_;
};

}  // namespace

std::list<WalRegistry::Opened>::iterator WalRegistry::Find(fs::FileSystem* file_system,
                                                           const std::string& directory) {
  return std::find_if(opened_.begin(), opened_.end(), [&](const Opened& opened) {
    return opened.file_system == file_system && opened.directory == directory;
  });
}

Result<std::shared_ptr<log::LavaLog>> WalRegistry::Open(fs::FileSystem* file_system,
                                                        std::shared_ptr<SharedVolume> keep,
                                                        const std::string& directory) {
  MutexLock lock(&mutex_);
  auto at = Find(file_system, directory);
  while (at != opened_.end() && at->busy) {
    changed_.Wait(&mutex_);
    at = Find(file_system, directory);
  }
  if (at != opened_.end()) return Share(&*at);
  Opened fresh;
  fresh.file_system = file_system;
  fresh.directory = directory;
  fresh.keep = std::move(keep);
  Opened* const opened = &opened_.emplace_back(std::move(fresh));
  lock.Unlock();
  // Other threads wait for the end of this call, so it must end even when memory is short.
  const Status status = Guarded("open the log in", directory, [&] { return OpenLog(opened); });
  lock.Lock();
  opened->busy = false;
  changed_.NotifyAll();
  if (status.ok()) return Share(opened);
  opened_.erase(Find(file_system, directory));
  return status;
}

Status WalRegistry::OpenLog(Opened* opened) {
  opened->jobs = std::make_unique<Jobs>(run_);
  log::LogOptions options;
  options.file_system = opened->file_system;
  options.directory = opened->directory;
  options.executor = opened->jobs.get();
  options.memory = memory_;
  LAVA_ASSIGN_OR_RETURN(opened->log, log::LavaLog::Open(options));
  return Status::OK();
}

std::shared_ptr<log::LavaLog> WalRegistry::Share(Opened* opened) {
  std::shared_ptr<log::LavaLog> shared =
      SharedReference(opened->log.get(), [this, opened] { Release(opened); });
  ++opened->references;
  return shared;
}

void WalRegistry::Release(Opened* opened) {
  std::shared_ptr<SharedVolume> keep;  // released without the mutex
  MutexLock lock(&mutex_);
  if (--opened->references > 0) return;
  opened->busy = true;
  lock.Unlock();
  // The next recovery reads what a failed Close() leaves. Nothing may be thrown here.
  (void)Tried([opened] { (void)opened->log->Close(); });
  opened->log.reset();
  lock.Lock();
  keep = std::move(opened->keep);
  opened_.remove_if([opened](const Opened& one) { return &one == opened; });
  changed_.NotifyAll();
}

}  // namespace lava
