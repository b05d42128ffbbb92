// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "db/components.h"
#include "lava/host.h"
#include "testing/chosen_file_system.h"
#include "testing/fault_file_system.h"
#include "testing/recording_listener.h"
#include "testing/test_clock.h"

namespace lava::testing {

/// Keeps submitted jobs until the test runs them, in any order.
/// Threads:    one.
class HeldJobs final : public os::Executor {
 public:
  void Submit(os::Priority priority, std::function<void()> job) override {
    if (refuses_) throw std::bad_alloc();
    jobs_.push_back({priority, std::move(job)});
  }
  void MakeUrgent(os::Priority) override { ++made_urgent_; }
  void RetryThreads() override { ++thread_retries_; }
  uint32_t thread_count() const override { return 1; }

  /// Makes Submit() throw std::bad_alloc, or work again.
  void Refuse(bool refuses) { refuses_ = refuses; }
  size_t size() const { return jobs_.size(); }
  os::Priority PriorityOf(size_t index) const { return jobs_[index].priority; }
  /// Runs one job. index: position in the order of submission, among the jobs that have not run.
  void Run(size_t index = 0) {
    ASSERT_LT(index, jobs_.size());
    const std::function<void()> job = std::move(jobs_[index].run);
    jobs_.erase(jobs_.begin() + static_cast<ptrdiff_t>(index));
    job();
  }
  void RunAll() {
    while (!jobs_.empty()) Run();
  }
  int made_urgent() const { return made_urgent_; }
  int thread_retries() const { return thread_retries_; }

 private:
  struct Job {
    os::Priority priority;
    std::function<void()> run;
  };
  std::deque<Job> jobs_;
  bool refuses_ = false;
  int made_urgent_ = 0, thread_retries_ = 0;
};

/// The part of the process that the components of an instance need.
struct ProcessForTest {
  static constexpr uint64_t kLeaseBytes = 64 << 20;
  static constexpr uint64_t kRetryMs = 50;  // the wait after the first failure

  ChosenFileSystem memory;
  FaultFileSystem files{&memory};
  TestClock clock;
  HeldJobs held;
  const std::shared_ptr<RecordingListener> listener = std::make_shared<RecordingListener>();

 protected:
  DBOptions MakeOptions(const std::function<void(DBOptions*)>& change) {
    DBOptions options;
    options.partition_bytes = 1;
    options.partition_first = 0;
    options.partition_last = 1;
    options.file_system = &files;
    options.listeners = {listener};
    Result<std::shared_ptr<Lease>> lease = Host::Get().Acquire(kLeaseBytes, 0.5);
    EXPECT_TRUE(lease.ok()) << lease.status().ToString();
    options.lease = *lease;
    if (change) change(&options);
    return options;
  }
  DBEnvironment MakeEnvironment() {
    DBEnvironment environment;
    environment.executor = &held;
    environment.clock = &clock;
    environment.retry_us_min = environment.retry_us_max = kRetryMs * 1000;
    return environment;
  }
};

/// The components of an instance in a file system in memory, for tests of this folder. No job is
/// planned, and jobs run only when the test runs them.
/// Threads:    one, unless the test starts more.
struct ComponentsForTest : ProcessForTest, Components {
  static constexpr const char* kPath = "/db";

  explicit ComponentsForTest(const std::function<void(DBOptions*)>& change = {})
      : Components(MakeOptions(change), kPath, MakeEnvironment(), nullptr) {
    plan_jobs = [this] { ++planned; };
    EXPECT_TRUE(memory.CreateDurableDirectory(kPath).ok());
    EXPECT_TRUE(instance.Open().ok());
  }
  ~ComponentsForTest() {
    held.RunAll();
    MutexLock install(tree.versions.install_mutex());
    MutexLock state(tree.mutex());
    tree.HideView();
    tree.versions.Close();
    tree.Clear();
    instance.Close();
  }

  /// Creates a manifest, and an empty memtable that readers see.
  void Begin() {
    MutexLock install(tree.versions.install_mutex());
    tree.versions.StartFresh();
    VersionEdit first;
    first.partition_bytes = instance.options.partition_bytes;
    tree.versions.DrawOrigin(&first);
    ASSERT_TRUE(tree.versions.Begin(first).ok());
    active = NewMemTable();
    MutexLock state(tree.mutex());
    tree.Begin(active);
  }

  std::shared_ptr<MemTable> NewMemTable() {
    return MemTable::Create(instance.budget.counter(MemoryPurpose::kMemtables));
  }
  static std::string KeyOf(std::string_view rest) { return TableStart(0, 1, kTable).append(rest); }
  /// Puts a value under this key, and seals the active memtable.
  std::shared_ptr<SealedRun> Seal(std::string_view key, Slice value = "value") {
    active->Put(KeyOf(key), 0, value);
    return SealActive();
  }
  std::shared_ptr<SealedRun> SealActive() {
    auto run = std::make_shared<SealedRun>();
    MutexLock state(tree.mutex());
    TreeState::PreparedSeal prepared = tree.PrepareSeal(run, NewMemTable());
    active->Seal();
    run->memtable = std::exchange(active, prepared.next);
    tree.Seal(std::move(prepared));
    return run;
  }

  /// Creates a key file with meaningless content on storage. No test reads it.
  std::shared_ptr<FileMeta> NewFile(std::string lower = "a", std::string upper = "b") {
    auto file = std::make_shared<FileMeta>();
    file->id = tree.versions.NewFileId();
    file->bytes = 10;
    file->records = 1;
    file->lower = std::move(lower);
    file->upper = std::move(upper);
    EXPECT_TRUE(memory.SetContent(PathOf(file->id.FileName()), "0123456789").ok());
    return file;
  }
  static VersionEdit Adding(const std::shared_ptr<FileMeta>& file) {
    VersionEdit edit;
    edit.Add(0, {file, file->lower, file->upper});
    return edit;
  }
  static VersionEdit Removing(const std::shared_ptr<FileMeta>& file) {
    VersionEdit edit;
    edit.Remove(0, {file, file->lower, file->upper});
    return edit;
  }
  Status Log(const VersionEdit& edit, FlushGroup* group = nullptr) {
    MutexLock install(tree.versions.install_mutex());
    return tree.Log(edit, group);
  }
  void Adopt() {
    MutexLock state(tree.mutex());
    tree.Adopt();
  }
  /// Log() and Adopt().
  void Install(const VersionEdit& edit) {
    ASSERT_TRUE(Log(edit).ok());
    Adopt();
  }

  static std::string PathOf(const std::string& name) { return std::string(kPath) + "/" + name; }
  bool IsThere(const std::string& name) { return memory.Exists(PathOf(name)).value(); }

  static constexpr uint64_t kTable = 7;

  int planned = 0;
  std::shared_ptr<MemTable> active;  // the active memtable, which Writer would have
};

}  // namespace lava::testing
