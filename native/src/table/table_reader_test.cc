// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/table_reader.h"

#include <map>

#include "memory/memory_budget.h"
#include "table/table_test_util.h"
#include "table/verify.h"
#include "testing/fault_file_system.h"

namespace lava {
namespace {

using testing::InternalKey;
using testing::OpenTable;
using testing::OwnedRecord;
using testing::Random;
using testing::ReadAll;
using testing::WriteTable;

/// A model of a file's records: each key has at most a prefix delete and a point record.
using ModelKey = std::pair<std::string, bool>;  // false sorts first: prefix delete
using Model = std::map<ModelKey, OwnedRecord>;

constexpr RecordKind kPointKinds[] = {RecordKind::kPut, RecordKind::kDelete, RecordKind::kAppend,
                                      RecordKind::kPutReference};

std::string RandomKey(Random* random) {
  std::string rest = "shared-prefix-" + std::to_string(random->Uniform(40)) + "-";
  if (random->OneIn(6)) rest += random->Bytes(random->Uniform(3));
  if (random->OneIn(40)) rest += std::string(random->Uniform(3000), 'x');
  rest += std::to_string(random->Uniform(50));
  return InternalKey(static_cast<uint8_t>(random->Uniform(3)), 100 + random->Uniform(2), rest);
}

Model RandomModel(Random* random, size_t count) {
  Model model;
  for (size_t i = 0; i < count; ++i) {
    OwnedRecord record;
    record.key = RandomKey(random);
    if (random->OneIn(10)) {
      record.key.resize(6 + random->Uniform(record.key.size() - 5));
      record.kind = RecordKind::kPrefixDelete;
      model[{record.key, false}] = record;
      continue;
    }
    record.kind = kPointKinds[random->Uniform(std::size(kPointKinds))];
    if (random->OneIn(2)) record.prefix_bytes = static_cast<uint32_t>(6 + record.key.size() / 3);
    if (record.prefix_bytes > record.key.size()) record.prefix_bytes = 0;
    if (record.kind == RecordKind::kPutReference) {
      EncodeReference({{{1, 2}, random->Uniform(9)}, random->Uniform(1 << 20), std::nullopt},
                      &record.value);
    } else if (record.kind != RecordKind::kDelete)
      record.value = random->OneIn(3) ? std::string(random->Uniform(600), 'r')
                                      : random->Bytes(random->Uniform(60));
    model[{record.key, true}] = record;
  }
  return model;
}

std::vector<OwnedRecord> RecordsOf(const Model& model) {
  std::vector<OwnedRecord> records;
  for (const auto& [key, record] : model) records.push_back(record);
  return records;
}

struct Expected {
  bool told = false, hidden = false;
  RecordKind kind = RecordKind::kPut;
  std::string value;
};

Expected ModelGet(const Model& model, const RangeTombstoneSet& tombstones, const std::string& key,
                  uint32_t prefix_bytes) {
  Expected expected;
  auto point = model.find({key, true});
  if (point != model.end()) {
    expected.told = true;
    expected.kind = point->second.kind;
    expected.value = point->second.value;
    if (expected.kind != RecordKind::kAppend) return expected;
  }
  expected.hidden = (prefix_bytes != 0 && model.contains({key.substr(0, prefix_bytes), false})) ||
                    tombstones.Covers(key);
  return expected;
}

void CheckLookup(Lookup* lookup, const Expected& expected) {
  // For existence alone, an append is enough.
  bool ends = expected.told && (expected.kind != RecordKind::kAppend || lookup->existence_only);
  EXPECT_EQ(lookup->done(), ends || expected.hidden);
  lookup->Finish();
  EXPECT_EQ(lookup->found(), expected.told && expected.kind != RecordKind::kDelete);
  if (!lookup->found() || lookup->existence_only) return;
  if (expected.kind != RecordKind::kPutReference) {
    EXPECT_EQ(lookup->value(), expected.value);
    return;
  }
  ASSERT_NE(lookup->reference(), nullptr);
  std::string reference;
  EncodeReference(*lookup->reference(), &reference);
  EXPECT_EQ(reference, expected.value);
}

class ModelTest {
 public:
  ModelTest(uint64_t seed, TableWriterOptions options, size_t count)
      : random_(seed), options_(options), model_(RandomModel(&random_, count)) {
    for (uint64_t i = random_.Uniform(4); i > 0; --i) {
      std::string a = RandomKey(&random_), b = RandomKey(&random_);
      tombstones_.Add(std::min(a, b), std::max(a, b));
    }
    EXPECT_TRUE(file_system_.CreateDirectory("/db").ok());
  }

  void Run() {
    // The index partitions that the writer kept must be those of the file.
    const bool warm = random_.OneIn(2);
    if (warm) options_.kept_index_partition_bytes = UINT64_MAX;
    std::vector<std::string> index_partitions;
    auto written = WriteTable(&file_system_, "/db/1.ksst", RecordsOf(model_), tombstones_, options_,
                              &index_partitions);
    ASSERT_TRUE(written.ok()) << written.status().ToString();
    auto opened = OpenTable(&file_system_, "/db/1.ksst", cache_.get(), &counter_, &reads_);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    reader_ = std::move(*opened);
    EXPECT_GT(counter_.used(), 0u);
    if (warm) reader_->Warm(index_partitions);
    CheckIterators();
    for (int i = 0; i < 300; ++i) CheckGet(RandomKey(&random_));
    for (const auto& [key, record] : model_) CheckGet(key.first);
    CheckPrefixes();
    EXPECT_TRUE(VerifyTableFile(&file_system_, "/db/1.ksst", {}).ok());
    reader_.reset();
    EXPECT_EQ(counter_.used(), 0u);
    EXPECT_EQ(cache_->statistics().used_bytes(), 0u);
  }

 private:
  void CheckIterators() {
    for (TableReader::IterateOptions options : {TableReader::IterateOptions{true, 0},
                                                {false, 0},
                                                {false, 1000},
                                                {false, 1 << 20},
                                                {false, 0, true},
                                                {false, 40 << 10, true},
                                                {true, 0, false, &counter_},
                                                {true, 0, false, &counter_, true}}) {
      auto all = ReadAll(*reader_, options);
      ASSERT_TRUE(all.ok()) << all.status().ToString();
      ASSERT_EQ(*all, RecordsOf(model_));
      auto iterator = reader_->NewIterator(options);
      for (int i = 0; i < 60; ++i) {
        std::string target = RandomKey(&random_);
        if (random_.OneIn(3)) target.resize(random_.Uniform(target.size()));
        iterator->Seek(target);
        auto expected = model_.lower_bound({target, false});
        for (int step = 0; step < 5 && expected != model_.end(); ++step, ++expected) {
          ASSERT_TRUE(iterator->Valid());
          ASSERT_EQ(testing::Own(iterator->record()), expected->second);
          iterator->Next();
        }
        if (expected == model_.end()) {
          ASSERT_FALSE(iterator->Valid());
        }
        ASSERT_TRUE(iterator->status().ok());
      }
    }
  }

  void CheckGet(const std::string& key) {
    uint32_t prefix_bytes =
        random_.OneIn(3) ? 0 : static_cast<uint32_t>(random_.Uniform(key.size() + 1));
    Lookup lookup(key, prefix_bytes);
    lookup.existence_only = random_.OneIn(4);
    ASSERT_TRUE(reader_->Get(&lookup).ok());
    CheckLookup(&lookup, ModelGet(model_, tombstones_, key, prefix_bytes));
  }

  void CheckPrefixes() {
    for (const auto& [key, record] : model_) {
      bool is_delete = record.kind == RecordKind::kPrefixDelete;
      auto has = reader_->HasPrefixDelete(key.first);
      ASSERT_TRUE(has.ok());
      EXPECT_EQ(*has, model_.contains({key.first, false}));
      if (!is_delete && record.prefix_bytes == 0) continue;
      Slice prefix = Slice(key.first).substr(0, is_delete ? key.first.size() : record.prefix_bytes);
      auto may = reader_->MayHavePrefix(prefix);
      ASSERT_TRUE(may.ok());
      EXPECT_TRUE(*may);
    }
  }

  testing::ChosenFileSystem file_system_;
  std::unique_ptr<BlockCache> cache_ = BlockCache::Create(256 << 10);
  MemoryCounter counter_;
  TableReader::ReadCounters reads_;
  Random random_;
  TableWriterOptions options_;
  Model model_;
  RangeTombstoneSet tombstones_;
  std::shared_ptr<TableReader> reader_;
};

TEST(TableReaderTest, RandomFilesAgreeWithAMap) {
  uint64_t seed = 1;
  for (Compression codec : {Compression::kNone, Compression::kLz4, Compression::kZstd}) {
    for (uint32_t block_bytes : {1u, 64u, 700u, 4096u, 65536u}) {
      for (uint32_t partition_bytes : {1u, 500u, 16384u}) {
        TableWriterOptions options;
        options.compression = codec;
        options.block_bytes = block_bytes;
        options.index_partition_bytes = partition_bytes;
        options.filter_bits_per_key = seed % 4 == 0 ? 0 : 10;
        options.decouple_records = seed % 7 != 3;
        SCOPED_TRACE(seed);
        ModelTest(seed, options, seed % 5 == 0 ? 5 : 600).Run();
        if (::testing::Test::HasFatalFailure()) return;
        ++seed;
      }
    }
  }
}

class ReaderTest : public ::testing::Test {
 protected:
  void Write(const std::vector<OwnedRecord>& records, const RangeTombstoneSet& tombstones = {},
             const TableWriterOptions& options = {}) {
    reader_.reset();
    ASSERT_TRUE(file_system_.CreateDirectory("/db").ok());
    auto written = WriteTable(&file_system_, "/db/1.ksst", records, tombstones, options);
    ASSERT_TRUE(written.ok()) << written.status().ToString();
    auto opened = OpenTable(&file_system_, "/db/1.ksst", cache_.get(), nullptr, &reads_);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    reader_ = std::move(*opened);
    EXPECT_TRUE(VerifyTableFile(&file_system_, "/db/1.ksst", {}).ok());
  }

  testing::ChosenFileSystem file_system_;
  std::unique_ptr<BlockCache> cache_ = BlockCache::Create(64 << 20);
  TableReader::ReadCounters reads_;
  std::shared_ptr<TableReader> reader_;
};

TEST_F(ReaderTest, EmptyFile) {
  Write({});
  auto iterator = reader_->NewIterator({});
  iterator->SeekToFirst();
  EXPECT_FALSE(iterator->Valid());
  iterator->Seek("a");
  EXPECT_FALSE(iterator->Valid());
  EXPECT_TRUE(iterator->status().ok());
  Lookup lookup("a", 1);
  EXPECT_TRUE(reader_->Get(&lookup).ok());
  EXPECT_FALSE(lookup.done());
  EXPECT_FALSE(*reader_->MayHavePrefix("a"));
}

TEST_F(ReaderTest, OnlyRangeTombstones) {
  RangeTombstoneSet tombstones;
  tombstones.Add("b", "d");
  Write({}, tombstones);
  EXPECT_EQ(reader_->properties().lower, "b");
  EXPECT_EQ(reader_->properties().upper, "d");
  Lookup inside("c", 0), outside("d", 0);
  ASSERT_TRUE(reader_->Get(&inside).ok());
  ASSERT_TRUE(reader_->Get(&outside).ok());
  EXPECT_TRUE(inside.done());
  EXPECT_FALSE(outside.done());
  EXPECT_TRUE(*reader_->MayHavePrefix("b"));
  EXPECT_FALSE(*reader_->MayHavePrefix("d"));
}

TEST_F(ReaderTest, LongKeysThatShareAlmostEverything) {
  std::vector<OwnedRecord> records;
  std::string base((1 << 20) - 1, 'k');
  for (char c = 'a'; c < 'j'; ++c) {
    records.push_back({base + c, RecordKind::kPut, static_cast<uint32_t>(base.size()), ""});
  }
  Write(records);
  auto all = ReadAll(*reader_);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(*all, records);
  for (const OwnedRecord& record : records) {
    Lookup lookup(record.key, record.prefix_bytes);
    ASSERT_TRUE(reader_->Get(&lookup).ok());
    EXPECT_TRUE(lookup.done());
  }
  std::string absent_key = base + "z";
  Lookup absent(absent_key, 0);
  ASSERT_TRUE(reader_->Get(&absent).ok());
  EXPECT_FALSE(absent.done());
}

TEST_F(ReaderTest, ValuesArePinnedNotCopied) {
  Write({{"a", RecordKind::kPut, 0, std::string(100, 'v')}});
  auto lookup = std::make_unique<Lookup>("a", 0);
  ASSERT_TRUE(reader_->Get(lookup.get()).ok());
  lookup->Finish();
  ASSERT_NE(lookup->pin(), nullptr);
  EXPECT_GT(cache_->statistics().pinned_bytes, 0u);
  cache_->SetCapacity(0);
  EXPECT_EQ(lookup->value(), std::string(100, 'v'));
  lookup.reset();
  EXPECT_EQ(cache_->statistics().pinned_bytes, 0u);
}

TEST_F(ReaderTest, ExistenceOnlyPinsNothing) {
  Write({{"a", RecordKind::kPut, 0, "value"}});
  Lookup lookup("a", 0);
  lookup.existence_only = true;
  ASSERT_TRUE(reader_->Get(&lookup).ok());
  lookup.Finish();
  EXPECT_TRUE(lookup.found());
  EXPECT_EQ(lookup.pin(), nullptr);
}

TEST_F(ReaderTest, FilterSparesBlockReads) {
  std::vector<OwnedRecord> records;
  for (int i = 0; i < 2000; ++i)
    records.push_back({InternalKey(0, 1, std::to_string(10000 + i)), RecordKind::kPut, 0, "v"});
  Write(records);
  int absent = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string key = InternalKey(0, 1, std::to_string(10000 + i) + "x");
    Lookup lookup(key, 0);
    ASSERT_TRUE(reader_->Get(&lookup).ok());
    EXPECT_FALSE(lookup.done());
    ++absent;
  }
  EXPECT_GT(reads_.filter_useful.load(), static_cast<uint64_t>(absent) * 95 / 100);
  EXPECT_FALSE(*reader_->HasPrefixDelete(records[0].key));
}

TEST_F(ReaderTest, AWarmedFileAnswersByItsIndexWithoutARead) {
  std::vector<OwnedRecord> records;
  std::string reference;
  EncodeReference({{{1, 2}, 3}, 1 << 20, std::nullopt}, &reference);
  for (int i = 0; i < 2000; ++i)
    records.push_back(
        {InternalKey(0, 1, std::to_string(10000 + i)), RecordKind::kPutReference, 0, reference});
  ASSERT_TRUE(file_system_.CreateDirectory("/db").ok());
  for (const bool warm : {false, true}) {
    TableWriterOptions options;
    std::vector<std::string> index_partitions;
    options.kept_index_partition_bytes = warm ? 1 << 20 : 10'000;
    ASSERT_TRUE(
        WriteTable(&file_system_, "/db/2.ksst", records, {}, options, &index_partitions).ok());
    EXPECT_EQ(index_partitions.empty(), !warm)
        << "the writer must return all index partitions or none";
    auto opened = OpenTable(&file_system_, "/db/2.ksst", cache_.get(), nullptr, &reads_);
    ASSERT_TRUE(opened.ok());
    (*opened)->Warm(index_partitions);
    const uint64_t before = reads_.block_reads;
    for (const OwnedRecord& record : records) {
      Lookup lookup(record.key, 0);
      ASSERT_TRUE((*opened)->Get(&lookup).ok());
      EXPECT_NE(lookup.reference(), nullptr);
    }
    EXPECT_EQ(reads_.block_reads - before, warm ? 0u : (*opened)->properties().index_partitions);
  }
}

TEST_F(ReaderTest, WalkThatLooksInTheCacheKeepsNoDataAndCountsNothing) {
  std::vector<OwnedRecord> records;
  for (int i = 0; i < 20'000; ++i)
    records.push_back({InternalKey(1, 7, std::to_string(100'000 + i)), RecordKind::kPut, 0,
                       std::string(20, static_cast<char>('a' + i % 26))});
  Write(records);
  const TableReader::IterateOptions options{
      .fill_cache = false, .readahead_bytes = 64 << 10, .look_in_cache = true};
  auto first = ReadAll(*reader_, options);
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  EXPECT_EQ(*first, records);
  EXPECT_EQ(cache_->statistics().data.used_bytes, 0u);
  EXPECT_GT(cache_->statistics().index.used_bytes, 0u)
      << "the cache must keep the index, because the next page needs it again";
  const uint64_t blocks = reads_.block_reads;
  // Blocks that another reader loaded come from the cache; their bytes in the file do not matter.
  ASSERT_TRUE(ReadAll(*reader_).ok());
  const BlockCache::Statistics before = cache_->statistics();
  EXPECT_GT(before.data.used_bytes, 0u);
  const uint64_t filled = reads_.block_reads;
  EXPECT_GT(filled, blocks);
  auto second = ReadAll(*reader_, options);
  ASSERT_TRUE(second.ok()) << second.status().ToString();
  EXPECT_EQ(*second, records);
  EXPECT_EQ(reads_.block_reads, filled);
  EXPECT_EQ(cache_->statistics().data.hits, before.data.hits);
  EXPECT_EQ(cache_->statistics().data.misses, before.data.misses);
}

// Records of 500 bytes.
std::vector<OwnedRecord> WriteMegabyte(fs::FileSystem* files) {
  EXPECT_TRUE(files->CreateDirectory("/db").ok());
  std::vector<OwnedRecord> records;
  Random random(7);
  for (int i = 0; i < 2000; ++i)
    records.push_back(
        {InternalKey(1, 7, std::to_string(10'000 + i)), RecordKind::kPut, 0, random.Bytes(500)});
  EXPECT_TRUE(WriteTable(files, testing::kPath, records).ok());
  return records;
}

// When a walk continues, blocks that are not in the cache are read in pieces and put into the
// cache.
TEST(TableReaderAhead, AWalkThatGoesOnReadsAheadAsFarAsMemoryAllows) {
  testing::ChosenFileSystem files;
  testing::FaultFileSystem counted(&files);
  const std::vector<OwnedRecord> records = WriteMegabyte(&files);
  struct Walk {
    const char* name;
    uint64_t budget;  // 0: no memory counter
    bool goes_on;
  };
  std::map<std::string, uint64_t> reads, blocks;
  for (const Walk& walk : {Walk{"alone", 0, false}, Walk{"ahead", 1 << 20, false},
                           Walk{"goes on", 1 << 20, true}, Walk{"refused", 1, false}}) {
    SCOPED_TRACE(walk.name);
    const auto cache = BlockCache::Create(8 << 20);
    TableReader::ReadCounters counters;
    auto opened = OpenTable(&counted, testing::kPath, cache.get(), nullptr, &counters);
    ASSERT_TRUE(opened.ok());
    MemoryBudget budget;
    budget.SetLimit(walk.budget);
    MemoryCounter* const memory = budget.counter(MemoryPurpose::kScans);
    TableReader::IterateOptions options;
    options.ahead_memory = walk.budget == 0 ? nullptr : memory;
    options.goes_on = walk.goes_on;
    const uint64_t before = counted.calls(testing::FileCall::kRead);
    auto all = ReadAll(**opened, options);
    ASSERT_TRUE(all.ok()) << all.status().ToString();
    EXPECT_EQ(*all, records);
    EXPECT_EQ(memory->used(), 0u) << "the memory for reading ahead must be released";
    reads[walk.name] = counted.calls(testing::FileCall::kRead) - before;
    blocks[walk.name] = counters.block_reads;
    // All of it is in the cache now.
    ASSERT_TRUE(ReadAll(**opened, options).ok());
    EXPECT_EQ(counters.block_reads, blocks[walk.name]);
  }
  EXPECT_GT(reads["alone"], 250u) << "each block of 4 KiB needs a read, and the file has 1 MB";
  EXPECT_EQ(reads["refused"], reads["alone"]);
  EXPECT_LT(reads["ahead"], reads["alone"] / 10);
  EXPECT_LT(reads["goes on"], reads["ahead"]);
  for (const auto& [name, count] : blocks) EXPECT_EQ(count, blocks["alone"]) << name;
}

// The bytes that a walk expects to need are read at once, unless the cache has the first of them.
TEST(TableReaderAhead, WhatAWalkExpectsToWantComesInOnePiece) {
  testing::ChosenFileSystem files;
  testing::FaultFileSystem counted(&files);
  const std::vector<OwnedRecord> records = WriteMegabyte(&files);
  constexpr size_t kFrom = 400, kWanted = 80;  // 40 kB
  // Data reads of a walk over the wanted records. cached: number of its first blocks that are in
  // the cache.
  const auto reads_of = [&](uint64_t expected_bytes, uint64_t budget_bytes, size_t cached) {
    const auto cache = BlockCache::Create(8 << 20);
    auto opened = OpenTable(&counted, testing::kPath, cache.get());
    EXPECT_TRUE(opened.ok());
    MemoryBudget budget;
    budget.SetLimit(budget_bytes);
    TableReader::IterateOptions options;
    options.ahead_memory = budget.counter(MemoryPurpose::kScans);
    auto before = (*opened)->NewIterator({});
    before->Seek(records[kFrom].key);  // loads the index, and the first block into the cache
    if (cached == 0) cache->EraseFile(1);
    options.expected_bytes = expected_bytes;
    auto walk = (*opened)->NewIterator(options);
    const uint64_t reads = counted.calls(testing::FileCall::kRead);
    walk->Seek(records[kFrom].key);
    for (size_t i = kFrom; i < kFrom + kWanted; ++i, walk->Next()) {
      EXPECT_TRUE(walk->Valid());
      EXPECT_EQ(testing::Own(walk->record()), records[i]);
    }
    return counted.calls(testing::FileCall::kRead) - reads;
  };
  const uint64_t unknown = reads_of(0, 1 << 20, 0);
  EXPECT_EQ(unknown, 4u + 1)
      << "after the index, there must be reads of two blocks, of 16 KiB and of 32 KiB";
  EXPECT_EQ(reads_of(42'000, 1 << 20, 0), 1u + 1)
      << "after the index, one read must return all wanted bytes";
  EXPECT_EQ(reads_of(7'000, 1 << 20, 0), unknown)
      << "the expected size is too small for a larger read";
  EXPECT_EQ(reads_of(42'000, 1 << 20, 1), 4u)
      << "the cache has the first block, so the walk must not read ahead at once";
  EXPECT_EQ(reads_of(42'000, 1, 0), reads_of(0, 1, 0))
      << "without memory the expected size must change nothing";
}

TEST_F(ReaderTest, WalkPastTheCacheLeavesItAlone) {
  Write(testing::SmallRecords(200));
  ASSERT_TRUE(ReadAll(*reader_, {false, 4096}).ok());
  EXPECT_EQ(cache_->statistics().used_bytes(), 0u);
  ASSERT_TRUE(ReadAll(*reader_, {true, 0}).ok());
  EXPECT_GT(cache_->statistics().used_bytes(), 0u);
}

}  // namespace
}  // namespace lava
