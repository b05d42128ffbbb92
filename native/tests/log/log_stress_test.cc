// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "testing/chosen_file_system.h"
#include "testing/count.h"
#include "testing/random.h"
#include "testing/variable.h"
#include "tests/log/log_history.h"

// Writers of several logical logs, readers, trims, checkpoints and collections run concurrently;
// then the log is opened again, sometimes as after a kill.
//   LAVA_TEST_SEED, LAVA_TEST_RUNS
namespace lava::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kRuns = 40;
#else
constexpr uint64_t kRuns = 200;
#endif
constexpr int kWriters = 4;
constexpr uint64_t kRecords = 150;

std::string DataOf(int writer, uint64_t lsn) {
  return std::to_string(writer) + "/" + std::to_string(lsn) + std::string(lsn * 7 % 60, 'd');
}

class StressedLog {
 public:
  explicit StressedLog(uint64_t seed) : seed_(seed), options_(DrawLogOptions(seed)) {
    options_.file_system = &files_;
    files_.SetRemovedFilesReadable(false);
    auto log = log::LavaLog::Open(options_);
    EXPECT_TRUE(log.ok()) << log.status().ToString();
    log_ = std::move(*log);
    for (int i = 0; i < kWriters; ++i)
      ids_.push_back(*log_->Create(LogName(static_cast<uint32_t>(i))));
  }

  void Run() {
    std::vector<std::thread> threads;
    for (int i = 0; i < kWriters; ++i) threads.emplace_back([this, i] { Write(i); });
    threads.emplace_back([this] { ReadAll(); });
    threads.emplace_back([this] { Maintain(); });
    for (int i = 0; i < kWriters; ++i) threads[static_cast<size_t>(i)].join();
    done_ = true;
    threads[kWriters].join();
    threads[kWriters + 1].join();
    if (seed_ % 3 == 0) {
      const Status closed = log_->Close();
      ASSERT_TRUE(closed.ok()) << closed.ToString();
    }
    log_.reset();
    auto log = log::LavaLog::Open(options_);
    ASSERT_TRUE(log.ok()) << "seed " << seed_ << ": " << log.status().ToString();
    log_ = std::move(*log);
    for (int i = 0; i < kWriters; ++i) CheckAll(i);
  }

 private:
  void Write(int writer) {
    Random random(seed_ * 100 + static_cast<uint64_t>(writer));
    const log::LogId id = ids_[static_cast<size_t>(writer)];
    std::vector<uint64_t> late;
    for (uint64_t lsn = 1; lsn <= kRecords; ++lsn) {
      if (random.OneIn(10)) {
        late.push_back(lsn);
        continue;
      }
      Append(writer, id, lsn, &random);
      if (!late.empty() && random.OneIn(6)) {
        Append(writer, id, late.back(), &random);
        late.pop_back();
      }
      if (random.OneIn(25)) {
        const uint64_t to = lsn / 2;
        std::erase_if(late, [to](uint64_t l) { return l < to; });
        ASSERT_TRUE(log_->Trim(id, to, log::Durability::kWritten).ok());
        trimmed_[writer] = std::max<uint64_t>(trimmed_[writer], to);
      }
    }
    for (const uint64_t lsn : late) Append(writer, id, lsn, &random);
  }

  void Append(int writer, log::LogId id, uint64_t lsn, Random* random) {
    const auto durability = random->OneIn(2) ? log::Durability::kSynced : log::Durability::kWritten;
    const Status status = log_->Append(id, lsn, DataOf(writer, lsn), durability);
    ASSERT_TRUE(status.ok()) << "seed " << seed_ << ": " << status.ToString();
    std::string read;
    const Status found = log_->Read(id, lsn, &read);
    ASSERT_TRUE(found.ok()) << "seed " << seed_ << " LSN " << lsn << ": " << found.ToString();
    ASSERT_EQ(read, DataOf(writer, lsn));
  }

  void ReadAll() {
    while (!done_) {
      for (int i = 0; i < kWriters; ++i) {
        const auto cursor = log_->NewCursor(ids_[static_cast<size_t>(i)]);
        cursor->Seek(0);
        uint64_t lsn = 0;
        Slice data;
        Status status = cursor->Next(&lsn, &data);
        for (; status.ok(); status = cursor->Next(&lsn, &data)) {
          ASSERT_EQ(std::string(data), DataOf(i, lsn));
        }
        ASSERT_TRUE(status.IsNotFound()) << "seed " << seed_ << ": " << status.ToString();
      }
      (void)log_->statistics();
    }
  }

  void Maintain() {
    Random random(seed_);
    while (!done_) {
      const Status status = random.OneIn(3)   ? log_->Checkpoint()
                            : random.OneIn(2) ? log_->CollectOldest()
                                              : log_->Maintain();
      ASSERT_TRUE(status.ok() || status.IsNotFound()) << "seed " << seed_ << status.ToString();
      std::this_thread::yield();
    }
  }

  void CheckAll(int writer) {
    const log::LogId id = ids_[static_cast<size_t>(writer)];
    for (uint64_t lsn = std::max<uint64_t>(1, trimmed_[writer]); lsn <= kRecords; ++lsn) {
      std::string read;
      const Status status = log_->Read(id, lsn, &read);
      ASSERT_TRUE(status.ok()) << "seed " << seed_ << ", log " << writer << " LSN " << lsn << ": "
                               << status.ToString();
      ASSERT_EQ(read, DataOf(writer, lsn));
    }
  }

  const uint64_t seed_;
  ChosenFileSystem files_;
  log::LogOptions options_;
  std::unique_ptr<log::LavaLog> log_;
  std::vector<log::LogId> ids_;
  uint64_t trimmed_[kWriters] = {};
  std::atomic<bool> done_{false};
};

TEST(LogStress, AllBesideEachOther) {
  const uint64_t first = Variable("LAVA_TEST_SEED", 1), runs = Variable("LAVA_TEST_RUNS", kRuns);
  for (uint64_t seed = first; seed < first + runs && !HasFailure(); ++seed) {
    StressedLog(seed).Run();
  }
  Count(runs, "interleaved runs of a log");
}

}  // namespace
}  // namespace lava::testing
