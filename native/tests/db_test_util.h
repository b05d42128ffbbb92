// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/environment.h"
#include "lava/db.h"
#include "lava/list_format.h"
#include "testing/chosen_file_system.h"
#include "testing/model.h"
#include "testing/sim_executor.h"
#include "testing/test_clock.h"

#define ASSERT_OK(expr)                                    \
  do {                                                     \
    const ::lava::Status ok_status_ = (expr);              \
    ASSERT_TRUE(ok_status_.ok()) << ok_status_.ToString(); \
  } while (false)
#define EXPECT_OK(expr)                                    \
  do {                                                     \
    const ::lava::Status ok_status_ = (expr);              \
    EXPECT_TRUE(ok_status_.ok()) << ok_status_.ToString(); \
  } while (false)

namespace lava::testing {

/// For separate threads: repeats a call while it is Busy.
template <typename Call>
void UntilDone(Call call) {
  Status status;
  do {
    status = call();
  } while (status.IsBusy());
  ASSERT_OK(status);
}

/// One instance in a given file system, or in its own one in memory. Its background jobs run when
/// the test requests it.
class SimDB {
 public:
  explicit SimDB(uint64_t seed, fs::FileSystem* file_system = nullptr)
      : executor_(seed), file_system_(file_system) {
    if (file_system_ == nullptr) file_system_ = &memory_.emplace();
    auto lease = Host::Get().Acquire(64 << 20, 0.5);
    EXPECT_OK(lease.status());
    options_.lease = *lease;
    options_.file_system = file_system_;
    options_.partition_first = 0;
    options_.partition_last = 15;
  }
  ~SimDB() {
    db_.reset();
    executor_.DropAll();
  }

  DBOptions& options() { return options_; }
  SimExecutor& executor() { return executor_; }
  CrashableFileSystem& memory() { return memory_.value(); }
  TestClock& clock() { return clock_; }
  DBEnvironment& environment() { return environment_; }
  DB* operator->() { return db_.get(); }
  DB* get() { return db_.get(); }

  Status Open(std::span<const ImportSource> imports = {}, const std::string& path = "/db") {
    db_.reset();
    tables_.clear();
    path_ = path;
    environment_.executor = &executor_;
    environment_.clock = &clock_;
    environment_.wait_ms_max = 0;
    Result<std::unique_ptr<DB>> db = OpenDB(options_, path, imports, environment_);
    if (!db.ok()) return std::move(db).status();
    db_ = std::move(db).value();
    return Status::OK();
  }
  void CloseDB() {
    db_.reset();
    tables_.clear();
  }

  Table* table(const std::string& name, TableKind kind = TableKind::kMap) {
    Table*& table = tables_[name];
    if (table == nullptr) {
      Result<Table*> created = db_->CreateTable(name, {.kind = kind});
      EXPECT_OK(created.status());
      if (created.ok()) table = *created;
    }
    return table;
  }

  /// Forgets a dropped table: table() creates it again.
  void Forget(const std::string& name) { tables_.erase(name); }

  /// Runs all jobs; repeats call while it is Busy.
  template <typename Call>
  Status Finish(Call call) {
    for (int i = 0; i < 1000; ++i) {
      const Status status = call();
      if (!status.IsBusy()) return status;
      LAVA_RETURN_IF_ERROR(RunJobs());
      clock_.Advance(10);
    }
    return Status::IOError("busy for ever");
  }
  /// Fails if jobs are submitted endlessly, as happens when a result is never installed.
  Status RunJobs() {
    constexpr uint64_t kJobsMax = 20'000;  // far more than necessary
    return executor_.RunUntilIdle(kJobsMax) < kJobsMax ? Status::OK()
                                                       : Status::IOError("jobs without end");
  }
  Status Flush() {
    return Finish([this, flush = FlushTicket()]() mutable { return db_->Flush(0, &flush); });
  }
  Status CompactAll() {
    uint64_t ticket = 0;
    return Finish([&] { return db_->CompactAll(0, &ticket); });
  }
  Status FlushSnapshot(Snapshot* snapshot) {
    return Finish([snapshot] { return snapshot->WaitFlushed(0); });
  }

  /// Returns "NotFound" for an absent key.
  std::string Get(Table* table, const std::string& key, uint32_t prefix_bytes = 0,
                  Snapshot* snapshot = nullptr) {
    PinnedValue value;
    const Status status = db_->Get(table, {key, prefix_bytes}, &value, snapshot);
    return status.ok() ? std::string(value.data()) : status.ToString();
  }
  /// All entries of a scan, read in pages.
  Status ScanAll(Table* table, ScanRequest request, std::vector<Model::Entry>* entries,
                 Snapshot* snapshot = nullptr) {
    std::string from(request.lower);
    ScanPage page;
    for (int pages = 0; pages < 100000; ++pages) {
      request.lower = from;
      LAVA_RETURN_IF_ERROR(db_->Scan(table, request, &page, snapshot));
      LAVA_RETURN_IF_ERROR(ParsePage(page, entries));
      if (page.done) return Status::OK();
      if (page.entries == 0) continue;
      from = page.last_key;
      request.lower_exclusive = true;
    }
    return Status::IOError("a scan without an end");
  }
  std::vector<std::string> FileNames() {
    std::vector<std::string> names;
    for (const std::string& path : memory().Paths())
      if (path.ends_with(".ksst")) names.push_back(path.substr(path.rfind('/') + 1));
    return names;
  }

 private:
  std::optional<ChosenFileSystem> memory_;
  SimExecutor executor_;
  TestClock clock_;
  DBEnvironment environment_;
  fs::FileSystem* file_system_;
  DBOptions options_;
  std::string path_;
  std::unique_ptr<DB> db_;
  std::map<std::string, Table*> tables_;
};

/// A key in a partition.
inline std::string K(int partition, std::string_view rest) {
  return std::string(1, static_cast<char>(partition)) + std::string(rest);
}
/// A list's value of these elements.
inline std::string ListOf(std::initializer_list<std::string_view> elements) {
  std::string value;
  for (std::string_view element : elements)
    AppendListSegment(ListSegment::kElement, element, &value);
  return value;
}

}  // namespace lava::testing
