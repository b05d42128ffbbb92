// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/replay.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "db/jobs_for_test.h"
#include "lava/list_format.h"
#include "testing/random.h"

namespace lava {
namespace {

const std::string kLargeValue(5'000, 'x');

// A file system on a machine that the test can reboot.
class RebootedFileSystem final : public testing::FaultFileSystem {
 public:
  using FaultFileSystem::FaultFileSystem;
  uint64_t boot() const override { return boot_; }
  void Reboot() { ++boot_; }

 private:
  uint64_t boot_ = 1;
};

class ReplayTest : public JobsForTest {
 protected:
  ReplayTest() {
    options_.file_system = &machine_;
    options_.wal = WalMode::kWal;
    environment_.value_in_memory_bytes_max = 1'000;
  }
  ~ReplayTest() override { parts_.reset(); }

  Status Put(Table* table, const std::string& key, const std::string& value) {
    return parts_->writer.Put(table, {key, 0}, value);
  }
  void Drop(Table* table) {
    MutexLock install(parts_->tree.versions.install_mutex());
    ASSERT_TRUE(parts_->writer.DropTable(static_cast<TableImpl*>(table)).ok());
  }
  bool ManifestHas(const std::string& table) const {
    MutexLock install(parts_->tree.versions.install_mutex());
    return parts_->tree.versions.state().tables.contains(TableIdOfName(table));
  }
  // Deletes the segments of the value log, as a power cut may do.
  void LoseSegments() {
    parts_.reset();
    machine_.Reboot();
    const std::vector<std::string> names = memory_.List("/db").value();
    for (const std::string& name : names) {
      if (!name.ends_with(".vsst")) continue;
      ASSERT_TRUE(memory_.Remove("/db/" + name).ok());
    }
  }

  RebootedFileSystem machine_{&memory_};
};

TEST_F(ReplayTest, RestoresWhatReadersSaw) {
  PartsForTest* parts = Open();
  Table* const table = parts->NewTable("t");
  Table* const list = parts->NewTable("l", {.kind = TableKind::kList});
  testing::Random random(7);
  for (int i = 0; i < 2'000; ++i) {
    const std::string key = "p" + std::to_string(random.Uniform(20));
    const std::string value = random.Uniform(50) == 0 ? kLargeValue : std::to_string(i);
    Status status;
    switch (random.Uniform(8)) {
      case 0:
        status = parts->writer.Delete(table, {key, 0});
        break;
      case 1:
        status = parts->writer.DeletePrefix(table, key);
        break;
      case 2:
        status = parts->writer.DeleteRange(table, key, key + "5");
        break;
      case 3: {
        std::string element;
        AppendListSegment(ListSegment::kElement, value, &element);
        status = parts->writer.Append(list, {key, 0}, element);
        break;
      }
      case 4: {
        WriteBatch batch;
        batch.Put(table, {key, 0}, value);
        batch.Delete(list, {key, 0});
        status = parts->writer.Write(batch);
        break;
      }
      default:
        status = Put(table, key, value);
    }
    ASSERT_TRUE(status.ok()) << status.ToString();
    if (i == 700) {
      ASSERT_TRUE(parts->Flush().ok());
    }
    if (i == 1'400) {
      uint64_t through = 0;
      ASSERT_TRUE(parts->writer.Seal(FlushCause::kRequested, &through).ok());
    }
  }
  const std::string values = parts->Scan(table), lists = parts->Scan(list);
  EXPECT_NE(values, "");
  EXPECT_NE(lists, "");
  parts = Open();
  EXPECT_EQ(parts->Scan(parts->NewTable("t")), values);
  EXPECT_EQ(parts->Scan(parts->NewTable("l", {.kind = TableKind::kList})), lists);
}

TEST_F(ReplayTest, AppliesTheRecordsAfterTheFlushedOnesInTheirOrder) {
  PartsForTest* parts = Open();
  Table* const table = parts->NewTable("t");
  for (const char* const key : {"pa", "pb", "pc"}) ASSERT_TRUE(Put(table, key, "flushed").ok());
  ASSERT_TRUE(parts->Flush().ok());
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(Put(table, "pa", std::to_string(i)).ok());
  ASSERT_TRUE(parts->writer.Delete(table, {"pb", 0}).ok());
  ASSERT_TRUE(Put(table, "pb", "new").ok());
  WriteBatch batch;
  batch.Put(table, {"pb", 0}, "newer");
  batch.Put(table, {"pb", 0}, "newest");
  ASSERT_TRUE(parts->writer.Write(batch).ok());
  EXPECT_EQ(parts->wal.last(), 16u);
  parts = Open();
  EXPECT_EQ(parts->wal.last(), 16u);
  EXPECT_EQ(parts->tree.view()->active->record_count(), 2u)
      << "flushed records must not be applied again";
  EXPECT_EQ(parts->Scan(parts->NewTable("t")), "pa=9 pb=newest pc=flushed ");
  ASSERT_TRUE(Put(parts->NewTable("t"), "pd", "next").ok());
  EXPECT_EQ(parts->wal.last(), 17u);
}

TEST_F(ReplayTest, NeedsNoMoreThanOneMemtableAndNoOtherThread) {
  options_.memtable_bytes = 4 << 20;
  environment_.value_in_memory_bytes_max = 1 << 20;
  PartsForTest* parts = Open();
  Table* const table = parts->NewTable("t");
  const std::string value(50'000, 'v');
  for (int i = 100; i < 130; ++i) ASSERT_TRUE(Put(table, "p" + std::to_string(i), value).ok());
  options_.memtable_bytes = 256 << 10;
  parts = Open();
  EXPECT_EQ(parts->sealed(), 0u);
  EXPECT_LE(parts->writer.active_bytes(), options_.memtable_bytes + value.size());
  EXPECT_GE(FilesOf(0), 4u);
  EXPECT_EQ(executor_.pending(), 0u);
  Table* const again = parts->NewTable("t");
  for (int i = 100; i < 130; ++i) EXPECT_TRUE(parts->Get(again, "p" + std::to_string(i)) == value);
}

TEST_F(ReplayTest, ADroppedTableIsNoLongerKnown) {
  PartsForTest* parts = Open();
  Table* const table = parts->NewTable("t");
  ASSERT_TRUE(Put(table, "pa", "1").ok());
  ASSERT_TRUE(parts->Flush().ok());
  ASSERT_TRUE(Put(table, "pb", "2").ok());
  Drop(table);
  parts = Open();
  EXPECT_FALSE(parts->tables.IsKnown(TableIdOfName("t")));
  EXPECT_TRUE(ManifestHas("t"))
      << "the manifest must keep the table until its tombstones are in a file";
  ASSERT_TRUE(parts->Flush().ok());
  EXPECT_FALSE(ManifestHas("t"));
  EXPECT_EQ(parts->Scan(parts->NewTable("t")), "");
}

TEST_F(ReplayTest, ATableThatWasDroppedAndCreatedAgainHasOnlyItsNewData) {
  PartsForTest* parts = Open();
  Table* table = parts->NewTable("t");
  ASSERT_TRUE(Put(table, "pa", "1").ok());
  Drop(table);
  table = parts->NewTable("t");
  ASSERT_TRUE(Put(table, "pb", "2").ok());
  parts = Open();
  EXPECT_TRUE(parts->tables.IsKnown(TableIdOfName("t")));
  EXPECT_EQ(parts->Scan(parts->NewTable("t")), "pb=2 ");
  ASSERT_TRUE(parts->Flush().ok());
  parts = Open();
  EXPECT_TRUE(parts->tables.IsKnown(TableIdOfName("t")));
  EXPECT_EQ(parts->Scan(parts->NewTable("t")), "pb=2 ");
}

// The log has the options of the creation, the manifest has newer options.
TEST_F(ReplayTest, ATableThatWasCreatedAgainHasItsNewestOptions) {
  Drop(Open()->NewTable("t"));
  parts_->NewTable("t", {.ttl_layout = TtlLayout::kValue, .ttl_ms = 1'000});
  parts_->NewTable("t", {.ttl_layout = TtlLayout::kValue, .ttl_ms = 2'000});
  Open();
  EXPECT_EQ(parts_->tables.Registrations().at(TableIdOfName("t")).options.ttl_ms, 2'000);
}

// The replay flushes the drop before it reaches the creation.
TEST_F(ReplayTest, ATableIsInTheManifestAgainAfterAFlushBetweenItsDropAndItsCreation) {
  options_.memtable_bytes = 4 << 20;
  environment_.value_in_memory_bytes_max = 1 << 20;
  PartsForTest* parts = Open();
  const TableOptions options{.ttl_layout = TtlLayout::kValue, .ttl_ms = 1'000'000'000};
  Table* const table = parts->NewTable("t", options);
  Table* const other = parts->NewTable("other");
  ASSERT_TRUE(Put(table, "pa", "12345678").ok());
  Drop(table);
  for (int i = 100; i < 120; ++i)
    ASSERT_TRUE(Put(other, "p" + std::to_string(i), std::string(50'000, 'v')).ok());
  ASSERT_TRUE(Put(parts->NewTable("t", options), "pb", "12345678").ok());
  options_.memtable_bytes = 256 << 10;
  parts = Open();
  ASSERT_GE(FilesOf(0), 2u);
  EXPECT_TRUE(ManifestHas("t"));
  EXPECT_TRUE(parts->tables.IsKnown(TableIdOfName("t")));
  ASSERT_TRUE(parts->Flush().ok());
  parts = Open();
  ASSERT_TRUE(parts->tables.IsKnown(TableIdOfName("t")));
  EXPECT_EQ(parts->tables.Registrations().at(TableIdOfName("t")).options.ttl_ms, options.ttl_ms);
  EXPECT_EQ(parts->Scan(parts->NewTable("t", options)), "pb=12345678 ");
}

TEST_F(ReplayTest, EndsBeforeAValueThatAPowerCutTookForGood) {
  PartsForTest* parts = Open();
  Table* const table = parts->NewTable("t");
  ASSERT_TRUE(Put(table, "pa", "1").ok());
  ASSERT_TRUE(Put(table, "pb", kLargeValue).ok());
  ASSERT_TRUE(Put(table, "pc", "2").ok());
  LoseSegments();
  parts = Open();
  EXPECT_EQ(parts->Scan(parts->NewTable("t")), "pa=1 ");
  ASSERT_TRUE(Put(parts->NewTable("t"), "pd", "3").ok());
  parts = Open();
  EXPECT_EQ(parts->Scan(parts->NewTable("t")), "pa=1 pd=3 ");
}

TEST_F(ReplayTest, FailsWhenASyncedValueIsMissing) {
  options_.wal = WalMode::kWalSync;
  ASSERT_TRUE(Put(Open()->NewTable("t"), "pb", kLargeValue).ok());
  LoseSegments();
  PartsForTest parts(options_, environment_);
  EXPECT_FALSE(parts.Open(wal_files_).ok());
}

}  // namespace
}  // namespace lava
