// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "job/value_output.h"

#include <gtest/gtest.h>

#include "compaction/tree_for_test.h"
#include "testing/fault_file_system.h"

namespace lava {
namespace {

using testing::Fault;
using testing::FaultFileSystem;
using testing::FileCall;

std::string Stamp(uint64_t timestamp) {
  std::string bytes;
  PutBigEndian(&bytes, timestamp, 8);
  return bytes;
}
std::string Large(size_t bytes) { return std::string(bytes, 'v'); }
using Files = std::vector<std::shared_ptr<ValueFileMeta>>;

class ValueOutputTest : public ::testing::Test {
 protected:
  ValueOutputTest() : faults_(&tree_.file_system()) {
    tree_.context().file_system = &faults_;
    tree_.context().value_writer.compression = Compression::kNone;
    tree_.tables[7] = {.kind = TableKind::kMap, .separation_bytes = 100};
  }

  /// The result of MoveOut(): no reference ("inline"), or the reference that replaces the value.
  std::optional<ValueReference> MoveOut(ValueOutput* output, const std::string& key,
                                        const std::string& value,
                                        RecordKind kind = RecordKind::kPut) {
    Record record{key, kind, 0, value};
    EXPECT_TRUE(output->MoveOut(&record).ok());
    EXPECT_EQ(record.key, key);
    if (record.kind != RecordKind::kPutReference) {
      EXPECT_EQ(record.kind, kind);
      EXPECT_EQ(record.value, value);
      return std::nullopt;
    }
    ValueReference reference;
    EXPECT_TRUE(DecodeReference(record.value, &reference));
    return reference;
  }

  TreeForTest tree_;
  FaultFileSystem faults_;
};

TEST_F(ValueOutputTest, MovesPutsOfTheBoundAndAbove) {
  ValueOutput output(tree_.context(), tree_.tables, 0);
  EXPECT_FALSE(MoveOut(&output, K("a"), std::string(99, 'v')));
  const auto reference = MoveOut(&output, K("b"), std::string(100, 'v'));
  ASSERT_TRUE(reference);
  EXPECT_EQ(reference->raw_bytes, 100u);
  EXPECT_FALSE(reference->timestamp) << "the table has no TTL";
  EXPECT_FALSE(MoveOut(&output, K("c"), "", RecordKind::kDelete));
  EXPECT_FALSE(MoveOut(&output, K("d"), std::string(200, 'v'), RecordKind::kAppend));
  EXPECT_FALSE(MoveOut(&output, K("e"), "", RecordKind::kPrefixDelete));
  Files files;
  ASSERT_TRUE(output.Finish(&files).ok());
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0]->id, reference->blob_file);
  EXPECT_EQ(files[0]->blob_files, (std::vector<BlobReference>{{files[0]->id, 1, 100}}));
  EXPECT_EQ(output.bytes_written(), files[0]->bytes);
  EXPECT_EQ(tree_.file_system().Paths().size(), 1u);
}

TEST_F(ValueOutputTest, ValuesOfKeysThatWereDroppedBeforeGoToAFileOfTheirOwn) {
  DropCache drops(nullptr, 1024);
  drops.Dropped(K("b"));
  drops.Dropped(K("d"));
  tree_.context().drop_cache = &drops;
  ValueOutput output(tree_.context(), tree_.tables, 0);
  std::map<std::string, FileId> blob_files;
  for (const char* key : {"a", "b", "c", "d"})
    blob_files[key] = MoveOut(&output, K(key), std::string(100, 'v'))->blob_file;
  EXPECT_EQ(blob_files["a"], blob_files["c"]);
  EXPECT_EQ(blob_files["b"], blob_files["d"]);
  EXPECT_NE(blob_files["a"], blob_files["b"]);
  Files files;
  ASSERT_TRUE(output.Finish(&files).ok());
  ASSERT_EQ(files.size(), 2u);
  for (const auto& file : files) {
    EXPECT_EQ(file->hot, file->id == blob_files["b"]);
    EXPECT_EQ(file->records, 2u);
  }
}

TEST_F(ValueOutputTest, TablesThatDoNotAskForItKeepTheirValues) {
  tree_.tables[8] = {.kind = TableKind::kValue};
  tree_.tables[9] = {
      .kind = TableKind::kList, .ttl_layout = TtlLayout::kList, .ttl_ms = 1, .separation_bytes = 1};
  ValueOutput output(tree_.context(), tree_.tables, 0);
  const std::string value(100'000, 'v');
  EXPECT_FALSE(MoveOut(&output, K("k", 8), value)) << "the table has no separation size";
  EXPECT_FALSE(MoveOut(&output, K("k", 9), TreeForTest::Segment(value)))
      << "the elements of the list expire";
  EXPECT_FALSE(MoveOut(&output, K("k", 10), value)) << "the table is not registered";
  EXPECT_FALSE(MoveOut(&output, "k", value)) << "the key belongs to no table";
  Files files;
  ASSERT_TRUE(output.Finish(&files).ok());
  EXPECT_TRUE(files.empty());
  EXPECT_TRUE(tree_.file_system().Paths().empty());
}

TEST_F(ValueOutputTest, OfAListTheLargestInlinePartIsMoved) {
  tree_.tables[9] = {.kind = TableKind::kList, .separation_bytes = 100};
  ValueOutput output(tree_.context(), tree_.tables, 0);
  std::string other;
  AppendListReference({FileId{{5, 6}, 7}, 1000, std::nullopt}, &other);
  const std::string small = TreeForTest::Segment("s"), large = TreeForTest::Segment(Large(100)),
                    larger = TreeForTest::Segment(Large(200)) + TreeForTest::Segment("tail");
  struct {
    RecordKind kind;
    std::string list;
    RecordKind becomes;
    std::string with;  // "#": the reference to the moved value
  } rows[] = {
      {RecordKind::kPut, small, RecordKind::kPut, small},
      {RecordKind::kPut, larger, RecordKind::kPutParts, "#"},
      {RecordKind::kAppend, larger, RecordKind::kAppendParts, "#"},
      {RecordKind::kPutParts, other + small, RecordKind::kPutParts, other + small},
      {RecordKind::kPutParts, other + other, RecordKind::kPutParts, other + other},
      {RecordKind::kAppendParts, large + other + larger + other + small, RecordKind::kAppendParts,
       large + other + "#" + other + small},
  };
  uint64_t moved = 0;
  for (const auto& row : rows) {
    const std::string key = K("k" + std::to_string(&row - rows), 9);
    Record record{key, row.kind, 0, row.list};
    ASSERT_TRUE(output.MoveOut(&record).ok());
    EXPECT_EQ(record.kind, row.becomes);
    std::string wanted = row.with;
    if (const size_t at = wanted.find('#'); at != std::string::npos) {
      std::string reference;
      AppendListReference({FileId{{1, 2}, 1}, larger.size(), std::nullopt}, &reference);
      wanted.replace(at, 1, reference);
      ++moved;
    }
    EXPECT_EQ(record.value, wanted);
  }
  const std::string last = K("z", 9), malformed(100, '\xff');
  Record bad{last, RecordKind::kPutParts, 0, malformed};
  EXPECT_TRUE(output.MoveOut(&bad).IsCorruption());
  Files files;
  ASSERT_TRUE(output.Finish(&files).ok());
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0]->blob_files,
            (std::vector<BlobReference>{{files[0]->id, moved, moved * larger.size()}}));
}

TEST_F(ValueOutputTest, ReferencesPassAsTheyAre) {
  ValueOutput output(tree_.context(), tree_.tables, 0);
  std::string encoded;
  EncodeReference({{{5, 6}, 7}, 1000, std::nullopt}, &encoded);
  encoded.resize(encoded.size());
  const auto reference = MoveOut(&output, K("a"), encoded, RecordKind::kPutReference);
  ASSERT_TRUE(reference);
  EXPECT_EQ(reference->blob_file, (FileId{{5, 6}, 7}));
  EXPECT_TRUE(tree_.file_system().Paths().empty());
}

TEST_F(ValueOutputTest, TheTimestampStandsInTheReference) {
  const std::string rest(200, 'v');
  tree_.tables[7].ttl_layout = TtlLayout::kValue;
  tree_.tables[8] = {.ttl_layout = TtlLayout::kMap, .separation_bytes = 5};
  ValueOutput output(tree_.context(), tree_.tables, 0);
  EXPECT_EQ(MoveOut(&output, K("a"), Stamp(0x1234567890abcdefu) + rest)->timestamp,
            0x1234567890abcdefu);
  EXPECT_EQ(MoveOut(&output, K("b", 8), std::string(1, '\0') + Stamp(77) + rest)->timestamp, 77u);
  EXPECT_EQ(MoveOut(&output, K("c", 8), std::string(1, '\0') + Stamp(78))->timestamp, 78u);
  const auto short_one = MoveOut(&output, K("d", 8), "12345678");
  ASSERT_TRUE(short_one);
  EXPECT_FALSE(short_one->timestamp) << "the value is too short for a timestamp";
}

TEST_F(ValueOutputTest, FilesEndAtValueFileBytesButNeverWithinAKey) {
  tree_.context().value_file_bytes = 1000;
  tree_.context().value_writer.compression = Compression::kNone;
  ValueOutput output(tree_.context(), tree_.tables, 0);
  const std::string value(600, 'v');
  const auto add = [&](const std::string& key, uint64_t blob_file) {
    return output.AddStored(K(key), {{5, 6}, blob_file}, false, Compression::kNone, 600, value,
                            std::nullopt);
  };
  for (uint64_t blob_file = 1; blob_file <= 5; ++blob_file) ASSERT_TRUE(add("a", blob_file).ok());
  ASSERT_TRUE(add("b", 1).ok());
  ASSERT_TRUE(add("c", 1).ok());
  ASSERT_TRUE(add("d", 1).ok());
  Files files;
  ASSERT_TRUE(output.Finish(&files).ok());
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files[0]->records, 5u) << "the file must contain all blob files of key a";
  EXPECT_EQ(files[1]->records, 2u);
  EXPECT_EQ(files[2]->records, 1u);
  EXPECT_LE(files[0]->upper, files[1]->lower);
  EXPECT_LE(files[1]->upper, files[2]->lower);
}

TEST_F(ValueOutputTest, DestructionRemovesWhatWasNotHandedOut) {
  tree_.context().value_file_bytes = 1000;
  {
    ValueOutput output(tree_.context(), tree_.tables, 0);
    for (int i = 10; i < 30; ++i) MoveOut(&output, K(std::to_string(i)), std::string(600, 'v'));
    EXPECT_GT(tree_.file_system().Paths().size(), 1u);
  }
  EXPECT_TRUE(tree_.file_system().Paths().empty());
}

TEST_F(ValueOutputTest, AFlushThatFailsAnywhereLeavesNoFile) {
  tree_.context().writer.sync = tree_.context().value_writer.sync = true;
  tree_.context().value_file_bytes = 1000;
  for (int i = 10; i < 20; ++i) {
    tree_.Put(K(std::to_string(i)), std::string(400, static_cast<char>('a' + i)));
    tree_.Put(K(std::to_string(i) + "small"), "s");
  }
  tree_.Seal();
  FlushInput input;
  input.runs = tree_.sealed();
  input.tables = tree_.tables;
  for (uint64_t call = 1;; ++call) {
    faults_.Arm({.fault = Fault::kIOError, .call = call});
    FlushOutput output;
    const Status status = RunFlush(tree_.context(), input, &output);
    if (faults_.fired() == 0) {
      EXPECT_TRUE(status.ok());
      EXPECT_GT(call, 20u);
      EXPECT_GT(output.value_files.size(), 1u);
      break;
    }
    EXPECT_FALSE(status.ok()) << call;
    EXPECT_EQ(output.file, nullptr);
    EXPECT_TRUE(output.value_files.empty());
    ASSERT_TRUE(tree_.file_system().Paths().empty()) << call;
  }
}

TEST_F(ValueOutputTest, ACompactionThatFailsAnywhereLeavesNoFile) {
  const TableOptions separated = tree_.tables[7];
  tree_.tables[7].separation_bytes = 0;
  for (int i = 10; i < 20; ++i) {
    tree_.Put(K(std::to_string(i)), std::string(400, static_cast<char>('a' + i)));
    tree_.Put(K(std::to_string(i) + "small"), "s");
  }
  tree_.SealAndFlush();
  tree_.tables[7] = separated;
  tree_.context().value_file_bytes = 1000;
  const std::vector<std::string> paths = tree_.file_system().Paths();
  CompactionInput input = tree_.PlanLevels(0, 1);
  input.target_file_bytes = 200;
  for (uint64_t call = 1;; ++call) {
    faults_.Arm({.fault = Fault::kIOError, .call = call});
    CompactionOutput output;
    const Status status = RunCompaction(tree_.context(), input, &output);
    if (faults_.fired() == 0) {
      EXPECT_TRUE(status.ok());
      EXPECT_GT(output.files.size(), 1u);
      EXPECT_GT(output.value_files.size(), 1u);
      break;
    }
    EXPECT_FALSE(status.ok()) << call;
    EXPECT_TRUE(output.files.empty());
    EXPECT_TRUE(output.value_files.empty());
    ASSERT_EQ(tree_.file_system().Paths(), paths) << call;
  }
}

// A value that was inline after its flush is moved out by a later compaction.
TEST_F(ValueOutputTest, CompactionsMoveOutWhatATableAsksForSince) {
  const TableOptions separated = tree_.tables[7];
  tree_.tables[7].separation_bytes = 0;
  tree_.Put(K("a"), std::string(300, 'a'));
  tree_.SealAndFlush();
  ASSERT_TRUE(tree_.version()->value_files.empty());
  tree_.tables[7] = separated;
  tree_.Put(K("b"), std::string(300, 'b'));
  tree_.SealAndFlush();
  ASSERT_EQ(tree_.version()->value_files.size(), 1u);
  const uint64_t b = tree_.version()->value_files.begin()->first.number;
  const CompactionOutput output = tree_.Compact(tree_.PlanLevels(0, 1));
  ASSERT_EQ(output.value_files.size(), 1u);
  EXPECT_EQ(output.value_files[0]->records, 1u) << "value b must stay in its file";
  EXPECT_EQ(TreeForTest::Dump(*output.files.at(0)),
            "reference a=" + std::to_string(output.value_files[0]->id.number) +
                "\nreference b=" + std::to_string(b) + "\n");
  EXPECT_EQ(tree_.Scan(), tree_.model());
}

TEST_F(ValueOutputTest, CompactionsDropExpiredValuesUnread) {
  tree_.tables[7].ttl_layout = TtlLayout::kValue;
  tree_.tables[8] = {.ttl_layout = TtlLayout::kMap, .separation_bytes = 100};
  for (auto& [id, options] : tree_.tables) options.ttl_ms = 1000;
  const std::string rest(200, 'v');
  tree_.Put(K("dead"), Stamp(1000) + rest);
  tree_.Put(K("live"), Stamp(1001) + rest);
  tree_.Put(K("dead", 8), std::string(1, '\0') + Stamp(1000) + rest);
  tree_.Put(K("live", 8), std::string(1, '\0') + Stamp(1001) + rest);
  tree_.SealAndFlush();
  tree_.Put(K("other"), "o");
  tree_.SealAndFlush();
  tree_.now_ms = 2000;
  faults_.Arm({.fault = Fault::kIOError,
               .forever = true,
               .only = FileCall::kRead,
               .path_contains = ".vsst"});
  const CompactionOutput output = tree_.Compact(tree_.PlanLevels(0, 1));
  EXPECT_EQ(faults_.fired(), 0u);
  faults_.Disarm();
  EXPECT_EQ(output.records_expired, 2u);
  EXPECT_EQ(tree_.Get(K("dead")), nullptr);
  EXPECT_EQ(tree_.Get(K("dead", 8)), nullptr);
  EXPECT_EQ(*tree_.Get(K("live")), Stamp(1001) + rest);
  ASSERT_NE(tree_.Get(K("live", 8)), nullptr);
  EXPECT_EQ(tree_.version()->blob_files.begin()->second->records, 2u)
      << "two of the four values have expired";
}

// If older records may exist, an expired reference must keep hiding them.
TEST_F(ValueOutputTest, AnExpiredReferenceBecomesADeletionAboveOlderRecords) {
  tree_.tables[7].ttl_layout = TtlLayout::kValue;
  tree_.tables[7].ttl_ms = 1000;
  const std::string rest(200, 'v');
  tree_.Put(K("k"), Stamp(1'000'000) + rest);
  tree_.SealAndFlush();
  tree_.Compact(tree_.PlanLevels(0, 1));
  tree_.Compact(tree_.PlanLevels(1, 2));
  tree_.Put(K("k"), Stamp(1) + rest);
  tree_.SealAndFlush();
  tree_.now_ms = 5000;
  const CompactionOutput output = tree_.Compact(tree_.PlanLevels(0, 1));
  EXPECT_EQ(TreeForTest::Dump(*output.files.at(0)), "delete k\n");
  EXPECT_EQ(tree_.Get(K("k")), nullptr);
  EXPECT_EQ(tree_.version()->value_files.size(), 1u) << "the file must hold the older value";
}

}  // namespace
}  // namespace lava
