// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <sys/stat.h>

#include <filesystem>
#include <vector>

#include "bench/checked_calls.h"
#include "bench/fs/targets.h"
#include "bench/log/targets.h"
#include "fs/file_system.h"
#include "lavafs/lavafs_file_system.h"
#include "log/lava_log.h"
#include "os/executor.h"

namespace lava::bench {
namespace {

// Runs checkpoints and collections on a separate thread, as in a process with a host.
class OneThread : public os::Executor {
 public:
  void Submit(os::Priority, std::function<void()> job) override { pool_->Submit(std::move(job)); }
  uint32_t thread_count() const override { return 1; }

 private:
  const std::unique_ptr<os::ThreadPool> pool_ = os::ThreadPool::New(1);
};

class LavaLogTarget : public LogTarget {
 public:
  LavaLogTarget(const LogSetup& setup, bool on_lavafs) {
    log::LogOptions options;
    options.directory = setup.directory + "/log";
    options.file_system = fs::FileSystem::Posix();
    if (setup.collects) options.executor = &executor_;
    if (on_lavafs) {
      volume_ = std::make_unique<VolumeFiles>(
          setup.directory,
          VolumeSetup{.bytes = setup.volume_bytes, .warm = setup.warm, .format = setup.fresh});
      files_ = lavafs::NewLavaFileSystem(volume_->volume(), 256 << 10);
      options.file_system = files_.get();
      options.directory = "log";
    } else {
      std::filesystem::create_directories(setup.directory);
    }
    log_ = Must(log::LavaLog::Open(options));
    for (uint64_t n = 0; n < setup.logs; ++n) {
      const std::string name = "log-" + std::to_string(n);
      const Result<log::LogId> found = log_->Find(name);
      ids_.push_back(found.ok() ? *found : Must(log_->Create(name)));
    }
  }

  void Append(uint64_t log, uint64_t lsn, Slice data, bool sync) override {
    Check(log_->Append(ids_[log], lsn, data,
                       sync ? log::Durability::kSynced : log::Durability::kWritten));
  }
  void Read(uint64_t log, uint64_t lsn, std::string* data) override {
    Check(log_->Read(ids_[log], lsn, data));
  }
  uint64_t Scan(uint64_t log, uint64_t lsn, uint64_t count) override {
    const auto cursor = log_->NewCursor(ids_[log]);
    cursor->Seek(lsn);
    uint64_t bytes = 0, at = 0;
    Slice data;
    while (count-- > 0 && cursor->Next(&at, &data).ok()) bytes += data.size();
    return bytes;
  }
  void Trim(uint64_t log, uint64_t lsn) override {
    Check(log_->Trim(ids_[log], lsn, log::Durability::kWritten));
  }
  void Settle() override { Check(log_->Sync()); }
  void Kill() override { log_.reset(); }
  uint64_t index_bytes() override { return log_->statistics().index_bytes; }
  log::LavaLog* log() { return log_.get(); }

 private:
  OneThread executor_;
  std::unique_ptr<VolumeFiles> volume_;
  std::unique_ptr<fs::FileSystem> files_;
  std::unique_ptr<log::LavaLog> log_;
  std::vector<log::LogId> ids_;
};

}  // namespace

std::unique_ptr<LogTarget> NewLavaLogTarget(const LogSetup& setup, bool on_lavafs) {
  return std::make_unique<LavaLogTarget>(setup, on_lavafs);
}

Collected CollectOldest(LogTarget* lava) {
  log::LavaLog* const log = static_cast<LavaLogTarget*>(lava)->log();
  const log::LavaLog::Statistics before = log->statistics();
  Check(log->CollectOldest());
  const log::LavaLog::Statistics after = log->statistics();
  return {.file_bytes = before.data_file_bytes - after.data_file_bytes,
          .read = after.collected_bytes_read - before.collected_bytes_read,
          .moved = after.collected_bytes_moved - before.collected_bytes_moved};
}

}  // namespace lava::bench
