// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <map>

#include "table/block_loader.h"
#include "table/table_test_util.h"
#include "table/verify.h"
#include "testing/fault_file_system.h"

// Files of version 3 have references and tombstones in index partition blocks, and all other
// records in data blocks.
namespace lava {
namespace {

using testing::InternalKey;
using testing::kPath;
using testing::OpenTable;
using testing::OwnedRecord;
using testing::Random;
using testing::ReadAll;
using testing::WriteTable;

OwnedRecord Reference(const std::string& key, uint64_t raw_bytes) {
  OwnedRecord record{key, RecordKind::kPutReference, 0, {}};
  EncodeReference({{{1, 2}, 3}, raw_bytes, std::nullopt}, &record.value);
  return record;
}

bool IsDecoupled(const OwnedRecord& record) {
  return record.kind != RecordKind::kPut && record.kind != RecordKind::kAppend;
}

class DecoupledRecordsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(file_system_.CreateDirectory("/db").ok());
    options_.block_bytes = 300;
    options_.index_partition_bytes = 1000;
  }

  void Write(const std::vector<OwnedRecord>& records) {
    reader_.reset();
    auto written = WriteTable(&file_system_, kPath, records, {}, options_);
    ASSERT_TRUE(written.ok()) << written.status().ToString();
    auto opened = OpenTable(&file_system_, kPath, cache_.get(), nullptr, &reads_);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    reader_ = std::move(*opened);
    const Status verified = VerifyTableFile(&file_system_, kPath, {});
    EXPECT_TRUE(verified.ok()) << verified.ToString();
  }

  /// Number of blocks that a Get() of the key reads.
  uint64_t ReadsOf(const std::string& key, Lookup* lookup) {
    const uint64_t before = reads_.block_reads;
    EXPECT_TRUE(reader_->Get(lookup).ok());
    EXPECT_TRUE(lookup->done()) << key;
    lookup->Finish();
    return reads_.block_reads - before;
  }

  testing::ChosenFileSystem file_system_;
  std::unique_ptr<BlockCache> cache_ = BlockCache::Create(0);  // keeps nothing
  TableReader::ReadCounters reads_;
  TableWriterOptions options_;
  std::shared_ptr<TableReader> reader_;
};

/// Puts, references and deletes in turns.
std::vector<OwnedRecord> Mixed(size_t count) {
  std::vector<OwnedRecord> records;
  for (size_t i = 0; i < count; ++i) {
    const std::string key = InternalKey(0, 1, "key" + std::to_string(10000 + i));
    if (i % 3 == 0) records.push_back({key, RecordKind::kPut, 0, "value" + std::to_string(i)});
    if (i % 3 == 1) records.push_back(Reference(key, i));
    if (i % 3 == 2) records.push_back({key, RecordKind::kDelete, 0, ""});
  }
  return records;
}

TEST_F(DecoupledRecordsTest, AReferenceOrDeleteNeedsItsPartitionAloneAnInlineValueOneBlockMore) {
  const std::vector<OwnedRecord> records = Mixed(2000);
  Write(records);
  ASSERT_GT(reader_->properties().data_blocks, 20u);
  ASSERT_GT(reader_->properties().index_partitions, 5u);
  for (const OwnedRecord& record : records) {
    Lookup lookup(record.key, 0);
    ASSERT_EQ(ReadsOf(record.key, &lookup), IsDecoupled(record) ? 1u : 2u) << record.key;
    EXPECT_EQ(lookup.found(), record.kind != RecordKind::kDelete);
    if (record.kind == RecordKind::kPut) {
      EXPECT_EQ(lookup.value(), record.value);
    }
  }
}

TEST_F(DecoupledRecordsTest, WithPartitionsInTheCacheReferencesAndDeletesReadNothing) {
  cache_ = BlockCache::Create(64 << 20);
  const std::vector<OwnedRecord> records = Mixed(2000);
  Write(records);
  for (int round = 0; round < 2; ++round) {
    std::vector<std::unique_ptr<Lookup>> lookups;
    std::vector<Lookup*> pointers;
    for (const OwnedRecord& record : records) {
      if (!IsDecoupled(record)) continue;
      lookups.push_back(std::make_unique<Lookup>(record.key, 0));
      if (round == 0) {
        ReadsOf(record.key, lookups.back().get());
      } else {
        pointers.push_back(lookups.back().get());
      }
    }
    for (Lookup* lookup : pointers) {
      ASSERT_TRUE(reader_->Get(lookup).ok());
      EXPECT_TRUE(lookup->done());
    }
    EXPECT_EQ(reads_.block_reads.load(), reader_->properties().index_partitions) << round;
  }
}

TEST_F(DecoupledRecordsTest, AFileOfReferencesAloneHasNoDataBlock) {
  options_.compression = Compression::kNone;
  std::vector<OwnedRecord> records;
  for (uint64_t i = 0; i < 3000; ++i)
    records.push_back(Reference(InternalKey(0, 1, "key" + std::to_string(10000 + 2 * i)), i));
  Write(records);
  EXPECT_EQ(reader_->properties().data_blocks, 0u);
  // Decoupled records alone fill index partitions and end them.
  const uint64_t index_partitions = reader_->properties().index_partitions;
  EXPECT_GT(index_partitions, reader_->properties().file_bytes / 450);
  EXPECT_LT(index_partitions, reader_->properties().file_bytes / 250);
  auto all = ReadAll(*reader_);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(*all, records);
  auto iterator = reader_->NewIterator({});
  for (uint64_t i = 0; i + 1 < records.size(); ++i) {
    iterator->Seek(InternalKey(0, 1, "key" + std::to_string(10001 + 2 * i)));
    ASSERT_TRUE(iterator->Valid());
    ASSERT_EQ(testing::Own(iterator->record()), records[i + 1]);
    Lookup absent(iterator->record().key.substr(0, 10), 0);
    EXPECT_TRUE(reader_->Get(&absent).ok());
    EXPECT_FALSE(absent.done());
  }
  iterator->Seek(records.back().key + '\0');
  EXPECT_FALSE(iterator->Valid());
  EXPECT_TRUE(iterator->status().ok());
}

// One read covers many index partitions: compactions read ahead.
TEST_F(DecoupledRecordsTest, AWalkThatReadsAheadReadsPartitionsInPieces) {
  testing::FaultFileSystem counting(&file_system_);
  const std::vector<OwnedRecord> records = Mixed(3000);
  Write(records);
  auto reader = OpenTable(&counting, kPath, cache_.get());
  ASSERT_TRUE(reader.ok());
  const uint64_t before = counting.calls();
  auto all = ReadAll(**reader, {false, 1 << 20});
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(*all, records);
  EXPECT_EQ(counting.calls() - before, 1u);
}

TEST_F(DecoupledRecordsTest, AWalkReadsADataBlockOnlyWhenItComesToIt) {
  options_.block_bytes = 1000;
  options_.index_partition_bytes = 5000;
  std::vector<OwnedRecord> records;
  for (int i = 0; i < 9; ++i)  // 3 fill a block
    records.push_back({InternalKey(0, 1, "a" + std::to_string(i)), RecordKind::kPut, 0,
                       std::string(300, static_cast<char>('a' + i))});
  const size_t puts = records.size();
  for (int i = 0; i < 9; ++i)
    records.push_back({InternalKey(0, 1, "b" + std::to_string(i)), RecordKind::kDelete, 0, ""});
  for (int i = 0; i < 9; ++i) {
    records.push_back(records[static_cast<size_t>(i)]);
    records.back().key = InternalKey(0, 1, "c" + std::to_string(i));
  }
  options_.compression = Compression::kNone;
  Write(records);
  ASSERT_EQ(reader_->properties().index_partitions, 1u);
  ASSERT_EQ(reader_->properties().data_blocks, 6u);
  auto iterator = reader_->NewIterator({});
  iterator->SeekToFirst();
  for (size_t i = 0; i < records.size(); ++i, iterator->Next()) {
    ASSERT_EQ(testing::Own(iterator->record()), records[i]);
    const uint64_t partition_and_blocks = i < puts       ? 1 + 1 + i / 3
                                          : i < 2 * puts ? 4
                                                         : 1 + 4 + (i - 2 * puts) / 3;
    ASSERT_EQ(reads_.block_reads.load(), partition_and_blocks) << i;
  }
}

TEST_F(DecoupledRecordsTest, APrefixDeleteBesideAPointRecordOfItsKey) {
  for (const uint32_t partition_bytes : {1u, 1000u}) {
    options_.index_partition_bytes = partition_bytes;
    for (const RecordKind kind :
         {RecordKind::kPut, RecordKind::kAppend, RecordKind::kDelete, RecordKind::kPutReference}) {
      std::vector<OwnedRecord> records;
      for (int i = 0; i < 100; ++i) {
        const std::string key = InternalKey(0, 1, "key" + std::to_string(100 + i));
        records.push_back({key, RecordKind::kPrefixDelete, 0, ""});
        records.push_back(kind == RecordKind::kPutReference ? Reference(key, 5)
                                                            : OwnedRecord{key, kind, 0, ""});
        if (kind == RecordKind::kPut || kind == RecordKind::kAppend) records.back().value = "v";
        records.push_back({key + "/x", RecordKind::kPut, static_cast<uint32_t>(key.size()), "v"});
      }
      Write(records);
      auto all = ReadAll(*reader_);
      ASSERT_TRUE(all.ok());
      EXPECT_EQ(*all, records);
      auto iterator = reader_->NewIterator({});
      for (size_t i = 0; i < records.size(); i += 3) {
        const std::string& key = records[i].key;
        iterator->Seek(key);
        ASSERT_TRUE(iterator->Valid());
        EXPECT_EQ(testing::Own(iterator->record()), records[i])
            << "the prefix delete must come first";
        EXPECT_TRUE(*reader_->HasPrefixDelete(key));
        EXPECT_FALSE(*reader_->HasPrefixDelete(key + "/x"));
        EXPECT_TRUE(*reader_->MayHavePrefix(key));
        Lookup point(key, static_cast<uint32_t>(key.size()));
        ASSERT_TRUE(reader_->Get(&point).ok());
        EXPECT_TRUE(point.done())
            << "the lookup must end with the point record, or for an append with the prefix delete";
        point.Finish();
        EXPECT_EQ(point.found(), kind != RecordKind::kDelete);
        const std::string absent_key = key + "/y";
        Lookup absent(absent_key, static_cast<uint32_t>(key.size()));
        ASSERT_TRUE(reader_->Get(&absent).ok());
        EXPECT_TRUE(absent.done()) << "the prefix delete hides the key";
        EXPECT_FALSE(absent.found());
      }
    }
  }
}

/// Sorted by key, a prefix delete first.
using Sorted = std::map<std::pair<std::string, bool>, OwnedRecord>;

Sorted RandomMix(Random* random) {
  Sorted sorted;
  // The shares of the kinds vary: long runs of one kind, and mixtures of all.
  const uint64_t shares[] = {random->Uniform(4), random->Uniform(4), random->Uniform(4),
                             random->Uniform(3), random->Uniform(4)};
  uint64_t all = 1;
  for (const uint64_t share : shares) all += share;
  for (uint64_t i = random->Between(1, 300); i > 0; --i) {
    std::string key = InternalKey(0, 1, std::to_string(random->Uniform(600)));
    if (random->OneIn(4)) key += random->Bytes(random->Uniform(4));
    uint64_t pick = random->Uniform(all);
    uint64_t kind = 0;
    while (kind < 4 && pick >= shares[kind]) pick -= shares[kind++];
    OwnedRecord record{key, static_cast<RecordKind>(1 + kind), 0, {}};
    if (kind == 4) record = Reference(key, random->Next());
    if (!IsDecoupled(record)) record.value = random->Bytes(random->Uniform(40));
    const bool point = record.kind != RecordKind::kPrefixDelete;
    sorted[{key, point}] = record;
    if (random->OneIn(5)) sorted[{key, false}] = {key, RecordKind::kPrefixDelete, 0, {}};
  }
  return sorted;
}

TEST_F(DecoupledRecordsTest, SeeksToAllKeysAndBetweenThemAgreeWithAMap) {
  for (uint64_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    options_.block_bytes = static_cast<uint32_t>(random.Between(1, 800));
    options_.index_partition_bytes = static_cast<uint32_t>(random.Between(1, 3000));
    options_.filter_bits_per_key = random.OneIn(4) ? 0 : 10;
    cache_ = BlockCache::Create(random.OneIn(2) ? 0 : 1 << 20);
    const Sorted sorted = RandomMix(&random);
    std::vector<OwnedRecord> records;
    for (const auto& [key, record] : sorted) records.push_back(record);
    Write(records);
    if (HasFatalFailure()) return;
    for (const TableReader::IterateOptions& options :
         {TableReader::IterateOptions{true, 0}, {false, 0}, {false, 700}}) {
      auto all = ReadAll(*reader_, options);
      ASSERT_TRUE(all.ok()) << all.status().ToString();
      ASSERT_EQ(*all, records);
      auto iterator = reader_->NewIterator(options);
      for (const auto& [key, record] : sorted) {
        for (const std::string& target :
             {key.first, key.first + '\0', key.first.substr(0, key.first.size() - 1)}) {
          iterator->Seek(target);
          auto expected = sorted.lower_bound({target, false});
          for (int step = 0; step < 3 && expected != sorted.end(); ++step, ++expected) {
            ASSERT_TRUE(iterator->Valid());
            ASSERT_EQ(testing::Own(iterator->record()), expected->second);
            iterator->Next();
          }
          if (expected == sorted.end()) {
            ASSERT_FALSE(iterator->Valid());
          }
        }
      }
      reader_->NewIterator(options)->Seek("");
    }
    for (const auto& [key, record] : sorted) {
      Lookup lookup(key.first, 0);
      ASSERT_TRUE(reader_->Get(&lookup).ok());
      const auto point = sorted.find({key.first, true});
      ASSERT_EQ(*reader_->HasPrefixDelete(key.first), sorted.contains({key.first, false}));
      lookup.Finish();
      ASSERT_EQ(lookup.found(), point != sorted.end() && point->second.kind != RecordKind::kDelete);
    }
    reader_.reset();
  }
}

class DecoupledDamageTest : public DecoupledRecordsTest {
 protected:
  // One index partition with a data block and a delete.
  void SetUp() override {
    DecoupledRecordsTest::SetUp();
    options_.compression = Compression::kNone;
    options_.filter_bits_per_key = 0;
    Write({{Key('b'), RecordKind::kPut, 0, "v"},
           {Key('c'), RecordKind::kDelete, 0, ""},
           {Key('d'), RecordKind::kPut, 0, "v"}});
    content_ = *file_system_.Content(kPath);
    ksst::TableHead head;
    ASSERT_TRUE(ksst::ReadTableHead(file_system_.OpenRandom(kPath).value(), &head).ok());
    ASSERT_EQ(head.top.count(), 1u);
    handle_ = BlockAt(head.top, 0);
    unique_id_ = head.footer.unique_id;
    at_ = content_.find(Key('c'), handle_.offset);
    ASSERT_LT(at_, handle_.end());
  }
  static std::string Key(char last) { return InternalKey(0, 1, std::string("key") + last); }

  /// Result of verifying the content after the index partition's checksum was repaired.
  std::string Verified() {
    const Slice covered =
        Slice(content_).substr(handle_.offset, handle_.bytes + kBlockTrailerBytes - 8);
    EncodeFixed64(content_.data() + handle_.end() - 8,
                  BlockChecksum(unique_id_, handle_.offset, covered));
    EXPECT_TRUE(file_system_.SetContent(kPath, content_).ok());
    const Status status = VerifyTableFile(&file_system_, kPath, {});
    EXPECT_TRUE(status.ok() || (status.IsCorruption() &&
                                status.message().find("offset") != std::string_view::npos));
    return status.ToString();
  }
  /// Gives the delete another key, and the fingerprint that finds it.
  void Rename(char last) {
    content_.replace(at_, Key(last).size(), Key(last));
    const uint64_t hash = ksst::DecoupledHash(ksst::PointHash(Key(last)));
    content_[at_ + Key(last).size()] = static_cast<char>(ksst::FingerprintOf(hash));
  }

  std::string content_;
  BlockHandle handle_;
  uint64_t unique_id_ = 0;
  size_t at_ = 0;  // the delete's key
};

TEST_F(DecoupledDamageTest, VerificationLooksAtTheOrderOverBothPlaces) {
  EXPECT_EQ(Verified(), Status::OK().ToString());
  Rename('b');
  EXPECT_NE(Verified().find("does not come behind"), std::string::npos) << Verified();
  Rename('e');
  EXPECT_NE(Verified().find("outside the keys"), std::string::npos) << Verified();
  content_[at_ + Key('c').size()] ^= 1;
  Rename('c');
  content_[at_ + Key('c').size()] ^= 1;
  EXPECT_NE(Verified().find("fingerprint"), std::string::npos) << Verified();
}

TEST_F(DecoupledDamageTest, VerificationCountsDecoupledRecords) {
  content_[at_ - 4] = static_cast<char>(RecordKind::kPrefixDelete);
  const uint64_t hash = ksst::DecoupledHash(ksst::PrefixDeleteHash(Key('c')));
  content_[at_ + Key('c').size()] = static_cast<char>(ksst::FingerprintOf(hash));
  const std::string verified = Verified();
  EXPECT_TRUE(verified.find("counts") != std::string::npos ||
              verified.find("bounds") != std::string::npos)
      << verified;
}

TEST_F(DecoupledDamageTest, AnInlineKindInAPartitionIsRefused) {
  for (const RecordKind kind : {RecordKind::kPut, RecordKind::kAppend}) {
    content_[at_ - 4] = static_cast<char>(kind);
    EXPECT_NE(Verified().find("another place"), std::string::npos) << Verified();
    auto reader = OpenTable(&file_system_, kPath, cache_.get());
    ASSERT_TRUE(reader.ok());
    const std::string key = Key('c');
    Lookup lookup(key, 0);
    EXPECT_TRUE((*reader)->Get(&lookup).IsCorruption());
    EXPECT_TRUE(ReadAll(**reader).status().IsCorruption());
  }
}

TEST_F(DecoupledDamageTest, AVersionThatHasNoDecoupledRecordsRefusesThem) {
  const uint64_t footer = content_.size() - ksst::kFooterBytes;
  EncodeFixed32(content_.data() + footer + 48, ksst::kFormatVersionReferences);
  EncodeFixed64(content_.data() + footer + 52,
                Hash64(Slice(content_).substr(footer, ksst::kFooterBytes - 16), footer));
  EXPECT_NE(Verified(), Status::OK().ToString());
}

}  // namespace
}  // namespace lava
