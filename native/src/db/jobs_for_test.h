// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "db/components.h"
#include "db/replay.h"
#include "job/job_context.h"
#include "testing/fault_file_system.h"
#include "testing/mem_file_system.h"
#include "testing/recording_listener.h"
#include "testing/sim_executor.h"
#include "testing/test_clock.h"

namespace lava {

/// A SimExecutor that can refuse jobs with std::bad_alloc, and that calls the test when a writer
/// waits.
class RefusingExecutor final : public testing::SimExecutor {
 public:
  RefusingExecutor() : SimExecutor(1, Order::kPriority) {}
  void Submit(os::Priority priority, std::function<void()> job) override {
    if (refuses) throw std::bad_alloc();
    SimExecutor::Submit(priority, std::move(job));
  }
  void RetryThreads() override {
    if (const auto retried = std::exchange(on_retry_threads, nullptr)) retried();
  }
  bool refuses = false;
  std::function<void()> on_retry_threads;  // called once
};

/// The components of an instance without DBImpl. The files are in memory, and jobs run when the
/// test runs them.
/// Threads:    one.
class PartsForTest final : public LeaseMember, public SpaceMember, public Components {
 public:
  PartsForTest(const DBOptions& options, const DBEnvironment& environment)
      : Components(options, "/db", environment, this) {
    plan_jobs = [this] {
      if (plans_after_flushes) jobs.Schedule();
    };
  }
  ~PartsForTest() override { Close(); }

  /// wal_files: the file system with the write-ahead log, in /wal. Null: no log.
  Status Open(fs::FileSystem* wal_files) {
    LAVA_RETURN_IF_ERROR(instance.Open());
    {
      MutexLock install(tree.versions.install_mutex());
      const Status recovered = tree.versions.Recover();
      if (!recovered.ok() && !recovered.IsNotFound()) return recovered;
      VersionEdit first;
      if (recovered.IsNotFound()) {
        tree.versions.StartFresh();
        first.partition_bytes = instance.options.partition_bytes;
      }
      tree.versions.DrawOrigin(&first);
      if (wal_files != nullptr) {
        const std::optional<uint64_t> flushed = tree.versions.state().wal_flushed;
        LAVA_ASSIGN_OR_RETURN(
            std::unique_ptr<Wal> log,
            instance.lease->host()->wals()->Open({wal_files, nullptr, "/wal", instance.path},
                                                 wal.synced(), flushed));
        wal.Open(std::move(log), flushed);
        first.wal_flushed = flushed.value_or(0);
        remover.SetReplayedThrough(wal.last());
      }
      LAVA_RETURN_IF_ERROR(OpenFiles(*tree.versions.state().version));
      LAVA_RETURN_IF_ERROR(tree.versions.Begin(first));
      LAVA_RETURN_IF_ERROR(
          changelog.Open(tree.versions.origin(), tree.versions.state().origins, 0));
      tables.Recover(tree.versions.state().tables);
      instance.lease->Join(this);
      tree.space.Join(this);
      joined_ = true;
      writer.Begin();
    }
    LAVA_RETURN_IF_ERROR(Replay(&tree, &tables, &wal, &writer).Run());
    writer.EndReplay();
    return Status::OK();
  }
  /// Closes as DBImpl does. Queued jobs do not run any more.
  void Close() {
    if (!joined_) return;
    joined_ = false;
    SetClosed();
    jobs.manual_compactions()->Close();
    instance.cancelled = true;
    instance.lease->Leave(this);
    tree.space.Leave();
    EXPECT_TRUE(instance.close_guard->Close(std::chrono::milliseconds(1)));
    (void)snapshots->Clear();
    writer.HideView();
    writer.SyncLogSegments();
    const std::unique_ptr<Wal> log = writer.Close();
    {
      MutexLock install(tree.versions.install_mutex());
      MutexLock state(tree.mutex());
      tree.versions.Close();
      tree.Clear();
    }
    missing_files.Clear();
    tables.ForgetDeadRanges();
    jobs.Clear();
    instance.lease->job_memory()->Forget(this);
    instance.Close();
    instance.notifier->End();
  }
  /// Only the first step of closing.
  void SetClosed() {
    MutexLock state(tree.mutex());
    instance.closed = true;
    tree.UpdateSlowPath();
    tree.NotifyChanged();
  }

  Table* NewTable(const std::string& name, const TableOptions& options = {}) {
    const TableRegistration table{name, TableIdOfName(name), options};
    MutexLock install(tree.versions.install_mutex());
    const bool was_dropped =
        !tables.IsKnown(table.id) && tree.versions.state().tables.contains(table.id);
    VersionEdit edit;
    edit.registered.push_back(table);
    EXPECT_TRUE(tree.Log(edit).ok());
    if (was_dropped) {
      EXPECT_TRUE(writer.LogCreated(table).ok());
    }
    return tables.Register(table, instance.lease->capacity_bytes());
  }
  std::shared_ptr<const Version> version() const {
    MutexLock state(tree.mutex());
    return tree.version();
  }
  size_t sealed() const {
    MutexLock state(tree.mutex());
    return tree.sealed().size();
  }
  std::string Get(Table* table, const std::string& key) const {
    PinnedValue value;
    const Status status = reader.points().Get(table, {key, 0}, &value, nullptr, nullptr);
    return status.ok() ? std::string(value.data()) : status.ToString();
  }
  /// "key=value " for each entry.
  std::string Scan(Table* table) const {
    ScanRequest request;
    request.lower = "p";
    ScanPage page;
    const Status status = reader.scans().Scan(table, request, &page, nullptr);
    if (!status.ok()) return status.ToString();
    EXPECT_TRUE(page.done);
    std::string shown;
    for (Slice left = page.bytes; !left.empty();) {
      const auto key_bytes = static_cast<size_t>(DecodeBigEndian(left.data(), 4));
      const auto value_bytes = static_cast<size_t>(DecodeBigEndian(left.data() + 4, 4));
      left.remove_prefix(8);
      shown.append(left.substr(0, key_bytes)).append("=");
      left.remove_prefix(key_bytes);
      shown.append(left.substr(0, value_bytes)).append(" ");
      left.remove_prefix(value_bytes);
    }
    return shown;
  }
  /// Seals the active memtable, and flushes all memtables in this thread. No flush may be queued.
  Status Flush() {
    LAVA_RETURN_IF_ERROR(writer.SealForSnapshot([](const ViewRef&, const auto&) {}));
    return flushes.FlushAllHere();
  }
  PlanInputs Inputs() {
    PlanInputs inputs;
    MutexLock state(tree.mutex());
    tree.AddTo(&inputs);
    inputs.tables = tables.Options();
    return inputs;
  }

  // LeaseMember, SpaceMember
  uint64_t active_bytes() const override { return tree.is_flushing() ? 0 : writer.active_bytes(); }
  void RequestSeal() override { writer.RequestSeal(); }
  void MemoryFreed() override { jobs.MemoryFreed(); }
  const std::string& space_name() const override { return instance.path; }
  void RequestSpace() override { jobs.RequestSpace(); }
  void RequestGiveUp(uint64_t snapshot) override { jobs.RequestGiveUp(snapshot); }
  void SpaceFreed() override { tree.NotifyUnlocked(); }

 private:
  Status OpenFiles(const Version& version) {
    const JobContext context = tree.MakeJobContext(0);
    for (const auto& level : version.levels) {
      for (const KeyFileEntry& entry : level) {
        LAVA_ASSIGN_OR_RETURN(std::shared_ptr<TableReader> opened,
                              OpenReader(context, *entry.file));
        entry.file->reader.Set(std::move(opened));
      }
    }
    for (const auto& [id, entry] : version.value_files) {
      LAVA_ASSIGN_OR_RETURN(std::shared_ptr<ValueReader> opened,
                            OpenValueReader(context, *entry.file));
      entry.file->reader.Set(std::move(opened));
    }
    return Status::OK();
  }
  bool joined_ = false;

 public:
  bool plans_after_flushes = false;
};

/// Fixture with one PartsForTest and its environment: an instance with a working Writer. Tests that
/// need no writer use ComponentsForTest. docs/testing.md lists all fixtures.
class JobsForTest : public ::testing::Test {
 protected:
  JobsForTest() {
    EXPECT_TRUE(memory_.CreateDurableDirectory("/db").ok());
    Result<std::shared_ptr<Lease>> lease = Host::Get().Acquire(64 << 20, 0.5);
    EXPECT_TRUE(lease.ok());
    options_.lease = std::move(lease).value();
    options_.file_system = &files_;
    options_.partition_first = options_.partition_last = 'p';
    options_.l0_compaction_trigger = 4;
    environment_.executor = &executor_;
    environment_.clock = &clock_;
    environment_.wait_ms_max = 0;
  }
  ~JobsForTest() override {
    parts_.reset();
    executor_.DropAll();
  }

  /// Opens the instance. If it is open, opens it again.
  PartsForTest* Open() {
    parts_.reset();
    executor_.DropAll();
    parts_ = std::make_unique<PartsForTest>(options_, environment_);
    const Status opened = parts_->Open(options_.wal != WalMode::kNone ? wal_files_ : nullptr);
    EXPECT_TRUE(opened.ok()) << opened.ToString();
    return parts_.get();
  }
  /// Adds a file to level 0 with these keys.
  void AddFile(Table* table, const std::vector<std::string>& keys, const std::string& value) {
    for (const std::string& key : keys) {
      const Status put = parts_->writer.Put(table, {key, 0}, value);
      ASSERT_TRUE(put.ok()) << put.ToString();
    }
    const Status flushed = parts_->Flush();
    ASSERT_TRUE(flushed.ok()) << flushed.ToString();
  }
  size_t FilesOf(uint32_t level) const { return parts_->version()->levels[level].size(); }

  testing::MemFileSystem memory_;
  testing::FaultFileSystem files_{&memory_};
  testing::TestClock clock_;
  RefusingExecutor executor_;
  fs::FileSystem* wal_files_ = &memory_;
  DBOptions options_;
  DBEnvironment environment_;
  std::unique_ptr<PartsForTest> parts_;
};

}  // namespace lava
