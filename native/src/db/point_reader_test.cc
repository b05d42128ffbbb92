// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/point_reader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "db/reads_for_test.h"

namespace lava {
namespace {

constexpr uint64_t kLargeBytes = 700 << 10;  // larger than a piece

std::string BytesOf(uint64_t count) {
  std::string bytes(count, '\0');
  for (uint64_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(i * 2654435761u >> 13);
  return bytes;
}

/// Keeps the pieces, and records the bytes that are charged for scans in the meantime.
class CollectingSink final : public ValueSink {
 public:
  explicit CollectingSink(const ReadsForTest& reads) : reads_(reads) {}
  bool Begin(uint64_t size) override {
    EXPECT_FALSE(began) << "Begin() must be called only once";
    began = true;
    announced = size;
    return wants;
  }
  Status Add(Slice piece) override {
    EXPECT_TRUE(began && wants);
    if (bytes.size() >= fails_at) return Status::IOError("the sink is full");
    bytes.append(piece);
    largest_piece = std::max(largest_piece, piece.size());
    most_charged = std::max(most_charged, reads_.scan_bytes());
    return Status::OK();
  }

  bool began = false, wants = true;
  uint64_t announced = 0, fails_at = UINT64_MAX, most_charged = 0;
  size_t largest_piece = 0;
  std::string bytes;

 private:
  const ReadsForTest& reads_;
};

class PointReaderTest : public ::testing::Test {
 protected:
  PointReader reader() { return PointReader(&tree_.reads()); }
  Status Get(Table* table, const std::string& rest, std::string* value,
             Snapshot* snapshot = nullptr, uint32_t prefix = 0) {
    PinnedValue pinned;
    LAVA_RETURN_IF_ERROR(
        reader().Get(table, {UserKey(1, rest), prefix}, &pinned, nullptr, snapshot));
    *value = pinned.data();
    return Status::OK();
  }
  /// Returns the value, or the code of the error. Expects that Contains() agrees on the existence
  /// of the key.
  std::string Shown(Table* table, const std::string& rest, Snapshot* snapshot = nullptr,
                    uint32_t prefix = 0) {
    std::string value;
    const Status status = Get(table, rest, &value, snapshot, prefix);
    const Status contained = reader().Contains(table, {UserKey(1, rest), prefix}, snapshot);
    if (status.ok() || status.IsNotFound()) {
      EXPECT_EQ(contained.ok(), status.ok()) << contained.ToString();
    }
    if (status.IsNotFound()) {
      EXPECT_TRUE(contained.IsNotFound()) << contained.ToString();
    }
    return status.ok() ? value : status.IsNotFound() ? "none" : status.ToString();
  }
  Status ContainsMapKey(const std::string& rest) {
    return reader().Contains(tree_.map(), {UserKey(1, rest)}, nullptr);
  }
  Status GetTo(Table* table, const std::string& rest, ValueSink* sink, PinnedValue* pinned) {
    return reader().Get(table, {UserKey(1, rest)}, pinned, sink, nullptr);
  }
  /// Puts a reference to a logged value of the map into the active memtable.
  void PutLogged(const std::string& rest, Slice value) {
    const auto segment = tree_.BeginSegment();
    tree_.active()->PutReference(
        K(rest), 0, ReadsForTest::Encoded(ReadsForTest::LogTo(segment.get(), K(rest), value)));
  }
  static std::string ListKey(const std::string& rest) { return K(rest, ReadsForTest::kListId); }

  ReadsForTest tree_;
};

TEST_F(PointReaderTest, RefusesTablesKeysAndSnapshotsThatAreNotItsOwn) {
  ReadsForTest other;
  PinnedValue value;
  const std::string key = UserKey(1, "a");
  const auto get = [&](Table* table, KeyRef at, Snapshot* snapshot = nullptr) {
    const Status status = reader().Get(table, at, &value, nullptr, snapshot);
    EXPECT_EQ(reader().Contains(table, at, snapshot).code(), status.code());
    return status;
  };
  EXPECT_TRUE(get(nullptr, {key}).IsInvalidArgument());
  EXPECT_TRUE(get(other.map(), {key}).IsInvalidArgument());
  EXPECT_TRUE(get(tree_.map(), {""}).IsInvalidArgument());
  EXPECT_TRUE(
      get(tree_.map(), {UserKey(ReadsForTest::kLastPartition + 1, "a")}).IsInvalidArgument());
  EXPECT_TRUE(get(tree_.map(), {key, 3}).IsInvalidArgument())
      << "the prefix is longer than the key";
  EXPECT_TRUE(get(tree_.map(), {key}, other.TakeSnapshot().get()).IsInvalidArgument());
  TableImpl* const dropped = tree_.Register(8, "dropped");
  tree_.registry().Drop(dropped);
  EXPECT_TRUE(get(dropped, {key}).IsClosed());
  EXPECT_EQ(tree_.counters().reads, 0u);

  EXPECT_TRUE(get(tree_.map(), {key}).IsNotFound());
  EXPECT_EQ(tree_.counters().reads, 2u);
  tree_.Close();
  EXPECT_TRUE(get(tree_.map(), {key}).IsClosed());
}

TEST_F(PointReaderTest, TheNewestRunThatKnowsTheKeyDecides) {
  for (const char* rest : {"file", "sealed", "active", "gone"}) tree_.Put(K(rest), "1");
  tree_.Put(K("file", 8), "of another table");
  tree_.SealAndFlush();
  for (const char* rest : {"sealed", "active"}) tree_.Put(K(rest), "2");
  tree_.Delete(K("gone"));
  const auto snapshot = tree_.TakeSnapshot();
  tree_.Put(K("active"), "3");
  tree_.Put(K("gone"), "back");

  EXPECT_EQ(Shown(tree_.map(), "file"), "1");
  EXPECT_EQ(Shown(tree_.map(), "sealed"), "2");
  EXPECT_EQ(Shown(tree_.map(), "active"), "3");
  EXPECT_EQ(Shown(tree_.map(), "gone"), "back");
  EXPECT_EQ(Shown(tree_.map(), "active", snapshot.get()), "2");
  EXPECT_EQ(Shown(tree_.map(), "gone", snapshot.get()), "none");
  EXPECT_EQ(Shown(tree_.map(), "fil"), "none");
  EXPECT_EQ(Shown(tree_.list(), "file"), "none");
}

TEST_F(PointReaderTest, ADeletedPrefixHidesTheKeysThatWereWrittenWithIt) {
  const uint32_t internal = TreeForTest::kPrefixBytes;  // partition, table and two more bytes
  tree_.Put(K("aa1"), "1", internal);
  tree_.Put(K("ab1"), "2", internal);
  tree_.SealAndFlush();
  tree_.DeletePrefix(K("aa"));
  EXPECT_EQ(Shown(tree_.map(), "aa1", nullptr, 3), "none");
  EXPECT_EQ(Shown(tree_.map(), "ab1", nullptr, 3), "2");
  tree_.Put(K("aa1"), "3", internal);
  EXPECT_EQ(Shown(tree_.map(), "aa1", nullptr, 3), "3");
}

TEST_F(PointReaderTest, AnOlderRunIsOnlyAskedWhileTheNewerOnesLeaveItOpen) {
  for (const char* rest : {"a", "b", "c", "d"}) tree_.Put(K(rest), "old");
  tree_.SealAndFlush();
  tree_.Append(ListKey("list"), TreeForTest::Segment("1"));
  tree_.SealAndFlush();
  const std::string name = tree_.version()->levels[0][1].file->id.FileName();
  const auto file = tree_.version()->levels[0][1].file;
  file->reader.TakeForTest();
  tree_.Put(K("a"), "sealed");
  tree_.Delete(K("b"));
  tree_.Seal();
  tree_.Put(K("c"), "active");
  tree_.Publish();

  EXPECT_EQ(Shown(tree_.map(), "a"), "sealed");
  EXPECT_EQ(Shown(tree_.map(), "b"), "none");
  EXPECT_EQ(Shown(tree_.map(), "c"), "active");
  std::string value;
  const Status status = Get(tree_.map(), "d", &value);
  EXPECT_TRUE(status.IsNeedsFile());
  EXPECT_EQ(status.message(), name) << "the message must be the file's name alone";
  EXPECT_TRUE(ContainsMapKey("d").IsNeedsFile());
}

TEST_F(PointReaderTest, AListIsFoldedFromTheOldestRunToTheNewest) {
  const std::string key = ListKey("l");
  tree_.Append(key, TreeForTest::Segment("1"));
  tree_.SealAndFlush();
  tree_.Append(key, TreeForTest::Segment("2"));
  tree_.SealAndFlush();
  tree_.Append(key, TreeForTest::Segment("3"));
  const auto snapshot = tree_.TakeSnapshot();
  tree_.Append(key, TreeForTest::Segment("4"));
  EXPECT_EQ(Shown(tree_.list(), "l"), tree_.model().at(key));
  std::string before = tree_.model().at(key);
  before.resize(before.size() - TreeForTest::Segment("4").size());
  EXPECT_EQ(Shown(tree_.list(), "l", snapshot.get()), before);
}

TEST_F(PointReaderTest, ContainsReadsNoSeparatedValue) {
  tree_.Put(K("v"), BytesOf(300));
  tree_.Append(ListKey("l"), TreeForTest::Segment(BytesOf(300)));
  tree_.SealAndFlush();
  tree_.LoseValueFiles();
  tree_.active()->PutReference(
      K("lost"), 0,
      ReadsForTest::Encoded(ReadsForTest::LogTo(tree_.NewSegment().get(), K("lost"), "value")));
  tree_.Publish();
  std::string value;
  EXPECT_TRUE(Get(tree_.map(), "v", &value).IsNeedsFile());
  EXPECT_TRUE(ContainsMapKey("v").ok());
  EXPECT_TRUE(Get(tree_.list(), "l", &value).IsNeedsFile());
  EXPECT_TRUE(reader().Contains(tree_.list(), {UserKey(1, "l")}, nullptr).ok());
  EXPECT_TRUE(Get(tree_.map(), "lost", &value).IsCorruption())
      << "no memtable holds the segment with this value";
  EXPECT_TRUE(ContainsMapKey("lost").ok());
}

TEST_F(PointReaderTest, AnExpiredValueIsAbsentAndHidesOlderOnes) {
  const FileId blob_file{{8, 8}, 1};
  for (const char* rest : {"old", "new", "none"}) tree_.Put(K(rest), "older");
  tree_.Seal();
  const auto put = [&](const std::string& rest, std::optional<uint64_t> timestamp) {
    const ValueReference reference = ReadsForTest::ReferenceTo(blob_file, 8, timestamp);
    tree_.active()->PutReference(K(rest), 0, ReadsForTest::Encoded(reference));
  };
  put("old", 1000);
  put("new", 1001);
  put("none", std::nullopt);
  tree_.Expire(blob_file, ReadsForTest::kMapId, 1000);

  EXPECT_EQ(Shown(tree_.map(), "old"), "none");
  EXPECT_TRUE(ContainsMapKey("new").ok());
  EXPECT_TRUE(ContainsMapKey("none").ok()) << "a value without a timestamp never expires";
  std::string value;
  EXPECT_TRUE(Get(tree_.map(), "new", &value).IsCorruption())
      << "the value is lost but has not expired";
}

TEST_F(PointReaderTest, ValuesExpireInTheTableThatHasTheMarkOnly) {
  const FileId blob_file{{8, 8}, 1};
  const ValueReference reference = ReadsForTest::ReferenceTo(blob_file, 8, 1000);
  tree_.active()->PutReference(K("k"), 0, ReadsForTest::Encoded(reference));
  tree_.Expire(blob_file, ReadsForTest::kMapId + 1, 1000);
  EXPECT_TRUE(ContainsMapKey("k").ok());
}

TEST_F(PointReaderTest, ReadsLoggedValuesOfTheActiveAndOfSealedMemtables) {
  PutLogged("sealed", BytesOf(200));
  const auto snapshot = tree_.TakeSnapshot();
  PutLogged("active", BytesOf(201));
  EXPECT_EQ(Shown(tree_.map(), "active"), BytesOf(201));
  EXPECT_EQ(Shown(tree_.map(), "sealed"), BytesOf(200));
  EXPECT_EQ(Shown(tree_.map(), "sealed", snapshot.get()), BytesOf(200));
  EXPECT_EQ(Shown(tree_.map(), "active", snapshot.get()), "none");
}

TEST_F(PointReaderTest, AListHasItsInlineLoggedAndFiledPartsInOrder) {
  const std::string key = ListKey("l");
  tree_.Append(key, TreeForTest::Segment(BytesOf(300)));
  tree_.SealAndFlush();
  std::string whole = tree_.model().at(key);

  const auto segment = tree_.BeginSegment();
  const std::string logged = TreeForTest::Segment(BytesOf(150));
  std::string parts = TreeForTest::Segment("first");
  AppendListReference(ReadsForTest::LogTo(segment.get(), key, logged), &parts);
  parts += TreeForTest::Segment("last");
  tree_.active()->AppendParts(key, 0, parts);
  tree_.Publish();
  whole += TreeForTest::Segment("first") + logged + TreeForTest::Segment("last");
  EXPECT_EQ(Shown(tree_.list(), "l"), whole);
}

TEST_F(PointReaderTest, AListThatStandsOnAReferenceIsCorrupt) {
  const ValueReference reference = ReadsForTest::ReferenceTo({{8, 8}, 1}, 8);
  tree_.active()->PutReference(ListKey("l"), 0, ReadsForTest::Encoded(reference));
  tree_.Seal();
  tree_.Append(ListKey("l"), TreeForTest::Segment("1"));
  tree_.Publish();
  std::string value;
  EXPECT_TRUE(Get(tree_.list(), "l", &value).IsCorruption());
}

TEST_F(PointReaderTest, ADamagedSizeTakesNoMemoryAndReachesNoSink) {
  tree_.Put(K("v"), BytesOf(300));
  tree_.Append(ListKey("l"), TreeForTest::Segment(BytesOf(300)));
  tree_.SealAndFlush();
  const FileId blob_file = tree_.version()->value_files.begin()->first;
  const ValueReference huge = ReadsForTest::ReferenceTo(blob_file, uint64_t{1} << 30);
  tree_.active()->PutReference(K("huge"), 0, ReadsForTest::Encoded(huge));
  std::string parts = TreeForTest::Segment("1");
  AppendListReference(huge, &parts);
  tree_.active()->PutParts(ListKey("huge"), 0, parts);
  tree_.Publish();
  tree_.reads().whole_bytes_max = 100;
  for (Table* table : {tree_.map(), tree_.list()}) {
    CollectingSink sink(tree_);
    PinnedValue value;
    EXPECT_TRUE(GetTo(table, "huge", &sink, &value).IsCorruption());
    EXPECT_FALSE(sink.began);
    EXPECT_EQ(tree_.lease_bytes(), 0u);
  }
}

TEST_F(PointReaderTest, LargeValuesAreChargedAsLongAsTheCallerKeepsThem) {
  tree_.Put(K("filed"), BytesOf(kLargeBytes));
  tree_.Put(K("small"), BytesOf(300));
  tree_.SealAndFlush();
  PutLogged("logged", BytesOf(kLargeBytes));
  tree_.Append(ListKey("l"), TreeForTest::Segment(BytesOf(kLargeBytes)));
  tree_.Seal();
  tree_.Append(ListKey("l"), TreeForTest::Segment("end"));
  tree_.Publish();
  for (const char* rest : {"filed", "logged"}) {
    PinnedValue value;
    ASSERT_TRUE(GetTo(tree_.map(), rest, nullptr, &value).ok()) << rest;
    EXPECT_EQ(tree_.lease_bytes(), kLargeBytes) << rest;
    PinnedValue small;
    ASSERT_TRUE(GetTo(tree_.map(), "small", nullptr, &small).ok());
    EXPECT_EQ(tree_.lease_bytes(), kLargeBytes) << "a small value must not be charged";
    EXPECT_EQ(value.data(), BytesOf(kLargeBytes));
    value.Reset();
    EXPECT_EQ(tree_.lease_bytes(), 0u) << rest;
  }
}

TEST_F(PointReaderTest, AValueOutlivesTheInstanceThatItCameFrom) {
  PinnedValue filed, logged;
  {
    ReadsForTest instance;
    instance.Put(K("filed"), BytesOf(kLargeBytes));
    instance.SealAndFlush();
    const auto segment = instance.BeginSegment();
    instance.active()->PutReference(K("logged"), 0,
                                    ReadsForTest::Encoded(ReadsForTest::LogTo(
                                        segment.get(), K("logged"), BytesOf(kLargeBytes))));
    instance.Publish();
    const PointReader reads(&instance.reads());
    ASSERT_TRUE(reads.Get(instance.map(), {UserKey(1, "filed")}, &filed, nullptr, nullptr).ok());
    ASSERT_TRUE(reads.Get(instance.map(), {UserKey(1, "logged")}, &logged, nullptr, nullptr).ok());
    filed.Reset();  // its block belongs to the instance's cache
  }
  EXPECT_EQ(logged.data(), BytesOf(kLargeBytes));
}

TEST_F(PointReaderTest, ANewReadForgetsTheValueOfTheLastOne) {
  tree_.Put(K("v"), "value");
  PinnedValue value;
  ASSERT_TRUE(GetTo(tree_.map(), "v", nullptr, &value).ok());
  EXPECT_EQ(value.data(), "value");
  EXPECT_TRUE(GetTo(tree_.map(), "absent", nullptr, &value).IsNotFound());
  EXPECT_TRUE(value.data().empty());
}

TEST_F(PointReaderTest, AValueGoesToTheSinkInPiecesIfItIsLargerThanTheBound) {
  tree_.Put(K("filed"), BytesOf(kLargeBytes));
  tree_.SealAndFlush();
  PutLogged("logged", BytesOf(kLargeBytes));
  tree_.Publish();
  for (const char* rest : {"filed", "logged"}) {
    tree_.reads().whole_bytes_max = kLargeBytes - 1;
    CollectingSink sink(tree_);
    PinnedValue value;
    ASSERT_TRUE(GetTo(tree_.map(), rest, &sink, &value).ok()) << rest;
    EXPECT_EQ(sink.announced, kLargeBytes);
    EXPECT_TRUE(sink.bytes == BytesOf(kLargeBytes)) << rest;
    EXPECT_LE(sink.largest_piece, kPieceBytes);
    EXPECT_EQ(sink.most_charged, kPieceBytes) << "at most one piece may be in memory";
    EXPECT_TRUE(value.data().empty());
    EXPECT_EQ(tree_.scan_bytes(), 0u);
    EXPECT_EQ(tree_.lease_bytes(), 0u);

    tree_.reads().whole_bytes_max = kLargeBytes;
    CollectingSink unused(tree_);
    ASSERT_TRUE(GetTo(tree_.map(), rest, &unused, &value).ok()) << rest;
    EXPECT_FALSE(unused.began) << "a value up to the bound must not go to the sink";
    EXPECT_TRUE(value.data() == BytesOf(kLargeBytes)) << rest;
  }
}

TEST_F(PointReaderTest, AValueInPiecesNeedsItsFile) {
  tree_.Put(K("filed"), BytesOf(kLargeBytes));
  tree_.SealAndFlush();
  tree_.LoseValueFiles();
  tree_.Publish();
  tree_.reads().whole_bytes_max = kLargeBytes - 1;
  CollectingSink sink(tree_);
  PinnedValue value;
  const Status status = GetTo(tree_.map(), "filed", &sink, &value);
  EXPECT_TRUE(status.IsNeedsFile()) << status.ToString();
  EXPECT_EQ(status.message(), tree_.version()->value_files.begin()->first.ValueFileName())
      << "the message must be the file's name alone";
  EXPECT_TRUE(sink.bytes.empty());
  EXPECT_EQ(tree_.scan_bytes(), 0u);
}

TEST_F(PointReaderTest, ASinkMayRefuseOrFail) {
  tree_.Put(K("filed"), BytesOf(kLargeBytes));
  tree_.SealAndFlush();
  PutLogged("logged", BytesOf(kLargeBytes));
  tree_.active()->Append(ListKey("l"), 0, TreeForTest::Segment(BytesOf(kLargeBytes)));
  tree_.Publish();
  tree_.reads().whole_bytes_max = 1000;
  for (const char* rest : {"filed", "logged"}) {
    CollectingSink refuses(tree_);
    refuses.wants = false;
    PinnedValue value;
    EXPECT_TRUE(GetTo(tree_.map(), rest, &refuses, &value).ok());
    EXPECT_TRUE(refuses.began);
    EXPECT_TRUE(value.data().empty());
    CollectingSink fails(tree_);
    fails.fails_at = 1;
    const Status status = GetTo(tree_.map(), rest, &fails, &value);
    EXPECT_TRUE(status.IsIOError()) << status.ToString();
    EXPECT_EQ(tree_.scan_bytes(), 0u);
  }
  CollectingSink unused(tree_);
  PinnedValue value;
  EXPECT_TRUE(GetTo(tree_.list(), "l", &unused, &value).ok());
  EXPECT_FALSE(unused.began) << "a value that is in memory as a whole must not go to the sink";
}

/// Puts a list with parts of every kind, some of them larger than a piece.
std::string PutMixedList(ReadsForTest* tree, const std::string& key) {
  for (const uint64_t bytes : {kWholeBytesMax + 1, uint64_t{300}}) {
    tree->Append(key, TreeForTest::Segment(BytesOf(bytes)));
    tree->SealAndFlush();
  }
  std::string whole = tree->model().at(key);
  const auto segment = tree->BeginSegment();
  std::string parts = TreeForTest::Segment("inline");
  whole += parts;
  for (const uint64_t bytes : {uint64_t{150}, kWholeBytesMax + 2}) {
    const std::string logged = TreeForTest::Segment(BytesOf(bytes));
    AppendListReference(ReadsForTest::LogTo(segment.get(), key, logged), &parts);
    whole += logged;
  }
  parts += TreeForTest::Segment("last");
  whole += TreeForTest::Segment("last");
  tree->active()->AppendParts(key, 0, parts);
  tree->Publish();
  return whole;
}

TEST_F(PointReaderTest, TheSinkGetsThePartsOfAListInOrder) {
  const std::string whole = PutMixedList(&tree_, ListKey("l"));
  CollectingSink sink(tree_);
  PinnedValue value;
  ASSERT_TRUE(GetTo(tree_.list(), "l", &sink, &value).ok());
  EXPECT_EQ(sink.announced, whole.size());
  EXPECT_TRUE(sink.bytes == whole);
  EXPECT_LT(sink.most_charged, 2 * kPieceBytes) << "the list must not be in memory as a whole";
  EXPECT_TRUE(value.data().empty());
  EXPECT_EQ(tree_.scan_bytes(), 0u);

  ASSERT_TRUE(GetTo(tree_.list(), "l", nullptr, &value).ok());
  EXPECT_TRUE(value.data() == whole);
  EXPECT_EQ(tree_.lease_bytes(), whole.size());
}

TEST_F(PointReaderTest, AListWithALostPartNeitherBeginsNorIsShown) {
  PutMixedList(&tree_, ListKey("l"));
  std::string parts;
  AppendListReference(ReadsForTest::ReferenceTo({{8, 8}, 1}, 2 << 20), &parts);
  tree_.active()->AppendParts(ListKey("l"), 0, parts);
  CollectingSink sink(tree_);
  PinnedValue value;
  EXPECT_TRUE(GetTo(tree_.list(), "l", &sink, &value).IsCorruption());
  EXPECT_FALSE(sink.began);
  EXPECT_TRUE(GetTo(tree_.list(), "l", nullptr, &value).IsCorruption());
  EXPECT_EQ(tree_.lease_bytes(), 0u);
}

TEST(PointReaderCompressed, ACompressedValueGoesToTheSinkAsAWholeAndIsCharged) {
  ReadsForTest tree(Compression::kLz4);
  const std::string text(kLargeBytes, 'x');
  tree.Put(K("v"), text);
  tree.SealAndFlush();
  tree.reads().whole_bytes_max = 1000;
  CollectingSink sink(tree);
  PinnedValue value;
  const PointReader reader(&tree.reads());
  ASSERT_TRUE(reader.Get(tree.map(), {UserKey(1, "v")}, &value, &sink, nullptr).ok());
  EXPECT_EQ(sink.largest_piece, text.size());
  EXPECT_TRUE(sink.bytes == text);
  EXPECT_GE(sink.most_charged, text.size());
  EXPECT_EQ(tree.scan_bytes(), 0u);
}

TEST_F(PointReaderTest, ThreadsReadBesideAWriterThatSealsAndPublishes) {
  tree_.Put(K("fixed"), BytesOf(300));
  tree_.Put(K("counter"), "100000");
  tree_.SealAndFlush();
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      std::string last, value;
      while (!stop) {
        EXPECT_EQ(Shown(tree_.map(), "fixed"), BytesOf(300));
        ASSERT_TRUE(Get(tree_.map(), "counter", &value).ok());
        EXPECT_LE(last, value) << "an older run must not pass for the newest one";
        last = value;
      }
    });
  }
  for (int number = 100'001; number <= 102'000; ++number) {
    tree_.Put(K("counter"), std::to_string(number));
    if (number % 100 != 0) continue;
    tree_.Seal();
  }
  stop = true;
  for (std::thread& thread : readers) thread.join();
  EXPECT_EQ(Shown(tree_.map(), "counter"), "102000");
}

}  // namespace
}  // namespace lava
