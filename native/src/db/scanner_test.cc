// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/scanner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "db/reads_for_test.h"
#include "testing/random.h"

namespace lava {
namespace {

using testing::Random;

using Rows = std::vector<std::pair<std::string, std::string>>;

/// The entries of a page. Keys lack the skipped bytes.
Rows RowsOf(const ScanPage& page) {
  Rows rows;
  Slice rest = page.bytes;
  while (rest.size() >= 8) {
    const size_t key_bytes = DecodeBigEndian(rest.data(), 4);
    const size_t value_bytes = DecodeBigEndian(rest.data() + 4, 4);
    rest.remove_prefix(8);
    if (rest.size() < key_bytes + value_bytes) break;
    rows.emplace_back(rest.substr(0, key_bytes), rest.substr(key_bytes, value_bytes));
    rest.remove_prefix(key_bytes + value_bytes);
  }
  EXPECT_TRUE(rest.empty());
  EXPECT_EQ(rows.size(), page.entries);
  return rows;
}

class ScannerTest : public ::testing::Test {
 protected:
  Scanner scanner() { return Scanner(&tree_.reads()); }
  Status Scan(Table* table, const ScanRequest& request, Snapshot* snapshot = nullptr) {
    return scanner().Scan(table, request, &page_, snapshot);
  }
  /// The entries of all pages of a scan, or the text of the error.
  Rows ScanAll(Table* table, ScanRequest request, Snapshot* snapshot = nullptr) {
    Rows rows;
    std::string last;
    do {
      const Status status = Scan(table, request, snapshot);
      EXPECT_TRUE(status.ok()) << status.ToString();
      if (!status.ok()) break;
      for (auto& row : RowsOf(page_)) rows.push_back(std::move(row));
      EXPECT_TRUE(page_.done || page_.entries > 0) << "only the last page of a scan may be empty";
      EXPECT_LE(page_.entries, request.entries_max);
      EXPECT_TRUE(page_.entries <= 1 || page_.bytes.size() <= request.bytes_max);
      last = page_.last_key;
      request.lower = last;
      request.lower_exclusive = true;
    } while (!page_.done && page_.entries > 0);
    return rows;
  }
  static ScanRequest Under(Slice prefix) {
    ScanRequest request;
    request.lower = prefix;
    request.prefix_bytes = static_cast<uint32_t>(prefix.size());
    return request;
  }
  Status ContainsPrefix(const std::string& rest, Snapshot* snapshot = nullptr) {
    return scanner().ContainsPrefix(tree_.map(), UserKey(1, rest), snapshot);
  }
  /// The model's entries of a table with user keys in [lower, upper), or with a prefix.
  Rows Expected(uint64_t table, const std::string& lower, const std::string& upper,
                const std::string& prefix) const {
    Rows rows;
    for (const auto& [internal, value] : tree_.model()) {
      std::string key;
      AppendUserKey(internal, 1, 0, &key);
      if (TableIdOf(internal, 1) == table && key >= lower && (upper.empty() || key < upper) &&
          key.starts_with(prefix))
        rows.emplace_back(key, value);
    }
    std::sort(rows.begin(), rows.end());
    return rows;
  }
  /// Puts a key into partition 1. The first two bytes of the key are its prefix.
  void PutUnderPrefix(const std::string& rest, const std::string& value) {
    tree_.Put(K(rest), value, TreeForTest::kPrefixBytes);
  }
  void PutReference(const std::string& rest, const ValueReference& reference) {
    tree_.active()->PutReference(K(rest), TreeForTest::kPrefixBytes,
                                 ReadsForTest::Encoded(reference));
  }

  ReadsForTest tree_;
  ScanPage page_;
};

TEST_F(ScannerTest, RefusesRequestsThatAreNotSound) {
  const std::string key = UserKey(1, "a"), none;
  ScanRequest request;
  request.entries_max = 0;
  EXPECT_TRUE(Scan(tree_.map(), request).IsInvalidArgument());
  request = Under(key);
  request.prefix_bytes = 3;
  EXPECT_TRUE(Scan(tree_.map(), request).IsInvalidArgument())
      << "the bound is shorter than the prefix";
  const std::string too_long(kKeyBytesMax + 1, '\1');
  request = {};
  request.lower = too_long;
  EXPECT_TRUE(Scan(tree_.map(), request).IsInvalidArgument());
  request = {};
  request.upper = too_long;
  EXPECT_TRUE(Scan(tree_.map(), request).IsInvalidArgument());
  request.lower = key;
  request.prefix_bytes = 1;
  EXPECT_TRUE(Scan(tree_.map(), request).ok())
      << "a request with a prefix must ignore its upper bound";
  EXPECT_TRUE(scanner().ContainsPrefix(tree_.map(), none, nullptr).IsInvalidArgument());
}

TEST_F(ScannerTest, RefusesTablesAndSnapshotsThatAreNotItsOwn) {
  ReadsForTest other;
  const auto foreign = other.TakeSnapshot();
  const auto scan = [&](Table* table, Snapshot* snapshot = nullptr) {
    const Status status = Scan(table, {}, snapshot);
    EXPECT_EQ(scanner().ContainsPrefix(table, UserKey(1, "a"), snapshot).code(),
              status.ok() ? Status::NotFound().code() : status.code());
    Table* const tables[] = {table};
    TablesScanRequest request;
    request.tables = tables;
    TablesScanPage page;
    EXPECT_EQ(scanner().ScanTables(request, &page, snapshot).code(), status.code());
    return status;
  };
  EXPECT_TRUE(scan(nullptr).IsInvalidArgument());
  EXPECT_TRUE(scan(other.map()).IsInvalidArgument());
  EXPECT_TRUE(scan(tree_.map(), foreign.get()).IsInvalidArgument());
  TableImpl* const dropped = tree_.Register(8, "dropped");
  tree_.registry().Drop(dropped);
  EXPECT_TRUE(scan(dropped).IsClosed());
  EXPECT_TRUE(scan(tree_.map()).ok());
  tree_.Close();
  EXPECT_TRUE(scan(tree_.map()).IsClosed());
}

TEST_F(ScannerTest, ScansOfSeveralTablesNameEachOnceInOrder) {
  TablesScanPage page;
  Table* const right[] = {tree_.map(), tree_.list()};
  Table* const wrong[] = {tree_.list(), tree_.map()};
  Table* const twice[] = {tree_.map(), tree_.map()};
  TablesScanRequest request;
  EXPECT_TRUE(scanner().ScanTables(request, &page, nullptr).ok());
  EXPECT_TRUE(page.page.done && page.sections.empty()) << "a scan of no tables has no entries";
  request.tables = wrong;
  EXPECT_TRUE(scanner().ScanTables(request, &page, nullptr).IsInvalidArgument());
  request.tables = twice;
  EXPECT_TRUE(scanner().ScanTables(request, &page, nullptr).IsInvalidArgument());
  request.tables = right;
  request.after_table = 2;
  EXPECT_TRUE(scanner().ScanTables(request, &page, nullptr).ok())
      << "without a position, after_table must be ignored";
  const std::string after = UserKey(1, "a");
  request.after_key = after;
  EXPECT_TRUE(scanner().ScanTables(request, &page, nullptr).IsInvalidArgument());
  request.after_table = 1;
  EXPECT_TRUE(scanner().ScanTables(request, &page, nullptr).ok());
  request.entries_max = 0;
  EXPECT_TRUE(scanner().ScanTables(request, &page, nullptr).IsInvalidArgument());
}

/// Changes a tree at random: some keys of some prefixes of two tables in several partitions.
class RandomChanges {
 public:
  RandomChanges(ReadsForTest* tree, uint64_t seed) : tree_(*tree), random_(seed) {}

  void Make(int changes) {
    for (int i = 0; i < changes; ++i) {
      const uint64_t what = random_.Uniform(100);
      if (what < 60) {
        const size_t bytes = random_.Uniform(4) == 0 ? 100 + random_.Uniform(50) : 5;
        tree_.Put(Key(), std::string(bytes, static_cast<char>('a' + random_.Uniform(26))), kPrefix);
      } else if (what < 90) {
        tree_.Delete(Key(), kPrefix);
      } else if (what < 95) {
        tree_.DeletePrefix(Key().substr(0, kPrefix));
      } else if (what < 97) {
        const std::string begin = Key();
        tree_.DeleteRange(begin, begin.substr(0, kPrefix) + "5");
      } else {
        what < 99 ? tree_.Seal() : tree_.SealAndFlush();
      }
    }
    tree_.Publish();
  }
  /// A random user key, or a prefix of one.
  std::string UserKeyOf(bool prefix) {
    std::string user;
    AppendUserKey(prefix ? Key().substr(0, kPrefix) : Key(), 1, 0, &user);
    return user;
  }
  Random& random() { return random_; }

 private:
  static constexpr uint32_t kPrefix = TreeForTest::kPrefixBytes;
  std::string Key() {
    const auto partition = static_cast<uint8_t>(random_.Uniform(ReadsForTest::kLastPartition + 1));
    const uint64_t table = random_.Uniform(3) == 0 ? kOtherTable : ReadsForTest::kMapId;
    std::string rest = "p" + std::to_string(random_.Uniform(3));
    return TreeForTest::Key(partition, table, rest + std::to_string(random_.Uniform(12)));
  }
  static constexpr uint64_t kOtherTable = 8;
  ReadsForTest& tree_;
  Random random_;
};

ScanRequest RandomPages(Random* random) {
  ScanRequest request;
  request.entries_max = 1 + static_cast<uint32_t>(random->Uniform(random->Uniform(2) ? 3 : 300));
  request.bytes_max = random->Uniform(2) ? 1 + random->Uniform(400) : 64 << 10;
  request.keys_only = random->Uniform(3) == 0;
  request.fill_cache = random->Uniform(3) != 0;
  return request;
}

TEST_F(ScannerTest, PagesShowWhatAModelHasWhereverItIs) {
  RandomChanges changes(&tree_, 11);
  Random& random = changes.random();
  for (int round = 0; round < 300; ++round) {
    changes.Make(1 + static_cast<int>(random.Uniform(20)));
    ScanRequest request = RandomPages(&random);
    const std::string a = changes.UserKeyOf(false), b = changes.UserKeyOf(false);
    const std::string prefix = changes.UserKeyOf(true);
    Rows expected;
    switch (random.Uniform(3)) {
      case 0:
        request.lower = prefix;
        request.prefix_bytes = static_cast<uint32_t>(prefix.size());
        expected = Expected(ReadsForTest::kMapId, "", "", prefix);
        break;
      case 1:
        request.lower = a;
        request.upper = b;
        expected = Expected(ReadsForTest::kMapId, a, b, "");
        break;
      default:
        expected = Expected(ReadsForTest::kMapId, "", "", "");
    }
    if (request.keys_only)
      for (auto& row : expected) row.second.clear();
    ASSERT_EQ(ScanAll(tree_.map(), request), expected) << "round " << round;
    ASSERT_EQ(tree_.scan_bytes(), 0u);
  }
}

TEST_F(ScannerTest, ContainsPrefixAgreesWithScans) {
  RandomChanges changes(&tree_, 12);
  for (int round = 0; round < 500; ++round) {
    changes.Make(1 + static_cast<int>(changes.random().Uniform(20)));
    const std::string prefix = changes.UserKeyOf(true);
    const bool any = !Expected(ReadsForTest::kMapId, "", "", prefix).empty();
    const Status status = scanner().ContainsPrefix(tree_.map(), prefix, nullptr);
    ASSERT_TRUE(any ? status.ok() : status.IsNotFound()) << "round " << round;
  }
}

TEST_F(ScannerTest, ASnapshotShowsWhatItHadThoughLaterScansRememberDeadRanges) {
  RandomChanges changes(&tree_, 13);
  changes.Make(300);
  const Rows before = Expected(ReadsForTest::kMapId, "", "", "");
  const auto snapshot = tree_.TakeSnapshot();
  changes.Make(300);
  for (const uint32_t entries : {1u, 7u, 1000u}) {
    ScanRequest request;
    request.entries_max = entries;
    EXPECT_EQ(ScanAll(tree_.map(), request, snapshot.get()), before);
  }
  EXPECT_NE(ScanAll(tree_.map(), {}), before);
}

TEST_F(ScannerTest, APageEndsBeforeTheEntryThatIsTooMuch) {
  for (const char* rest : {"aa1", "aa2", "aa3"}) PutUnderPrefix(rest, std::string(50, 'v'));
  const auto entries_of = [&](uint64_t bytes_max) {
    ScanRequest request = Under(Slice("\1aa"));
    request.bytes_max = bytes_max;
    EXPECT_TRUE(Scan(tree_.map(), request).ok());
    return page_.entries;
  };
  constexpr uint64_t kEntry = 8 + 4 + 50;
  for (const bool filed : {false, true}) {
    if (filed) tree_.SealAndFlush();
    EXPECT_EQ(entries_of(2 * kEntry), 2u);
    EXPECT_FALSE(page_.done);
    EXPECT_EQ(page_.last_key, "\1aa2");
    EXPECT_EQ(entries_of(2 * kEntry - 1), 1u);
    EXPECT_EQ(entries_of(1), 1u)
        << "a page must have one entry, even if the entry is larger than the page";
    EXPECT_EQ(entries_of(3 * kEntry), 3u);
    EXPECT_TRUE(page_.done) << "the range has no further entries";
  }
}

TEST_F(ScannerTest, KeysLackTheirFirstBytesAndTheLastOneIsWhole) {
  PutUnderPrefix("aa1", "v");
  PutUnderPrefix("aa2", "w");
  for (const bool filed : {false, true}) {
    if (filed) tree_.SealAndFlush();
    for (const uint32_t skip : {0u, 1u, 3u, 4u, 9u}) {
      ScanRequest request = Under(Slice("\1aa"));
      request.skip_key_bytes = skip;
      ASSERT_TRUE(Scan(tree_.map(), request).ok());
      const std::string first = "\1aa1", second = "\1aa2";
      const size_t left_out = std::min<size_t>(skip, 4);
      EXPECT_EQ(RowsOf(page_),
                (Rows{{first.substr(left_out), "v"}, {second.substr(left_out), "w"}}));
      EXPECT_EQ(page_.last_key, second) << "skipped: " << skip;
    }
  }
}

TEST_F(ScannerTest, ValuesComeFromEveryPlace) {
  PutUnderPrefix("aafile", std::string(300, 'f'));
  PutUnderPrefix("aainline", "small");
  tree_.SealAndFlush();
  const auto segment = tree_.BeginSegment();
  const std::string logged(200, 'l');
  PutReference("aalog", ReadsForTest::LogTo(segment.get(), K("aalog"), logged));
  tree_.Publish();
  const Rows expected{
      {"\1aafile", std::string(300, 'f')}, {"\1aainline", "small"}, {"\1aalog", logged}};
  EXPECT_EQ(ScanAll(tree_.map(), Under(Slice("\1aa"))), expected);
  EXPECT_EQ(ScanAll(tree_.map(), {}), expected);
  EXPECT_EQ(tree_.counters().scan_value_bytes, 2 * (300u + 200u));
  ScanRequest request = Under(Slice("\1aal"));
  EXPECT_EQ(ScanAll(tree_.map(), request), Rows({expected[2]}));
}

TEST_F(ScannerTest, ListsComeWithAllOfTheirParts) {
  const std::string key = K("l", ReadsForTest::kListId);
  tree_.Append(key, TreeForTest::Segment(std::string(300, 'f')));
  tree_.SealAndFlush();
  const auto segment = tree_.BeginSegment();
  const std::string logged = TreeForTest::Segment(std::string(200, 'l'));
  std::string parts = TreeForTest::Segment("inline");
  AppendListReference(ReadsForTest::LogTo(segment.get(), key, logged), &parts);
  tree_.active()->AppendParts(key, 0, parts);
  tree_.Publish();
  const std::string whole = tree_.model().at(key) + TreeForTest::Segment("inline") + logged;
  EXPECT_EQ(ScanAll(tree_.list(), {}), (Rows{{"\1l", whole}}));
}

TEST_F(ScannerTest, OnlyEntriesThatWereShownWithValuesAreCounted) {
  for (int i = 0; i < 5; ++i) PutUnderPrefix("aa" + std::to_string(i), "v");
  ScanRequest request = Under(Slice("\1aa"));
  request.keys_only = true;
  ScanAll(tree_.map(), request);
  EXPECT_EQ(tree_.map()->scanned(), 0u);
  request.keys_only = false;
  request.entries_max = 2;
  ScanAll(tree_.map(), request);
  EXPECT_EQ(tree_.map()->scanned(), 5u);
  Table* const tables[] = {tree_.map(), tree_.list()};
  TablesScanRequest several;
  several.tables = tables;
  TablesScanPage page;
  ASSERT_TRUE(scanner().ScanTables(several, &page, nullptr).ok());
  EXPECT_EQ(tree_.map()->scanned(), 10u);
  EXPECT_EQ(tree_.list()->scanned(), 0u);
}

TEST_F(ScannerTest, ExpiredValuesAreLeftOutAndHideOlderOnes) {
  const FileId blob_file{{8, 8}, 1};
  PutUnderPrefix("aa1", "older");
  tree_.Seal();
  PutReference("aa1", ReadsForTest::ReferenceTo(blob_file, 8, 1000));
  PutReference("aa2", ReadsForTest::ReferenceTo(blob_file, 8, 1001));
  tree_.Seal();
  tree_.Expire(blob_file, ReadsForTest::kMapId, 1000);
  for (ScanRequest request : {Under(Slice("\1aa")), ScanRequest()}) {
    request.keys_only = true;
    EXPECT_EQ(ScanAll(tree_.map(), request), (Rows{{"\1aa2", ""}}));
    request.keys_only = false;
    EXPECT_TRUE(Scan(tree_.map(), request).IsCorruption())
        << "the value of the other entry is lost";
  }
}

TEST_F(ScannerTest, ScansWithoutValuesNeedNoValueFile) {
  PutUnderPrefix("aa1", std::string(300, 'v'));
  tree_.SealAndFlush();
  tree_.LoseValueFiles();
  const std::string name = tree_.version()->value_files.begin()->first.ValueFileName();
  for (ScanRequest request : {Under(Slice("\1aa")), ScanRequest()}) {
    const Status status = Scan(tree_.map(), request);
    ASSERT_TRUE(status.IsNeedsFile());
    EXPECT_EQ(status.message(), name);
    request.keys_only = true;
    EXPECT_TRUE(Scan(tree_.map(), request).ok());
    EXPECT_EQ(page_.entries, 1u);
  }
  EXPECT_TRUE(ContainsPrefix("aa").ok());
  Table* const tables[] = {tree_.map()};
  TablesScanRequest several;
  several.tables = tables;
  TablesScanPage page;
  EXPECT_EQ(scanner().ScanTables(several, &page, nullptr).message(), name)
      << "the message must be the file's name alone";
}

TEST_F(ScannerTest, ADamagedSizeIsFoundBeforeThePageReservesMemory) {
  PutUnderPrefix("aa1", std::string(300, 'v'));
  tree_.SealAndFlush();
  const FileId blob_file = tree_.version()->value_files.begin()->first;
  PutReference("aa2", ReadsForTest::ReferenceTo(blob_file, uint64_t{1} << 60));
  tree_.Seal();
  for (const ScanRequest& request : {Under(Slice("\1aa")), Under(Slice("\1aa2")), ScanRequest()})
    EXPECT_TRUE(Scan(tree_.map(), request).IsCorruption());
  Table* const tables[] = {tree_.map()};
  TablesScanRequest several;
  several.tables = tables;
  TablesScanPage page;
  EXPECT_TRUE(scanner().ScanTables(several, &page, nullptr).IsCorruption());
}

TEST_F(ScannerTest, ContainsPrefixAsksNoOlderRunThanItMust) {
  for (const char* rest : {"aa1", "bb1", "cc1", "cc2"}) PutUnderPrefix(rest, "old");
  tree_.SealAndFlush();
  tree_.LoseNewestFile();
  PutUnderPrefix("aa2", "new");
  tree_.DeletePrefix(K("bb"));
  tree_.Delete(K("cc1"), TreeForTest::kPrefixBytes);
  tree_.Publish();
  EXPECT_TRUE(ContainsPrefix("aa").ok());
  EXPECT_TRUE(ContainsPrefix("bb").IsNotFound());
  EXPECT_TRUE(ContainsPrefix("cc").IsNeedsFile())
      << "the missing file may have a key that is not deleted";
}

TEST_F(ScannerTest, NewestScansJumpOverWhatTheyFoundDeadAndSnapshotsDoNot) {
  constexpr int kKeys = 500;
  const auto rest = [](int i) { return "aa" + std::to_string(1000 + i); };
  for (int i = 0; i < kKeys; ++i) PutUnderPrefix(rest(i), "v");
  tree_.SealAndFlush();
  const auto snapshot = tree_.TakeSnapshot();
  for (int i = 0; i < kKeys; ++i) tree_.Delete(K(rest(i)), TreeForTest::kPrefixBytes);
  tree_.Publish();
  EXPECT_TRUE(ScanAll(tree_.map(), Under(Slice("\1aa"))).empty());
  EXPECT_GT(tree_.map()->dead().size(), 0u);
  const uint64_t stepped = tree_.counters().records_stepped_over;
  EXPECT_GT(stepped, 0u);
  EXPECT_TRUE(ScanAll(tree_.map(), Under(Slice("\1aa"))).empty());
  EXPECT_EQ(tree_.counters().records_stepped_over, stepped);
  EXPECT_TRUE(ContainsPrefix("aa").IsNotFound());

  EXPECT_EQ(ScanAll(tree_.map(), Under(Slice("\1aa")), snapshot.get()).size(), size_t{kKeys});
  EXPECT_TRUE(ContainsPrefix("aa", snapshot.get()).ok());
  PutUnderPrefix(rest(7), "again");
  tree_.map()->dead().Wrote(K(rest(7)));
  EXPECT_EQ(ScanAll(tree_.map(), Under(Slice("\1aa"))), (Rows{{"\1" + rest(7), "again"}}));
}

TEST_F(ScannerTest, WithoutMemoryForReadingAheadItReadsAllTheSame) {
  for (int i = 0; i < 200; ++i) PutUnderPrefix("aa" + std::to_string(i), "v");
  tree_.SealAndFlush();
  tree_.memory().SetLimit(0);
  ScanRequest request;
  request.fill_cache = false;
  EXPECT_EQ(ScanAll(tree_.map(), request).size(), 200u);
  EXPECT_GT(tree_.memory().refusals(), 0u);
  EXPECT_EQ(tree_.scan_bytes(), 0u);
}

}  // namespace
}  // namespace lava
