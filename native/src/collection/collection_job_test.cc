// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "collection/collection_job.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "compaction/tree_for_test.h"
#include "read/readers.h"
#include "read/stamped_for_test.h"
#include "testing/fault_file_system.h"
#include "testing/random.h"

namespace lava {
namespace {

using testing::Fault;
using testing::FaultFileSystem;
using testing::FileCall;

std::string Large(std::string_view tag) { return std::string(tag) + std::string(500, 'v'); }

/// A tree whose table 7 separates values of 100 bytes and more, uncompressed.
class CollectionTree : public TreeForTest {
 public:
  CollectionTree() : faults_(&file_system()) {
    tables[7] = {.kind = TableKind::kMap, .separation_bytes = 100};
    context().file_system = &faults_;
    context().value_writer.compression = Compression::kNone;
  }

  void PutLarge(const std::vector<std::string>& keys, const std::string& tag = "") {
    for (const std::string& key : keys) Put(K(key), Large(key + tag));
  }
  /// The value file of the version that has this number.
  std::shared_ptr<ValueFileMeta> ValueFile(uint64_t number) const {
    for (const auto& [id, entry] : version()->value_files)
      if (id.number == number) return entry.file;
    return nullptr;
  }
  std::vector<std::shared_ptr<ValueFileMeta>> ValueFiles() const {
    std::vector<std::shared_ptr<ValueFileMeta>> files;
    for (const auto& [id, entry] : version()->value_files) files.push_back(entry.file);
    return files;
  }
  CollectionInput InputOf(std::vector<std::shared_ptr<ValueFileMeta>> files) const {
    CollectionInput input;
    input.version = version();
    input.files = std::move(files);
    input.tables = tables;
    input.now_ms = now_ms;
    return input;
  }
  CollectionInput AllFiles() const { return InputOf(ValueFiles()); }
  CollectionOutput Collect(const CollectionInput& input) {
    CollectionOutput output;
    const Status status = RunCollection(context(), input, &output);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return output;
  }
  /// Installs the result as the database does for inputs whose blob files are visible as a whole.
  void InstallCollection(const CollectionInput& input, const CollectionOutput& output) {
    VersionEdit edit;
    for (const auto& file : input.files) edit.values_removed.push_back(file->id);
    for (const auto& file : output.files) {
      VersionEdit::AddedValueFile added{file, {}};
      for (const BlobReference& reference : file->blob_files)
        added.locations.push_back({reference.blob_file, file->lower, file->upper});
      edit.values_added.push_back(added);
    }
    for (const auto& [of, newest_ms] : output.blob_files_expired)
      edit.blob_files_expired.push_back({of.first, of.second, newest_ms});
    Apply(edit);
  }
  std::string PathOf(const ValueFileMeta& file) { return context().ValuePathOf(file.id); }
  /// Makes the records of these keys unreadable.
  void Damage(const ValueFileMeta& file, const std::vector<std::string>& keys) {
    std::string content = *file_system().Content(PathOf(file));
    const auto at = ReaderOf(file)->NewKeyIterator();
    for (; at->Valid(); at->Next())
      for (const std::string& key : keys)
        if (at->key() == K(key)) content[at->record_offset() + at->record_bytes() / 2] ^= 1;
    ASSERT_TRUE(file_system().SetContent(PathOf(file), content).ok());
  }
  FaultFileSystem& faults() { return faults_; }

 private:
  FaultFileSystem faults_;
};

/// The values in a file as "key<number of blob file>". Keys lack their first six bytes.
std::vector<std::string> Held(const ValueFileMeta& file) {
  std::vector<std::string> held;
  const auto at = ReaderOf(file)->NewKeyIterator();
  for (; at->Valid(); at->Next())
    held.push_back(std::string(at->key().substr(1 + kTableIdBytes)) + "<" +
                   std::to_string(at->blob_file().number) + ">");
  EXPECT_TRUE(at->status().ok());
  return held;
}
using Names = std::vector<std::string>;

TEST(CollectionJob, CopiesWhatLivesAndNeverReadsWhatIsDead) {
  CollectionTree tree;
  for (const char* key : {"a", "deleted", "in range", "large", "small", "z"})
    tree.Put(K(key), std::string(5000, *key));
  tree.SealAndFlush();
  const auto first = tree.ValueFiles().at(0);
  tree.Delete(K("deleted"));
  tree.DeleteRange(K("in"), K("io"));
  tree.PutLarge({"large"}, "newer");
  tree.Put(K("small"), "s");
  tree.SealAndFlush();
  // From now on reading a dead record is Corruption.
  tree.Damage(*first, {"deleted", "in range", "large", "small"});
  const CollectionInput input = tree.InputOf({first});
  uint64_t living_bytes = 0;
  const auto at = ReaderOf(*first)->NewKeyIterator();
  for (; at->Valid(); at->Next())
    if (at->key() == K("a") || at->key() == K("z")) living_bytes += at->record_bytes();
  const CollectionOutput output = tree.Collect(input);
  EXPECT_EQ(output.values_live, 2u);
  EXPECT_EQ(output.values_dead, 4u);
  EXPECT_EQ(output.bytes_read, living_bytes);
  ASSERT_EQ(output.files.size(), 1u);
  const std::string from = "<" + std::to_string(first->id.number) + ">";
  EXPECT_EQ(Held(*output.files[0]), (Names{"a" + from, "z" + from}));
  EXPECT_EQ(output.bytes_written, output.files[0]->bytes);
  EXPECT_TRUE(ReaderOf(*output.files[0])->VerifyAll().ok());
  tree.InstallCollection(input, output);
  EXPECT_EQ(tree.Scan(), tree.model());
}

TEST(CollectionJob, NothingIsDoneWithoutAFileThatIsNotThere) {
  CollectionTree tree;
  tree.Put(K("a"), std::string(5000, 'a'));
  tree.SealAndFlush();
  const auto first = tree.ValueFiles().at(0);
  const CollectionInput input = tree.InputOf({first});
  std::shared_ptr<ValueReader> reader = first->reader.TakeForTest();
  CollectionOutput output;
  const Status status = RunCollection(tree.context(), input, &output);
  EXPECT_TRUE(status.IsNeedsFile()) << status.ToString();
  EXPECT_EQ(status.message(), first->id.ValueFileName());
  EXPECT_TRUE(output.files.empty());
  first->reader.Set(std::move(reader));
  EXPECT_EQ(tree.Collect(input).values_live, 1u);
}

// Every key has its value in at most one hot and one cold file, however often the parts of a split
// blob file are collected, together or separately. So lookups through locations stay O(1).
TEST(CollectionJob, ABlobFileIsPartedByTemperatureOnceAtMost) {
  bool parted = false, hot = false;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    CollectionTree tree;
    DropCache drops(nullptr, 16);
    tree.context().drop_cache = &drops;
    testing::Random random(seed);
    Names keys;
    for (int i = 10; i < 50; ++i) keys.push_back("k" + std::to_string(i));
    tree.PutLarge(keys);
    tree.SealAndFlush();
    for (int round = 0; round < 30; ++round) {
      for (int i = 0; i < 6; ++i)
        tree.PutLarge({keys[random.Uniform(10)]}, std::to_string(round));  // the hot keys
      for (int i = 0; i < 6; ++i)
        tree.PutLarge({keys[random.Uniform(keys.size())]}, std::to_string(round));
      tree.SealAndFlush();
      tree.Compact(tree.PlanLevels(0, 1));
      CollectionInput input = tree.InputOf({});
      for (const auto& file : tree.ValueFiles())
        if (random.OneIn(2)) input.files.push_back(file);
      tree.InstallCollection(input, tree.Collect(input));
      for (const auto& [id, blob_file] : tree.version()->blob_files) {
        for (const std::string& key : keys) {
          int locations[2] = {0, 0};
          for (const BlobLocation& location : blob_file->locations)
            if (K(key) >= location.lower && K(key) < location.upper)
              ++locations[location.file->hot];
          EXPECT_LE(locations[0], 1);
          EXPECT_LE(locations[1], 1);
          parted |= locations[0] + locations[1] == 2;
        }
      }
      for (const auto& file : tree.ValueFiles()) hot |= file->hot;
      ASSERT_EQ(tree.Scan(), tree.model());
    }
  }
  EXPECT_TRUE(parted);
  EXPECT_TRUE(hot);
}

TEST(CollectionJob, ADamagedLivingValueIsNamedAndLeavesNoFile) {
  CollectionTree tree;
  tree.PutLarge({"a", "b", "c"});
  tree.SealAndFlush();
  const auto first = tree.ValueFiles().at(0);
  tree.Damage(*first, {"b"});
  const std::vector<std::string> paths = tree.file_system().Paths();
  CollectionOutput output;
  const Status status = RunCollection(tree.context(), tree.AllFiles(), &output);
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_NE(status.message().find(first->id.ValueFileName()), Slice::npos) << status.ToString();
  EXPECT_EQ(tree.file_system().Paths(), paths);
  EXPECT_TRUE(output.files.empty());
}

TEST(CollectionJob, NothingAliveCreatesNoFile) {
  CollectionTree tree;
  tree.PutLarge({"a", "b"});
  tree.SealAndFlush();
  tree.Delete(K("a"));
  tree.Delete(K("b"));
  tree.SealAndFlush();
  const uint64_t created = tree.faults().calls(FileCall::kCreate);
  const CollectionOutput output = tree.Collect(tree.AllFiles());
  EXPECT_TRUE(output.files.empty());
  EXPECT_EQ(output.values_dead, 2u);
  EXPECT_EQ(output.bytes_read, 0u);
  EXPECT_EQ(tree.faults().calls(FileCall::kCreate), created);
  const CollectionInput input = tree.AllFiles();
  tree.InstallCollection(input, output);
  EXPECT_TRUE(tree.version()->value_files.empty());
  EXPECT_FALSE(tree.version()->blob_files.empty())
      << "stale references below the deletions still name the blob file";
  EXPECT_TRUE(tree.Scan().empty());
}

TEST(CollectionJob, BlobFileNamesAreKeptThroughGenerations) {
  CollectionTree tree;
  tree.PutLarge({"a", "b"});
  tree.SealAndFlush();
  const FileId first = tree.ValueFiles().at(0)->id;
  tree.PutLarge({"c"});
  tree.SealAndFlush();
  const std::string a = "<" + std::to_string(first.number) + ">";
  const std::string c = "<" + std::to_string(first.number + 2) + ">";
  for (int generation = 0; generation < 3; ++generation) {
    const CollectionInput input = tree.AllFiles();
    const CollectionOutput output = tree.Collect(input);
    ASSERT_EQ(output.files.size(), 1u);
    EXPECT_EQ(Held(*output.files[0]), (Names{"a" + a, "b" + a, "c" + c}));
    ASSERT_EQ(output.files[0]->blob_files.size(), 2u);
    EXPECT_EQ(output.files[0]->blob_files[0], (BlobReference{first, 2, 2 * Large("a").size()}));
    tree.InstallCollection(input, output);
    EXPECT_EQ(tree.Scan(), tree.model());
  }
}

TEST(CollectionJob, InputsAreMergedInKeyOrder) {
  CollectionTree tree;
  tree.PutLarge({"a", "d", "e", "h"});
  tree.SealAndFlush();
  tree.PutLarge({"b", "e", "g"}, "2");
  tree.SealAndFlush();
  tree.PutLarge({"c", "f", "i"}, "3");
  tree.SealAndFlush();
  std::vector<uint64_t> n;
  for (const auto& file : tree.ValueFiles()) n.push_back(file->id.number);
  ASSERT_EQ(n.size(), 3u);
  for (const bool reversed : {false, true}) {
    CollectionInput input = tree.AllFiles();
    if (reversed) std::reverse(input.files.begin(), input.files.end());
    const CollectionOutput output = tree.Collect(input);
    ASSERT_EQ(output.files.size(), 1u);
    const auto name = [&](const char* key, int i) {
      return std::string(key) + "<" + std::to_string(n[static_cast<size_t>(i)]) + ">";
    };
    EXPECT_EQ(Held(*output.files[0]),
              (Names{name("a", 0), name("b", 1), name("c", 2), name("d", 0), name("e", 1),
                     name("f", 2), name("g", 1), name("h", 0), name("i", 2)}));
    EXPECT_EQ(output.values_dead, 1u) << "the older value of e is dead";
  }
  // With two inputs the same values live, although references in other files are looked up, too.
  CollectionInput two = tree.AllFiles();
  two.files.erase(two.files.begin() + 1);
  const CollectionOutput output = tree.Collect(two);
  EXPECT_EQ(output.values_dead, 1u);
  EXPECT_EQ(output.values_live, 6u);
}

TEST(CollectionJob, OutputsEndAtValueFileBytes) {
  CollectionTree tree;
  for (int i = 10; i < 30; ++i) tree.PutLarge({std::to_string(i)});
  tree.SealAndFlush();
  tree.context().value_file_bytes = 2000;
  const CollectionInput input = tree.AllFiles();
  const CollectionOutput output = tree.Collect(input);
  ASSERT_GE(output.files.size(), 4u);
  uint64_t records = 0;
  for (size_t i = 0; i < output.files.size(); ++i) {
    records += output.files[i]->records;
    EXPECT_LE(output.files[i]->raw_bytes, 2000u + Large("10").size());
    if (i > 0) {
      EXPECT_LE(output.files[i - 1]->upper, output.files[i]->lower);
    }
  }
  EXPECT_EQ(records, 20u);
  tree.InstallCollection(input, output);
  EXPECT_EQ(tree.Scan(), tree.model());
}

TEST(CollectionJob, ValuesAreMovedAsTheyAreStored) {
  CollectionTree tree;
  tree.context().value_writer.compression = Compression::kZstd;
  tree.PutLarge({"a", "b"});
  tree.SealAndFlush();
  const auto first = tree.ValueFiles().at(0);
  ASSERT_LT(first->stored_bytes, first->raw_bytes / 4);
  tree.context().value_writer.compression = Compression::kNone;
  const CollectionInput input = tree.AllFiles();
  const CollectionOutput output = tree.Collect(input);
  EXPECT_EQ(output.files.at(0)->stored_bytes, first->stored_bytes);
  EXPECT_EQ(output.files.at(0)->raw_bytes, first->raw_bytes);
  tree.InstallCollection(input, output);
  EXPECT_EQ(tree.Scan(), tree.model());
}

// Keys that another file serves are dead in this one, although their references are alive.
TEST(CollectionJob, OnlyKeysThatTheFileStandsForAreCopied) {
  CollectionTree tree;
  tree.PutLarge({"a", "b", "c", "d"});
  tree.SealAndFlush();
  const auto first = tree.ValueFiles().at(0);
  CollectionInput whole = tree.AllFiles();
  const auto second = tree.Collect(whole).files.at(0);
  VersionEdit edit;
  edit.values_removed = {first->id};
  edit.values_added.push_back({first, {{first->id, first->lower, K("b")}}});
  edit.values_added.push_back({second, {{first->id, K("b"), second->upper}}});
  tree.Apply(edit);
  EXPECT_EQ(tree.Scan(), tree.model());
  const std::string from = "<" + std::to_string(first->id.number) + ">";
  EXPECT_EQ(Held(*tree.Collect(tree.InputOf({first})).files.at(0)), (Names{"a" + from}));
  EXPECT_EQ(Held(*tree.Collect(tree.InputOf({second})).files.at(0)),
            (Names{"b" + from, "c" + from, "d" + from}));
  const CollectionInput both = tree.AllFiles();
  const CollectionOutput output = tree.Collect(both);
  EXPECT_EQ(Held(*output.files.at(0)), (Names{"a" + from, "b" + from, "c" + from, "d" + from}));
  EXPECT_EQ(output.values_dead, 4u);
}

// The collector does not know the length of deletable prefixes: values hidden by a prefix delete
// are kept until a compaction drops their references.
TEST(CollectionJob, UnderAPrefixDeleteValuesAreKeptUntilACompaction) {
  CollectionTree tree;
  tree.Put(K("p1"), Large("p1"), TreeForTest::kPrefixBytes - 1);
  tree.Put(K("q1"), Large("q1"), TreeForTest::kPrefixBytes - 1);
  tree.SealAndFlush();
  tree.DeletePrefix(K("p"));
  tree.SealAndFlush();
  EXPECT_EQ(tree.Collect(tree.AllFiles()).values_live, 2u);
  tree.Compact(tree.PlanLevels(0, 1));
  EXPECT_EQ(tree.Collect(tree.AllFiles()).values_live, 1u);
  EXPECT_EQ(tree.Scan(), tree.model());
}

// A gap smaller than a block is read along, because a separate read costs more.
TEST(CollectionJob, NeighboursComeInOneReadAndFarOnesEachInItsOwn) {
  CollectionTree tree;
  for (int i = 10; i < 99; ++i)
    tree.Put(K(std::to_string(i)), std::string(i < 50 ? 300 : 5000, 'v'));
  tree.SealAndFlush();
  const auto first = tree.ValueFiles().at(0);
  for (int i = 11; i < 99; i += 2) tree.Delete(K(std::to_string(i)));
  tree.SealAndFlush();
  uint64_t small_bytes = 0, living_bytes = 0;
  for (auto at = ReaderOf(*first)->NewKeyIterator(); at->Valid(); at->Next()) {
    if (at->raw_bytes() == 300) small_bytes += at->record_bytes();
    const bool lives = (at->key().back() - '0') % 2 == 0;
    if (lives && at->raw_bytes() != 300) living_bytes += at->record_bytes();
  }
  const uint64_t before = tree.faults().calls(FileCall::kRead);
  const CollectionOutput output = tree.Collect(tree.InputOf({first}));
  EXPECT_EQ(output.values_live, 45u);
  // The last small value is dead, and at least a block away from the first large one.
  EXPECT_LE(output.bytes_read, small_bytes + living_bytes);
  EXPECT_GT(output.bytes_read, small_bytes + living_bytes - 700);
  EXPECT_LT(tree.faults().calls(FileCall::kRead) - before, 25u + 15)
      << "the reads must be 25 of values and fewer than 15 of indexes";
}

TEST(CollectionJob, AListOnAReferenceIsCorruption) {
  CollectionTree tree;
  tree.PutLarge({"a"});
  tree.SealAndFlush();
  tree.Append(K("a"), TreeForTest::Segment("s"));
  tree.SealAndFlush();
  CollectionOutput output;
  EXPECT_TRUE(RunCollection(tree.context(), tree.AllFiles(), &output).IsCorruption());
}

TEST(CollectionJob, CancelledIsAbortedAndLeavesNoFile) {
  CollectionTree tree;
  for (int i = 10; i < 60; ++i) tree.PutLarge({std::to_string(i)});
  tree.SealAndFlush();
  tree.context().value_file_bytes = 2000;
  const std::vector<std::string> paths = tree.file_system().Paths();
  std::atomic<bool> cancelled{true};
  tree.context().cancelled = &cancelled;
  CollectionOutput output;
  EXPECT_EQ(RunCollection(tree.context(), tree.AllFiles(), &output).code(), Status::Code::kAborted);
  cancelled = false;
  int created = 0;
  tree.faults().SetHook([&](FileCall call) {
    if (call == FileCall::kCreate && ++created == 3) cancelled = true;
  });
  EXPECT_EQ(RunCollection(tree.context(), tree.AllFiles(), &output).code(), Status::Code::kAborted);
  EXPECT_EQ(created, 3) << "the collection must stop soon after it was cancelled";
  tree.faults().SetHook(nullptr);
  EXPECT_TRUE(output.files.empty());
  EXPECT_EQ(tree.file_system().Paths(), paths);
}

TEST(CollectionJob, AnErrorOfAnyCallLeavesNoFile) {
  CollectionTree tree;
  tree.context().value_writer.sync = true;
  for (int i = 10; i < 20; ++i) tree.PutLarge({std::to_string(i)});
  tree.SealAndFlush();
  tree.context().value_file_bytes = 2000;
  const std::vector<std::string> paths = tree.file_system().Paths();
  for (const Fault fault : {Fault::kIOError, Fault::kNoSpace, Fault::kShortWrite}) {
    uint64_t call = 1;
    for (;; ++call) {
      tree.faults().Arm({.fault = fault, .call = call});
      CollectionOutput output;
      const Status status = RunCollection(tree.context(), tree.AllFiles(), &output);
      if (tree.faults().fired() == 0) {
        EXPECT_TRUE(status.ok());
        for (const auto& file : output.files)
          ASSERT_TRUE(tree.file_system().Remove(tree.PathOf(*file)).ok());
        break;
      }
      EXPECT_FALSE(status.ok()) << call;
      EXPECT_TRUE(output.files.empty());
      ASSERT_EQ(tree.file_system().Paths(), paths) << call << ": " << status.ToString();
    }
    EXPECT_GT(call, fault == Fault::kIOError ? 20u : 4u);
    tree.faults().Disarm();
  }
  EXPECT_EQ(tree.faults().syncs_after_failure(), 0u);
}

TEST(CollectionJob, WhatHasExpiredByItsReferenceIsLeftBehindUnread) {
  CollectionTree tree;
  tree.tables[7].ttl_layout = TtlLayout::kValue;
  tree.tables[7].ttl_ms = 10;
  for (int i = 0; i < 4; ++i)
    tree.Put(K(std::string(1, static_cast<char>('a' + i))),
             Stamped(100 + i, std::string(500, 'v')));
  tree.SealAndFlush();
  const auto file = tree.ValueFiles().at(0);
  ASSERT_EQ(file->tables.size(), 1u);
  EXPECT_EQ(file->tables.at(7), (TableShare{4, file->raw_bytes, 103}));
  tree.Damage(*file, {"a", "b"});
  tree.now_ms = 111;  // a and b have expired
  const CollectionOutput output = tree.Collect(tree.AllFiles());
  EXPECT_EQ(output.values_live, 2u);
  EXPECT_EQ(output.values_dead, 0u);
  EXPECT_EQ(output.values_expired, 2u);
  EXPECT_EQ(output.blob_files_expired, (decltype(output.blob_files_expired){{{file->id, 7}, 101}}));
  ASSERT_EQ(output.files.size(), 1u);
  EXPECT_EQ(output.files[0]->tables.at(7), (TableShare{2, output.files[0]->raw_bytes, 103}));

  tree.InstallCollection(tree.AllFiles(), output);
  const auto expired = [&](int64_t written_ms, uint64_t table) {
    const ValueReference reference{file->id, 508, static_cast<uint64_t>(written_ms)};
    return HasExpired(*tree.version(), table, reference);
  };
  EXPECT_TRUE(expired(100, 7));
  EXPECT_TRUE(expired(101, 7));
  EXPECT_FALSE(expired(102, 7));
  EXPECT_FALSE(expired(100, 8)) << "values of another table may live longer";
  EXPECT_FALSE(HasExpired(*tree.version(), 7, {file->id, 508, std::nullopt}));

  // A compaction drops the references although the TTL is off and nothing expires by it.
  tree.tables[7].ttl_ms = 0;
  tree.Compact(tree.PlanLevels(0, 1));
  ASSERT_EQ(tree.version()->blob_files.size(), 1u);
  EXPECT_EQ(tree.version()->blob_files.at(file->id)->records, 2u);
}

TEST(CollectionJob, ATableWithoutAClockNeverExpires) {
  CollectionTree tree;
  tree.tables[7].ttl_layout = TtlLayout::kValue;
  tree.tables[7].ttl_ms = 10;
  tree.Put(K("a"), Stamped(100, std::string(500, 'v')));
  tree.Put(K("b"), Stamped(INT64_MAX - 5, std::string(500, 'v')));
  tree.SealAndFlush();
  tree.now_ms = INT64_MAX;
  tree.tables[7].ttl_ms = 0;
  EXPECT_EQ(tree.Collect(tree.AllFiles()).values_live, 2u) << "the TTL is switched off";
  tree.tables.clear();
  EXPECT_EQ(tree.Collect(tree.AllFiles()).values_live, 2u) << "the table is not registered";
  tree.tables[7] = {.ttl_layout = TtlLayout::kValue, .ttl_ms = 10};
  EXPECT_EQ(tree.Collect(tree.AllFiles()).values_live, 1u)
      << "the timestamp is beyond the clock's range";
}

/// Values with much content in common, in files that may have a dictionary.
class DictionaryTree : public CollectionTree {
 public:
  DictionaryTree() { context().value_writer.compression = Compression::kZstd; }

  std::string Json(int i) {
    std::string json = "{\"user\":" + std::to_string(random_.Next()) + ",\"events\":[";
    for (int n = 0; n < 12; ++n)
      json += "{\"type\":\"page_view\",\"at\":" + std::to_string(random_.Next()) + "},";
    return json + std::to_string(i) + "]}";
  }
  void PutJson(int begin, int end, int step = 1) {
    for (int i = begin; i < end; i += step) Put(K("k" + std::to_string(10'000 + i)), Json(i));
  }
  static bool HasDictionary(const ValueFileMeta& file) { return CodecsOf(file).contains(3); }
  static std::set<int> CodecsOf(const ValueFileMeta& file) {
    std::set<int> codecs;
    std::string buffer;
    Compression codec{};
    Slice stored;
    for (auto at = ReaderOf(file)->NewKeyIterator(); at->Valid(); at->Next()) {
      EXPECT_TRUE(ReaderOf(file)->ReadStored(*at, &buffer, &codec, &stored).ok());
      codecs.insert(static_cast<int>(codec));
    }
    return codecs;
  }
  void CollectAll() {
    const CollectionInput input = AllFiles();
    const CollectionOutput output = Collect(input);
    for (const auto& file : output.files) EXPECT_TRUE(ReaderOf(*file)->VerifyAll().ok());
    InstallCollection(input, output);
    EXPECT_EQ(Scan(), model());
  }

 private:
  testing::Random random_{9};
};

TEST(CollectionJob, ValuesOfAFilesDictionaryAreCompressedAnew) {
  DictionaryTree tree;
  tree.PutJson(0, 600);
  tree.SealAndFlush();
  const auto first = tree.ValueFiles().at(0);
  ASSERT_TRUE(tree.HasDictionary(*first));
  tree.PutJson(0, 600, 3);
  tree.SealAndFlush();
  const CollectionInput input = tree.AllFiles();
  const CollectionOutput output = tree.Collect(input);
  ASSERT_EQ(output.files.size(), 1u);
  const ValueFileMeta& file = *output.files[0];
  EXPECT_TRUE(tree.HasDictionary(file))
      << "the values must arrive uncompressed and train a dictionary for the output";
  EXPECT_EQ(output.values_live, 600u);
  EXPECT_EQ(output.values_dead, 200u);
  EXPECT_EQ(file.blob_files.size(), 2u);
  const std::string from = "<" + std::to_string(first->id.number) + ">";
  EXPECT_EQ(Held(file).at(1), "k10001" + from);
  tree.InstallCollection(input, output);
  EXPECT_EQ(tree.Scan(), tree.model());
  tree.CollectAll();
}

TEST(CollectionJob, InputsWithAndWithoutDictionariesMix) {
  DictionaryTree tree;
  auto& writer = tree.context().value_writer;
  const Compression codecs[] = {Compression::kZstd, Compression::kNone, Compression::kLz4,
                                Compression::kZstd};
  for (int i = 0; i < 4; ++i) {
    writer.compression = codecs[i];
    writer.dictionary.enabled = i == 0;
    tree.PutJson(i, 2000, 4);
    tree.SealAndFlush();
  }
  writer.compression = Compression::kZstd;
  writer.dictionary.enabled = true;
  tree.CollectAll();
  ASSERT_EQ(tree.ValueFiles().size(), 1u);
  EXPECT_EQ(tree.CodecsOf(*tree.ValueFiles()[0]), (std::set<int>{0, 1, 2, 3}));
  // A collection without dictionaries removes them.
  writer.compression = Compression::kLz4;
  tree.CollectAll();
  EXPECT_EQ(tree.CodecsOf(*tree.ValueFiles()[0]), (std::set<int>{0, 1, 2}));
}

TEST(CollectionJob, DictionariesKeepTemperatures) {
  DictionaryTree tree;
  DropCache drops(nullptr, 1024);
  tree.context().drop_cache = &drops;
  tree.PutJson(0, 600);
  tree.SealAndFlush();
  ASSERT_TRUE(tree.HasDictionary(*tree.ValueFiles().at(0)));
  for (int round = 0; round < 3; ++round) {
    tree.PutJson(0, 200);
    tree.SealAndFlush();
    tree.Compact(tree.PlanLevels(0, 1));
  }
  tree.CollectAll();
  std::map<bool, uint64_t> records;
  for (const auto& file : tree.ValueFiles()) {
    records[file->hot] += file->records;
    EXPECT_TRUE(tree.HasDictionary(*file)) << file->hot;
  }
  EXPECT_EQ(records[false] + records[true], 600u);
  EXPECT_GE(records[true], 150u) << "keys that were overwritten repeatedly must be hot";
}

TEST(CollectionJob, ADamagedDictionaryValueEndsTheCollection) {
  DictionaryTree tree;
  tree.PutJson(0, 600);
  tree.SealAndFlush();
  const auto first = tree.ValueFiles().at(0);
  tree.Damage(*first, {"k10007"});
  CollectionOutput output;
  const Status status = RunCollection(tree.context(), tree.AllFiles(), &output);
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_NE(status.message().find(tree.PathOf(*first)), Slice::npos) << status.ToString();
  EXPECT_TRUE(output.files.empty());
}

}  // namespace
}  // namespace lava
