// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "log/lava_log.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "testing/chosen_file_system.h"
#include "testing/fault_file_system.h"
#include "testing/mem_file_system.h"
#include "testing/random.h"
#include "testing/sim_executor.h"

namespace lava::log {
namespace {

constexpr const char* kDirectory = "/log";

class LavaLogTest : public ::testing::Test {
 protected:
  LavaLogTest() {
    options_.file_system = &files_;
    options_.memory = &memory_;
  }
  ~LavaLogTest() override {
    log_.reset();
    EXPECT_EQ(memory_.used(), 0u);
  }

  void Open() {
    log_.reset();
    Result<std::unique_ptr<LavaLog>> log = LavaLog::Open(options_);
    ASSERT_TRUE(log.ok()) << log.status().ToString();
    log_ = std::move(log).value();
  }
  void SetUp() override {
    options_.directory = kDirectory;
    Open();
  }
  LogId Create(const std::string& name) {
    Result<LogId> id = log_->Create(name);
    EXPECT_TRUE(id.ok()) << id.status().ToString();
    return id.ok() ? *id : 0;
  }
  void Append(LogId id, uint64_t lsn, const std::string& data) {
    const Status status = log_->Append(id, lsn, data, Durability::kWritten);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  std::string Read(LogId id, uint64_t lsn) {
    std::string data;
    const Status status = log_->Read(id, lsn, &data);
    return status.ok() ? data : status.ToString();
  }
  std::map<uint64_t, std::string> Scan(LogId id, uint64_t from = 0) {
    std::map<uint64_t, std::string> found;
    const auto cursor = log_->NewCursor(id);
    cursor->Seek(from);
    uint64_t lsn = 0;
    Slice data;
    Status status = cursor->Next(&lsn, &data);
    for (; status.ok(); status = cursor->Next(&lsn, &data)) {
      EXPECT_TRUE(found.empty() || found.rbegin()->first < lsn);
      found[lsn] = std::string(data);
    }
    EXPECT_TRUE(status.IsNotFound()) << status.ToString();
    return found;
  }

  testing::MemFileSystem files_;
  MemoryCounter memory_;
  LogOptions options_;
  std::unique_ptr<LavaLog> log_;
};

TEST_F(LavaLogTest, AppendsReadsTrimsAndDeletes) {
  const LogId a = Create("a"), b = Create("b");
  EXPECT_TRUE(log_->Create("a").status().IsInvalidArgument());
  Append(a, 1, "one");
  Append(b, 1, "another");
  Append(a, 5, "five");
  Append(a, 3, "late");
  EXPECT_EQ(Read(a, 1), "one");
  EXPECT_EQ(Read(a, 3), "late");
  EXPECT_EQ(Read(b, 1), "another");
  EXPECT_EQ(Read(a, 2), "NotFound");
  EXPECT_TRUE(log_->Append(a, 3, "again", Durability::kSynced).IsInvalidArgument());
  EXPECT_EQ(Scan(a), (std::map<uint64_t, std::string>{{1, "one"}, {3, "late"}, {5, "five"}}));
  EXPECT_EQ(Scan(a, 2), (std::map<uint64_t, std::string>{{3, "late"}, {5, "five"}}));
  ASSERT_TRUE(log_->Trim(a, 3, Durability::kWritten).ok());
  EXPECT_EQ(Read(a, 1), "NotFound");
  EXPECT_TRUE(log_->Append(a, 2, "x", Durability::kWritten).IsInvalidArgument());
  EXPECT_EQ(Scan(a), (std::map<uint64_t, std::string>{{3, "late"}, {5, "five"}}));
  ASSERT_TRUE(log_->Delete(b).ok());
  std::string data;
  EXPECT_TRUE(log_->Read(b, 1, &data).IsNotFound());
  EXPECT_TRUE(log_->Append(b, 2, "x", Durability::kWritten).IsNotFound());
  for (int restart = 0; restart < 3; ++restart) {
    Open();
    EXPECT_EQ(*log_->Find("a"), a);
    EXPECT_TRUE(log_->Find("b").status().IsNotFound());
    EXPECT_EQ(Scan(a), (std::map<uint64_t, std::string>{{3, "late"}, {5, "five"}}));
    EXPECT_TRUE(log_->Append(a, 2, "x", Durability::kWritten).IsInvalidArgument());
  }
  EXPECT_NE(Create("b"), b);
}

// Removes the newest data file and opens the log again.
TEST_F(LavaLogTest, TheNumberOfARemovedFileIsNotUsedAgain) {
  options_.file_bytes = 1;
  Open();
  const LogId a = Create("a");
  ASSERT_TRUE(log_->Checkpoint().ok());
  Append(a, 1, "old");
  Append(a, 2, "old");
  ASSERT_TRUE(log_->Trim(a, 3, Durability::kSynced).ok());
  ASSERT_TRUE(log_->CollectOldest().ok());
  ASSERT_TRUE(log_->CollectOldest().ok());
  ASSERT_EQ(log_->statistics().data_files, 0u);
  Open();
  Append(a, 3, "new");
  for (int restart = 0; restart < 2; ++restart) {
    Open();
    EXPECT_EQ(Read(a, 3), "new");
  }
}

// Happens when the process has no file descriptor left for a moment.
TEST_F(LavaLogTest, AFileThatCannotBeOpenedToBeSyncedFailsOneWriteAlone) {
  testing::FaultFileSystem faults(&files_);
  options_.file_system = &faults;
  Open();
  const LogId a = Create("a");
  Append(a, 1, "before");
  // The written part of a file with a failed write must be synced before another file begins.
  faults.Arm({.fault = testing::Fault::kShortWrite, .only = testing::FileCall::kAppend});
  const auto append = [&](uint64_t lsn) {
    return log_->Append(a, lsn, "refused", Durability::kSynced);
  };
  EXPECT_FALSE(append(2).ok());
  faults.Arm({.fault = testing::Fault::kNotOpened, .only = testing::FileCall::kSyncFile});
  EXPECT_TRUE(append(2).IsIOError());
  EXPECT_EQ(faults.fired(), 1u);
  Append(a, 3, "after");
  EXPECT_TRUE(log_->Sync().ok());
  ASSERT_NO_FATAL_FAILURE(Open());
  EXPECT_EQ(Read(a, 1), "before");
  EXPECT_EQ(Read(a, 3), "after");
  log_.reset();
}

// Covers a host without threads, and one that runs the job late.
TEST_F(LavaLogTest, MaintenanceRunsAtOnceOrLater) {
  testing::SimExecutor later(1);
  struct AtOnce : os::Executor {
    void Submit(os::Priority, std::function<void()> job) override {
      ++jobs;
      job();
    }
    uint32_t thread_count() const override { return 1; }
    int jobs = 0;
  } at_once;
  options_.checkpoint_bytes = options_.file_bytes = 2000;
  for (os::Executor* const executor :
       {static_cast<os::Executor*>(&at_once), static_cast<os::Executor*>(&later)}) {
    options_.executor = executor;
    Open();
    const LogId id = Create(executor == &later ? "later" : "at once");
    for (uint64_t lsn = 1; lsn <= 100; ++lsn) {
      Append(id, lsn, std::string(100, 'x'));
      if (lsn % 20 == 0) {
        ASSERT_TRUE(log_->Trim(id, lsn, Durability::kWritten).ok());
      }
    }
    if (executor == &later) {
      EXPECT_EQ(later.pending(), 1u) << "there must be only one job, however much work there is";
      later.RunUntilIdle();
    }
    const LavaLog::Statistics statistics = log_->statistics();
    EXPECT_GT(statistics.checkpoints, 0u);
    EXPECT_GT(statistics.collections, 0u);
    EXPECT_LT(statistics.data_files, 4u);
    ASSERT_TRUE(log_->Close().ok());
    log_.reset();
    later.DropAll();
  }
  EXPECT_GT(at_once.jobs, 1);
  options_.executor = nullptr;
  Open();
  EXPECT_EQ(Read(*log_->Find("later"), 100), std::string(100, 'x'));
}

// The correct answers of all calls.
struct Model {
  struct OfLog {
    std::string name;
    uint64_t trimmed_to = 0, last = 0;
    std::map<uint64_t, std::string> records;
  };
  std::map<LogId, OfLog> logs;
};

class LavaLogHistory : public LavaLogTest, public ::testing::WithParamInterface<uint64_t> {
 protected:
  LogId AnyLog(testing::Random* random) {
    auto at = model_.logs.begin();
    std::advance(at, random->Uniform(model_.logs.size()));
    return at->first;
  }
  void Check(LogId id) { EXPECT_EQ(Scan(id), model_.logs[id].records) << "log " << id; }
  void CheckAll() {
    for (const auto& [id, of_log] : model_.logs) {
      EXPECT_EQ(*log_->Find(of_log.name), id);
      Check(id);
    }
    EXPECT_EQ(log_->List().size(), model_.logs.size());
  }
  Model model_;
};

TEST_P(LavaLogHistory, AnswersAsAModel) {
  testing::Random random(GetParam());
  options_.file_bytes = 1u << random.Between(12, 17);
  options_.checkpoint_bytes = 1u << random.Between(12, 18);
  options_.direct_entries = static_cast<uint32_t>(random.Between(0, 300));
  options_.garbage_percent = static_cast<uint32_t>(random.Between(10, 90));
  Open();
  int names = 0;
  for (int i = 0; i < 4000; ++i) {
    const uint64_t what = random.Uniform(1000);
    if (model_.logs.empty() || what < 5) {
      const std::string name = "log " + std::to_string(names++);
      model_.logs[Create(name)].name = name;
    } else if (what < 850) {
      const LogId id = AnyLog(&random);
      Model::OfLog& of_log = model_.logs[id];
      uint64_t lsn = std::max(of_log.last, of_log.trimmed_to) + random.Between(1, 3);
      if (random.Uniform(10) == 0 && of_log.last > 1) {
        lsn = of_log.last - random.Uniform(std::min<uint64_t>(of_log.last, 2000));
      }
      const std::string data(random.Uniform(300), static_cast<char>('a' + random.Uniform(26)));
      const Status status = log_->Append(id, lsn, data, Durability::kWritten);
      const bool may = lsn >= of_log.trimmed_to && of_log.records.count(lsn) == 0;
      ASSERT_EQ(status.ok(), may) << status.ToString() << " LSN " << lsn;
      if (may) {
        of_log.records[lsn] = data;
        of_log.last = std::max(of_log.last, lsn);
      }
    } else if (what < 880) {
      const LogId id = AnyLog(&random);
      Model::OfLog& of_log = model_.logs[id];
      const uint64_t to = of_log.trimmed_to + random.Uniform(of_log.last + 2);
      ASSERT_TRUE(log_->Trim(id, to, Durability::kWritten).ok());
      of_log.trimmed_to = std::max(of_log.trimmed_to, to);
      of_log.records.erase(of_log.records.begin(), of_log.records.lower_bound(to));
    } else if (what < 884) {
      const LogId id = AnyLog(&random);
      ASSERT_TRUE(log_->Delete(id).ok());
      model_.logs.erase(id);
    } else if (what < 940) {
      const LogId id = AnyLog(&random);
      const Model::OfLog& of_log = model_.logs[id];
      const uint64_t lsn = random.Uniform(of_log.last + 2);
      const auto at = of_log.records.find(lsn);
      EXPECT_EQ(Read(id, lsn), at == of_log.records.end() ? "NotFound" : at->second);
    } else if (what < 960) {
      Check(AnyLog(&random));
    } else if (what < 970) {
      ASSERT_TRUE(log_->Checkpoint().ok());
    } else if (what < 980) {
      ASSERT_TRUE(log_->Maintain().ok());
    } else if (what < 990) {
      const Status status = log_->CollectOldest();
      ASSERT_TRUE(status.ok() || status.IsNotFound()) << status.ToString();
    } else {
      Open();
      if (HasFatalFailure()) return;
      CheckAll();
    }
    if (HasFailure()) FAIL() << "at operation " << i;
  }
  CheckAll();
  EXPECT_EQ(memory_.used(), log_->statistics().index_bytes);
  const LavaLog::Statistics statistics = log_->statistics();
  uint64_t live = 0;
  for (const auto& [id, of_log] : model_.logs) {
    for (const auto& [lsn, data] : of_log.records) live += data.size();
  }
  EXPECT_GE(statistics.live_bytes, live);
}

INSTANTIATE_TEST_SUITE_P(Seeds, LavaLogHistory, ::testing::Range<uint64_t>(1, 41));

}  // namespace
}  // namespace lava::log
