// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/writer.h"

#include <gtest/gtest.h>

#include <functional>

#include "db/jobs_for_test.h"
#include "lava/list_format.h"
#include "testing/random.h"

namespace lava {
namespace {

using testing::FileCall;

const std::string kOversizeValue(5'000, 'x');

std::string ListOf(std::string_view element) {
  std::string list;
  AppendListSegment(ListSegment::kElement, element, &list);
  return list;
}

// A value in pieces, whose reading can fail in the middle.
class StringSource final : public ValueSource {
 public:
  StringSource(std::string value, Status status)
      : value_(std::move(value)), status_(std::move(status)) {}
  uint64_t size() const override { return value_.size(); }
  Status Read(uint64_t offset, size_t length, char* to) override {
    value_.copy(to, length, offset);
    return status_;
  }

 private:
  const std::string value_;
  const Status status_;
};

class WriterTest : public JobsForTest {
 protected:
  WriterTest() { environment_.value_in_memory_bytes_max = 1'000; }

  Status Put(Table* table, const std::string& key, const std::string& value) {
    return parts_->writer.Put(table, {key, 0}, value);
  }
  Status Seal() {
    uint64_t through = 0;
    return parts_->writer.Seal(FlushCause::kRequested, &through);
  }
  uint64_t sealed_through() const {
    MutexLock state(parts_->tree.mutex());
    return parts_->tree.sealed().sealed_through();
  }
  // All calls that write to the table or its key "pk".
  std::vector<std::pair<std::string, std::function<Status()>>> AllWrites(Table* table,
                                                                         Table* list) {
    Writer* const writer = &parts_->writer;
    return {
        {"Put",
         [=] {
           return writer->Put(table, {"pk", 0}, "new");
         }},
        {"Put of a large value",
         [=] {
           return writer->Put(table, {"pk", 0}, kOversizeValue);
         }},
        {"PutFrom",
         [=] {
           StringSource source(kOversizeValue, Status::OK());
           return writer->PutFrom(table, {"pk", 0}, &source);
         }},
        {"Delete",
         [=] {
           return writer->Delete(table, {"pk", 0});
         }},
        {"DeletePrefix", [=] { return writer->DeletePrefix(table, "pk"); }},
        {"DeleteRange", [=] { return writer->DeleteRange(table, "pa", "pz"); }},
        {"Append",
         [=] {
           return writer->Append(list, {"pk", 0}, ListOf("new"));
         }},
        {"Write",
         [=] {
           WriteBatch batch;
           batch.Put(table, {"pk", 0}, "new");
           batch.Put(table, {"pl", 0}, kOversizeValue);
           batch.Append(list, {"pk", 0}, ListOf("new"));
           return writer->Write(batch);
         }},
    };
  }
};

TEST_F(WriterTest, EachWriteIsSeenAtOnce) {
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t");
  Table* const list = parts->NewTable("l", {.kind = TableKind::kList});
  for (const char* const key : {"pa1", "pa2", "pb1", "pc1"}) ASSERT_TRUE(Put(table, key, "v").ok());
  EXPECT_EQ(parts->Scan(table), "pa1=v pa2=v pb1=v pc1=v ");
  ASSERT_TRUE(parts->writer.Delete(table, {"pa2", 0}).ok());
  EXPECT_EQ(parts->Scan(table), "pa1=v pb1=v pc1=v ");
  ASSERT_TRUE(parts->writer.DeletePrefix(table, "pa").ok());
  EXPECT_EQ(parts->Scan(table), "pb1=v pc1=v ");
  ASSERT_TRUE(parts->writer.DeleteRange(table, "pb", "pc").ok());
  EXPECT_EQ(parts->Scan(table), "pc1=v ");
  ASSERT_TRUE(parts->writer.Append(list, {"pk", 0}, ListOf("1")).ok());
  ASSERT_TRUE(parts->writer.Append(list, {"pk", 0}, ListOf("2")).ok());
  EXPECT_EQ(parts->Get(list, "pk"), ListOf("1") + ListOf("2"));
  StringSource source(kOversizeValue, Status::OK());
  ASSERT_TRUE(parts->writer.PutFrom(table, {"pd", 0}, &source).ok());
  EXPECT_EQ(parts->Get(table, "pd"), kOversizeValue);
  EXPECT_EQ(parts->instance.counters.writes, 10u);
}

// A deletion must also delete records that are sealed or in files.
TEST_F(WriterTest, ADeletionHidesWhatIsSealedOrInFiles) {
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t");
  AddFile(table, {"pa1", "pb1", "pc1"}, "file");
  for (const char* const key : {"pa2", "pb2", "pc2"}) ASSERT_TRUE(Put(table, key, "sealed").ok());
  ASSERT_TRUE(Seal().ok());
  for (const char* const key : {"pa1", "pa2"})
    ASSERT_TRUE(parts->writer.Delete(table, {key, 0}).ok());
  ASSERT_TRUE(parts->writer.DeletePrefix(table, "pb").ok());
  EXPECT_EQ(parts->Scan(table), "pc1=file pc2=sealed ");
  ASSERT_TRUE(parts->writer.DeleteRange(table, {}, {}).ok());
  EXPECT_EQ(parts->Scan(table), "");
}

TEST_F(WriterTest, AnErrorOfTheWriteAheadLogChangesNothing) {
  options_.wal = WalMode::kWal;
  wal_files_ = &files_;  // this file system can also fail
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t");
  Table* const list = parts->NewTable("l", {.kind = TableKind::kList});
  ASSERT_TRUE(Put(table, "pk", "old").ok());
  ASSERT_TRUE(parts->writer.Append(list, {"pk", 0}, ListOf("old")).ok());
  const uint64_t writes = parts->instance.counters.writes;
  files_.Arm({.forever = true, .path_contains = "/wal"});
  for (const auto& [name, write] : AllWrites(table, list)) {
    EXPECT_FALSE(write().ok()) << name;
    EXPECT_EQ(parts->Scan(table), "pk=old ") << name;
    EXPECT_EQ(parts->Get(list, "pk"), ListOf("old")) << name;
  }
  EXPECT_EQ(parts->instance.counters.writes, writes);
  files_.Disarm();
}

TEST_F(WriterTest, AnErrorOfTheValueLogChangesNothing) {
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t");
  Table* const list = parts->NewTable("l", {.kind = TableKind::kList});
  ASSERT_TRUE(Put(table, "pk", "old").ok());
  ASSERT_TRUE(parts->writer.Append(list, {"pk", 0}, ListOf("old")).ok());
  files_.Arm({.forever = true, .path_contains = ".vsst"});
  for (const auto& [name, write] : AllWrites(table, list)) {
    if (name != "Put of a large value" && name != "PutFrom" && name != "Write") continue;
    EXPECT_FALSE(write().ok()) << name;
    EXPECT_EQ(parts->Scan(table), "pk=old ") << name;
    EXPECT_EQ(parts->Get(list, "pk"), ListOf("old")) << name;
  }
  files_.Disarm();
  EXPECT_TRUE(Put(table, "pk", kOversizeValue).ok());
  EXPECT_EQ(parts->Get(table, "pk"), kOversizeValue);
}

TEST_F(WriterTest, AValueWhoseSourceFailsIsNotWritten) {
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t");
  ASSERT_TRUE(Put(table, "pk", "old").ok());
  for (const std::string& value : {std::string("small"), kOversizeValue}) {
    StringSource source(value, Status::IOError("the source"));
    EXPECT_TRUE(parts->writer.PutFrom(table, {"pk", 0}, &source).IsIOError());
    EXPECT_EQ(parts->Scan(table), "pk=old ");
  }
  EXPECT_TRUE(Put(table, "pl", kOversizeValue).ok());
  EXPECT_EQ(parts->Get(table, "pl"), kOversizeValue);
}

TEST_F(WriterTest, ABatchIsWrittenAsAWholeOrNotAtAll) {
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t");
  ASSERT_TRUE(Put(table, "pa", "old").ok());
  WriteBatch batch;
  batch.Put(table, {"pa", 0}, "new");
  batch.Put(table, {"pb", 0}, kOversizeValue);
  batch.Append(table, {"pc", 0}, ListOf("no list"));
  EXPECT_TRUE(parts->writer.Write(batch).IsInvalidArgument());
  EXPECT_EQ(parts->Scan(table), "pa=old ");
  batch.Clear();
  EXPECT_TRUE(parts->writer.Write(batch).ok());
  batch.Put(table, {"pa", 0}, "1");
  batch.Put(table, {"pa", 0}, "2");
  batch.Put(table, {"pb", 0}, kOversizeValue);
  batch.Put(table, {"pc", 0}, "3");
  batch.Delete(table, {"pc", 0});
  EXPECT_TRUE(parts->writer.Write(batch).ok());
  EXPECT_EQ(parts->Scan(table), "pa=2 pb=" + kOversizeValue + " ");
}

TEST_F(WriterTest, AFullMemtableIsSealedBeforeTheWrite) {
  options_.memtable_bytes = 256 << 10;
  environment_.value_in_memory_bytes_max = 1 << 20;
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t");
  const std::string value(50'000, 'v');
  int written = 0;
  for (; parts->sealed() == 0; ++written) {
    ASSERT_LE(parts->writer.active_bytes(), options_.memtable_bytes + value.size());
    ASSERT_TRUE(Put(table, "p" + std::to_string(written), value).ok());
  }
  EXPECT_GT(written, 2);
  EXPECT_EQ(executor_.pending(), 1u) << "the flush of the sealed memtable must be started";
  const ViewRef view = parts->tree.view();
  EXPECT_EQ(view->sealed[0]->cause, FlushCause::kMemtableFull);
  EXPECT_EQ(view->sealed[0]->memtable->record_count(), static_cast<uint64_t>(written - 1));
  EXPECT_EQ(view->active->record_count(), 1u) << "the write must go into the new memtable";
  for (int i = 0; i < written; ++i) EXPECT_EQ(parts->Get(table, "p" + std::to_string(i)), value);
}

TEST_F(WriterTest, AWriteThatIsStalledTooLongIsBusyAndHasWrittenNothing) {
  options_.sealed_runs_max = 2;
  options_.memtable_bytes = 128 << 10;
  environment_.value_in_memory_bytes_max = 1 << 20;
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t");
  const std::string value(50'000, 'v');
  Status status;
  int written = 0;
  for (; status.ok() && written < 100; ++written)
    status = Put(table, "p" + std::to_string(written), value);
  ASSERT_TRUE(status.IsBusy()) << status.ToString();
  const std::string last = "p" + std::to_string(written - 1);
  EXPECT_EQ(parts->sealed(), 2u);
  EXPECT_EQ(parts->Get(table, last), Status::NotFound().ToString());
  EXPECT_GT(executor_.pending_urgent(), 0u) << "the flush for which the write waits must be urgent";
  EXPECT_TRUE(parts->writer.Delete(table, {"p0", 0}).IsBusy())
      << "a deletion may exceed the limits of space but not those of memory";
  executor_.RunUntilIdle();
  EXPECT_TRUE(Put(table, last, value).ok());
  EXPECT_EQ(parts->Get(table, last), value);
}

TEST_F(WriterTest, OnlyWritesThatStoreSomethingAreRefusedForSpace) {
  options_.space_high_bytes = 500;
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t");
  Table* const list = parts->NewTable("l", {.kind = TableKind::kList});
  const std::string value = testing::Random(1).Bytes(1'000);
  AddFile(table, {"p0", "p1", "p2", "p3"}, value);
  for (const auto& [name, write] : AllWrites(table, list)) {
    const bool frees = name.starts_with("Delete");
    const Status status = write();
    EXPECT_EQ(status.IsNoSpace(), !frees) << name << ": " << status.ToString();
    EXPECT_EQ(status.ok(), frees) << name << ": " << status.ToString();
  }
  EXPECT_EQ(parts->Get(table, "pk"), Status::NotFound().ToString());
  EXPECT_EQ(parts->Get(list, "pk"), Status::NotFound().ToString());
  EXPECT_TRUE(parts->writer.Delete(table, {"p0", 0}).ok());
  EXPECT_TRUE(parts->writer.DeleteRange(table, "p1", "p3").ok());
  for (const char* const key : {"p0", "p1", "p2"})
    EXPECT_EQ(parts->Get(table, key), Status::NotFound().ToString());
  EXPECT_TRUE(parts->Get(table, "p3") == value);
}

TEST_F(WriterTest, ASealTakesAllOfTheMemtableOnce) {
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t");
  uint64_t through = 77;
  ASSERT_TRUE(parts->writer.Seal(FlushCause::kRequested, &through).ok());
  EXPECT_EQ(through, 0u) << "there is nothing to seal";
  EXPECT_EQ(executor_.pending(), 0u);
  ASSERT_TRUE(Put(table, "pa", "1").ok());
  EXPECT_GT(parts->writer.active_bytes(), 0u);
  ASSERT_TRUE(parts->writer.Seal(FlushCause::kRequested, &through).ok());
  EXPECT_EQ(through, 1u);
  EXPECT_EQ(parts->writer.active_bytes(), 0u);
  EXPECT_EQ(executor_.pending(), 1u);
  ASSERT_TRUE(parts->writer.Seal(FlushCause::kRequested, &through).ok());
  EXPECT_EQ(through, 1u);
  ASSERT_TRUE(Put(table, "pb", "2").ok());
  const ViewRef view = parts->tree.view();
  ASSERT_EQ(view->sealed.size(), 1u);
  EXPECT_EQ(view->sealed[0]->cause, FlushCause::kRequested);
  EXPECT_EQ(view->sealed[0]->memtable->record_count(), 1u);
  EXPECT_EQ(view->active->record_count(), 1u);
  EXPECT_EQ(parts->Scan(table), "pa=1 pb=2 ");
}

TEST_F(WriterTest, ASnapshotHasWhatWasWrittenBeforeItAndNoFlushIsStarted) {
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t");
  ASSERT_TRUE(Put(table, "pa", "1").ok());
  ViewRef taken;
  std::map<uint64_t, TableRegistration> tables;
  ASSERT_TRUE(parts->writer
                  .SealForSnapshot([&](ViewRef view, std::map<uint64_t, TableRegistration> of) {
                    taken = std::move(view);
                    tables = std::move(of);
                  })
                  .ok());
  EXPECT_EQ(executor_.pending(), 0u);
  ASSERT_TRUE(Put(table, "pb", "2").ok());
  ASSERT_TRUE(static_cast<bool>(taken));
  EXPECT_EQ(taken->active, nullptr);
  ASSERT_EQ(taken->sealed.size(), 1u);
  EXPECT_EQ(taken->sealed[0]->memtable->record_count(), 1u);
  EXPECT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables.at(table->id()).name, "t");
}

TEST_F(WriterTest, TheLeaseAsksForASealOnceAndOnlyForWhatIsWorthIt) {
  environment_.value_in_memory_bytes_max = 1 << 21;
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t");
  ASSERT_TRUE(Put(table, "pa", "1").ok());
  parts->writer.RequestSeal();
  parts->writer.RequestSeal();
  EXPECT_EQ(executor_.pending(), 1u);
  executor_.RunUntilIdle();
  EXPECT_EQ(sealed_through(), 0u) << "the memtable is too small for a flush";
  ASSERT_TRUE(Put(table, "pb", std::string(1 << 20, 'v')).ok());
  {
    MutexLock state(parts->tree.mutex());
    parts->writer.RequestSeal();
  }
  ASSERT_TRUE(executor_.RunOne());
  EXPECT_EQ(sealed_through(), 1u);
  EXPECT_GT(executor_.pending_urgent(), 0u);
  executor_.refuses = true;
  parts->writer.RequestSeal();
  executor_.refuses = false;
  executor_.RunUntilIdle();
  parts->writer.RequestSeal();
  EXPECT_EQ(executor_.pending(), 1u) << "a request that could not be queued must be forgotten";
}

TEST_F(WriterTest, AClosedInstanceTakesNoWrite) {
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t");
  Table* const list = parts->NewTable("l", {.kind = TableKind::kList});
  ASSERT_TRUE(Put(table, "pk", "old").ok());
  parts->SetClosed();
  for (const auto& [name, write] : AllWrites(table, list)) EXPECT_TRUE(write().IsClosed()) << name;
  EXPECT_TRUE(Seal().IsClosed());
  bool taken = false;
  EXPECT_TRUE(
      parts->writer.SealForSnapshot([&](const ViewRef&, const auto&) { taken = true; }).IsClosed());
  EXPECT_FALSE(taken);
  EXPECT_EQ(parts->Scan(table), "pk=old ");
  EXPECT_EQ(parts->sealed(), 0u);
  parts->writer.HideView();
  EXPECT_FALSE(static_cast<bool>(parts->tree.view()));
}

TEST_F(WriterTest, ADroppedTableTakesNoWriteAndItsDataIsGone) {
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t");
  Table* const other = parts->NewTable("o");
  AddFile(table, {"pa"}, "1");
  ASSERT_TRUE(Put(table, "pb", "2").ok());
  ASSERT_TRUE(Put(other, "pb", "kept").ok());
  {
    MutexLock install(parts->tree.versions.install_mutex());
    auto* const impl = static_cast<TableImpl*>(table);
    ASSERT_TRUE(parts->writer.DropTable(impl).ok());
    EXPECT_TRUE(parts->writer.DropTable(impl).IsClosed());
  }
  EXPECT_FALSE(parts->tables.IsKnown(table->id()));
  EXPECT_TRUE(Put(table, "pc", "3").IsClosed());
  Table* const again = parts->NewTable("t");
  EXPECT_EQ(parts->Scan(again), "");
  EXPECT_EQ(parts->Scan(other), "pb=kept ");
}

// A write releases the mutex while it waits for jobs, so that another thread can drop the table.
TEST_F(WriterTest, AWriteThatWaitedWhileItsTableWasDroppedWritesNothing) {
  options_.l0_compaction_trigger = 2;
  options_.l0_stall_trigger = 3;
  environment_.wait_ms_max = 100;
  Open();
  const size_t kinds = AllWrites(nullptr, nullptr).size();
  for (size_t i = 0; i < kinds; ++i) {
    PartsForTest* const parts = Open();
    Table* const table = parts->NewTable("t");
    Table* const list = parts->NewTable("l", {.kind = TableKind::kList});
    for (const char* const value : {"1", "2", "3"}) AddFile(table, {"pa"}, value);
    executor_.on_retry_threads = [&] {
      {
        MutexLock install(parts->tree.versions.install_mutex());
        for (Table* const dropped : {table, list})
          ASSERT_TRUE(parts->writer.DropTable(static_cast<TableImpl*>(dropped)).ok());
      }
      parts->jobs.ScheduleCompactions();
      executor_.RunUntilIdle();
    };
    const auto [name, write] = AllWrites(table, list)[i];
    const Status status = write();
    EXPECT_TRUE(status.IsClosed()) << name << ": " << status.ToString();
    EXPECT_EQ(executor_.on_retry_threads, nullptr)
        << name << " must wait while the table is dropped";
    EXPECT_EQ(parts->Scan(parts->NewTable("t")), "") << name;
    EXPECT_EQ(parts->Scan(parts->NewTable("l", {.kind = TableKind::kList})), "") << name;
  }
}

TEST_F(WriterTest, EntriesAreReadWhereTheyWereWrittenAndBindValues) {
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t");
  EntryLocation first, second;
  ASSERT_TRUE(parts->writer.AppendEntry("entry", &first).ok());
  ASSERT_TRUE(
      parts->writer.PutExternal(table, {"pa", 0}, kOversizeValue, "head" + kOversizeValue, &second)
          .ok());
  EXPECT_EQ(second.segment, first.segment);
  EXPECT_GT(second.offset, first.offset);
  EXPECT_EQ(parts->Get(table, "pa"), kOversizeValue);
  std::string entry;
  ASSERT_TRUE(parts->changelog.Read(first, &entry).ok());
  EXPECT_EQ(entry, "entry");
  ASSERT_TRUE(parts->changelog.Read(second, &entry).ok());
  EXPECT_EQ(entry, "head" + kOversizeValue);
  ASSERT_TRUE(parts->writer.RollEntries().ok());
  ASSERT_TRUE(parts->writer.AppendEntry("entry", &second).ok());
  EXPECT_GT(second.segment, first.segment);
}

}  // namespace
}  // namespace lava
