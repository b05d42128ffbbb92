// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/separation_tuner.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "manifest/sums.h"
#include "policy/separation.h"

namespace lava {
namespace {

constexpr uint64_t kTable = 7, kOther = 8;

DBOptions OptionsOf(WalMode wal, uint64_t large_value_bytes = kLargeAutomatic) {
  DBOptions options;
  options.wal = wal;
  options.large_value_bytes = large_value_bytes;
  options.level1_bytes = 64 << 10;
  return options;
}

/// Makes a key file with records of one table.
std::shared_ptr<FileMeta> FlushedKeyFile(uint64_t table, uint64_t records, uint64_t raw_bytes) {
  auto file = std::make_shared<FileMeta>();
  file->records = records;
  file->raw_bytes = raw_bytes;
  file->lower = "a";
  file->upper = "z";
  file->tables[table] = {records, raw_bytes};
  return file;
}

/// Makes a version of one key file and, if value_bytes is not 0, one value file.
Version VersionOf(const std::shared_ptr<FileMeta>& file, uint64_t value_bytes = 0) {
  Version version;
  version.levels[0].push_back({file, file->lower, file->upper});
  if (value_bytes > 0) {
    auto values = std::make_shared<ValueFileMeta>();
    values->raw_bytes = value_bytes;
    version.value_files.emplace(FileId{{1, 2}, 3}, {values});
  }
  version.sums = CountSums(version);
  return version;
}

class SeparationTunerTest : public ::testing::Test {
 protected:
  explicit SeparationTunerTest(const DBOptions& options = OptionsOf(WalMode::kNone))
      : tables_(&memory_, SeparationTuner::FirstLargeBytes(options)), tuner_(options, &tables_) {}

  TableImpl* Register(uint64_t id, uint64_t separation_bytes, TableKind kind = TableKind::kMap) {
    const TableOptions options{.kind = kind, .separation_bytes = separation_bytes};
    return tables_.Register({"table " + std::to_string(id), id, options}, 1 << 20);
  }
  /// Reports a flush of `flushed` records of kTable. The tree has `records` records and raw_bytes
  /// bytes.
  void Flush(uint64_t flushed, uint64_t records, uint64_t raw_bytes, uint64_t value_bytes = 0) {
    Flushed flush;
    flush.file = FlushedKeyFile(kTable, flushed, flushed * 600);
    flush.key_bytes = 16;
    tuner_.FlushInstalled(flush, VersionOf(FlushedKeyFile(kTable, records, raw_bytes), value_bytes),
                          instance_);
  }

  SeparationTuner::Instance instance_{.memtable_bytes = 64 << 10};
  MemoryCounter memory_;
  TableRegistry tables_;
  SeparationTuner tuner_;
};

TEST_F(SeparationTunerTest, TheBoundIsFoundOnceEnoughRecordsAreInFiles) {
  TableImpl* const table = Register(kTable, kSeparationAutomatic);
  EXPECT_EQ(table->separation_now(), kSeparationDefault);
  Flush(1000, kSeparationRecordsMin - 1, 100 << 20);
  EXPECT_EQ(table->separation_now(), kSeparationDefault)
      << "there are too few records to choose a bound";
  Flush(1000, kSeparationRecordsMin, 100 << 20);
  EXPECT_EQ(table->separation_now(), kSeparationBytesMin) << "a deep tree needs a small bound";
}

TEST_F(SeparationTunerTest, ValueFilesCountAsPartOfTheTree) {
  TableImpl* const table = Register(kTable, kSeparationAutomatic);
  instance_.value_bytes_written = 1;
  instance_.value_bytes_copied = 3;  // a separated value is written four times
  Flush(1000, 20'000, 1 << 10);
  EXPECT_EQ(table->separation_now(), UINT64_MAX) << "no value size pays in such a small tree";
  Flush(1000, 20'000, 1 << 10, uint64_t{1} << 30);
  EXPECT_LE(table->separation_now(), kSeparationBytesMax);
}

TEST_F(SeparationTunerTest, CopiesByCollectionsRaiseTheBound) {
  TableImpl* const table = Register(kTable, kSeparationAutomatic);
  Flush(1000, 20'000, 100 << 20);
  const uint64_t before = table->separation_now();
  instance_.value_bytes_written = 1000;
  instance_.value_bytes_copied = 100'000;
  Flush(1000, 20'000, 100 << 20);
  EXPECT_GT(table->separation_now(), before);
}

TEST_F(SeparationTunerTest, ScansRaiseTheBoundAndOldScansWeighLess) {
  TableImpl* const table = Register(kTable, kSeparationAutomatic);
  Flush(1000, 20'000, 100 << 20);
  ASSERT_EQ(table->separation_now(), kSeparationBytesMin);
  table->CountScanned(20'000);
  Flush(1000, 20'000, 100 << 20);
  EXPECT_GT(table->separation_now(), kSeparationBytesMin);
  Flush(1 << 20, 20'000, 100 << 20);
  EXPECT_EQ(table->scanned(), 10'000u) << "all counts must be halved together";
  Flush(1 << 20, 20'000, 100 << 20);
  EXPECT_EQ(table->separation_now(), kSeparationBytesMin);
}

TEST_F(SeparationTunerTest, AGivenBoundStays) {
  TableImpl* const table = Register(kTable, 5000);
  const TableImpl* const other = Register(kOther, kSeparationAutomatic);
  Flush(1000, 20'000, 100 << 20);
  EXPECT_EQ(table->separation_now(), 5000u);
  EXPECT_EQ(other->separation_now(), kSeparationDefault)
      << "the other table has no records, and the flush has no table with an automatic bound";
}

TEST_F(SeparationTunerTest, ADroppedTableIsPassedByAndItsSuccessorBeginsAnew) {
  TableImpl* const dropped = Register(kTable, kSeparationAutomatic);
  Flush(900'000, 20'000, 100 << 20);
  ASSERT_EQ(dropped->separation_now(), kSeparationBytesMin);
  tables_.Drop(dropped);
  Flush(1000, 20'000, 100 << 20);
  TableImpl* const created = Register(kTable, kSeparationAutomatic);
  EXPECT_EQ(created->separation_now(), kSeparationDefault);
  created->CountScanned(20'000);
  Flush(1000, 20'000, 100 << 20);
  EXPECT_GT(created->separation_now(), kSeparationBytesMin)
      << "writes of the dropped table must not count for the new one";
}

TEST_F(SeparationTunerTest, AFlushWithoutKeysTeachesNothing) {
  TableImpl* const table = Register(kTable, kSeparationAutomatic);
  tuner_.FlushInstalled({}, VersionOf(FlushedKeyFile(kTable, 20'000, 100 << 20)), instance_);
  EXPECT_EQ(table->separation_now(), kSeparationDefault);
}

TEST_F(SeparationTunerTest, WithoutAWriteAheadLogNoValueIsLarge) {
  TableImpl* const table = Register(kTable, 1000);
  EXPECT_FALSE(tuner_.IsLarge(*table, UINT64_MAX));
  EXPECT_EQ(tuner_.LargeBytesNow(*table), UINT64_MAX);
  tuner_.CountPut(table, 1 << 20);
  EXPECT_TRUE(tuner_.TakeSeparatedPuts().empty());
}

class LargeValuesTest : public SeparationTunerTest {
 protected:
  explicit LargeValuesTest(const DBOptions& options = OptionsOf(WalMode::kWal))
      : SeparationTunerTest(options) {}

  /// Puts values that are large enough to be separated. A flush then writes some of them.
  void PutAndFlush(TableImpl* table, uint64_t puts, uint64_t written) {
    for (uint64_t i = 0; i < puts; ++i) tuner_.CountPut(table, 1000);
    Flushed flush;
    flush.separated_puts = tuner_.TakeSeparatedPuts();
    auto values = std::make_shared<ValueFileMeta>();
    values->tables[table->id()].records = written;
    flush.value_files.push_back(values);
    tuner_.FlushInstalled(flush, Version(), instance_);
  }
};

TEST_F(LargeValuesTest, TheMemtablesValuesAreCountedOnce) {
  TableImpl* const table = Register(kTable, 1000);
  TableImpl* const other = Register(kOther, 1000);
  tuner_.CountPut(table, 1000);
  tuner_.CountPut(table, 1000);
  tuner_.CountPut(other, 999);
  EXPECT_EQ(tuner_.TakeSeparatedPuts(), (std::map<uint64_t, uint64_t>{{kTable, 2}}));
  EXPECT_TRUE(tuner_.TakeSeparatedPuts().empty()) << "the next memtable must begin with no values";
}

TEST_F(LargeValuesTest, ATableWhoseValuesDieInMemoryHasNoLargeValues) {
  TableImpl* const table = Register(kTable, 1000);
  const uint64_t first = tuner_.LargeBytesNow(*table);
  EXPECT_EQ(first, SeparationTuner::FirstLargeBytes(OptionsOf(WalMode::kWal)));
  EXPECT_TRUE(tuner_.IsLarge(*table, first));
  EXPECT_FALSE(tuner_.IsLarge(*table, first - 1));
  PutAndFlush(table, kLargeRecordsMin - 1, 0);
  EXPECT_EQ(tuner_.LargeBytesNow(*table), first) << "there are too few values to choose a bound";
  PutAndFlush(table, 1, 0);
  EXPECT_EQ(tuner_.LargeBytesNow(*table), UINT64_MAX);
  EXPECT_FALSE(tuner_.IsLarge(*table, UINT64_MAX - 1));
}

TEST_F(LargeValuesTest, OldValuesWeighLess) {
  TableImpl* const table = Register(kTable, 1000);
  PutAndFlush(table, 60'000, 0);
  ASSERT_EQ(tuner_.LargeBytesNow(*table), UINT64_MAX);
  // Without halving, 60,000 of 180,000 values would count as dead, which is too large a share.
  for (int i = 0; i < 4; ++i) PutAndFlush(table, 30'000, 30'000);
  EXPECT_LE(tuner_.LargeBytesNow(*table), kLargeBytesMax);
}

TEST_F(LargeValuesTest, AFlushCannotWriteMoreThanWasPut) {
  TableImpl* const table = Register(kTable, 1000);
  // A replay puts values that are not counted.
  PutAndFlush(table, 1000, 100'000);
  PutAndFlush(table, 1000, 0);
  EXPECT_EQ(tuner_.LargeBytesNow(*table), UINT64_MAX) << "half of the values died in memory";
}

TEST_F(LargeValuesTest, ListsAndTablesWithoutSeparationHaveNoLargeValues) {
  TableImpl* const list = Register(kTable, 1000, TableKind::kList);
  TableImpl* const inline_table = Register(kOther, 0);
  for (TableImpl* const table : {list, inline_table}) {
    EXPECT_FALSE(tuner_.IsLarge(*table, 1 << 30));
    EXPECT_EQ(tuner_.LargeBytesNow(*table), UINT64_MAX);
    tuner_.CountPut(table, 1 << 30);
  }
  EXPECT_TRUE(tuner_.TakeSeparatedPuts().empty());
}

TEST_F(LargeValuesTest, NoValueBelowTheBoundOfSeparationIsLarge) {
  TableImpl* const table = Register(kTable, 1 << 20);
  EXPECT_EQ(tuner_.LargeBytesNow(*table), uint64_t{1} << 20);
  EXPECT_FALSE(tuner_.IsLarge(*table, (1 << 20) - 1));
  EXPECT_TRUE(tuner_.IsLarge(*table, 1 << 20));
}

class GivenLargeTest : public LargeValuesTest {
 protected:
  GivenLargeTest() : LargeValuesTest(OptionsOf(WalMode::kWal, 30'000)) {}
};

TEST_F(GivenLargeTest, AGivenBoundOfLargeValuesStays) {
  TableImpl* const table = Register(kTable, 1000);
  EXPECT_EQ(tuner_.LargeBytesNow(*table), 30'000u);
  PutAndFlush(table, 2000, 0);
  EXPECT_EQ(tuner_.LargeBytesNow(*table), 30'000u);
}

TEST(SeparationTuner, TheValueLogNeedsTheWriteAheadLogAndTheOption) {
  MemoryCounter memory;
  TableRegistry tables(&memory, 0);
  TableImpl* const table = tables.Register({"t", kTable, {.separation_bytes = 1000}}, 1 << 20);
  constexpr uint64_t kBytes = 1 << 30;
  EXPECT_TRUE(SeparationTuner(OptionsOf(WalMode::kWalSync), &tables).IsLarge(*table, kBytes));
  EXPECT_FALSE(SeparationTuner(OptionsOf(WalMode::kWal, 0), &tables).IsLarge(*table, kBytes));
  EXPECT_FALSE(SeparationTuner(OptionsOf(WalMode::kNone), &tables).IsLarge(*table, kBytes));
  EXPECT_GT(SeparationTuner::FirstLargeBytes(OptionsOf(WalMode::kWalSync)),
            SeparationTuner::FirstLargeBytes(OptionsOf(WalMode::kWal)))
      << "a sync is expensive, so the first bound must be larger with syncs";
}

}  // namespace
}  // namespace lava
