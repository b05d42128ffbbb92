// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "testing/random.h"
#include "tests/db_value_test_util.h"

// Scans of a prefix remember ranges in which they found nothing. The cost of a scan does not depend
// on earlier removals, and later writes are always visible.

namespace lava::testing {
namespace {

/// One map's entries, with keys in ascending order of their numbers.
class DeadRangesDB : public ValueDB {
 public:
  using ValueDB::ValueDB;
  static constexpr uint32_t kPrefixBytes = 2;

  static std::string Prefix(char map) { return K(1, std::string(1, map)); }
  static std::string Key(char map, uint64_t n) {
    return Prefix(map) + std::to_string(1'000'000 + n);
  }
  Status PutAt(Table* table, char map, uint64_t n, Slice value = "v") {
    return get()->Put(table, {Key(map, n), kPrefixBytes}, value);
  }
  Status DeleteAt(Table* table, char map, uint64_t n) {
    return get()->Delete(table, {Key(map, n), kPrefixBytes});
  }
  bool IsEmpty(Table* table, char map) {
    const Status status = get()->ContainsPrefix(table, Prefix(map));
    EXPECT_TRUE(status.ok() || status.IsNotFound()) << status.ToString();
    return !status.ok();
  }
  /// The first keys of the map: one page.
  std::vector<std::string> First(Table* table, char map, uint32_t entries = 1) {
    const std::string prefix = Prefix(map);
    ScanRequest request;
    request.lower = prefix;
    request.prefix_bytes = kPrefixBytes;
    request.keys_only = true;
    request.entries_max = entries;
    ScanPage page;
    EXPECT_OK(get()->Scan(table, request, &page));
    std::vector<Model::Entry> parsed;
    EXPECT_OK(ParsePage(page, &parsed));
    std::vector<std::string> keys;
    for (const Model::Entry& entry : parsed) keys.push_back(entry.first);
    return keys;
  }
  uint64_t SteppedOver() { return get()->statistics().records_stepped_over; }
};

// The number of records that one call may skip, however many were removed before.
constexpr uint64_t kStepsMax = 2 * 64 + 32;

TEST(DeadRangesScanTest, AnEmptiedMapIsWalkedOverOnce) {
  for (const bool flushed : {false, true}) {
    DeadRangesDB db;
    ASSERT_OK(db.Open());
    Table* table = db.Values();
    ASSERT_OK(db.PutAt(table, 'z', 0));
    ASSERT_OK(db.Flush());  // otherwise deletions leave no tombstones
    constexpr uint64_t kEntries = 5000;
    for (uint64_t i = 0; i < kEntries; ++i) ASSERT_OK(db.PutAt(table, 'm', i));
    if (flushed) ASSERT_OK(db.Flush());
    for (uint64_t i = 0; i < kEntries; ++i) ASSERT_OK(db.DeleteAt(table, 'm', i));
    if (flushed) ASSERT_OK(db.Flush());
    const uint64_t before = db.SteppedOver();
    EXPECT_TRUE(db.IsEmpty(table, 'm'));
    const uint64_t first = db.SteppedOver() - before;
    EXPECT_GE(first, kEntries);
    EXPECT_LE(first, kEntries + kStepsMax);
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(db.IsEmpty(table, 'm'));
      EXPECT_TRUE(db.First(table, 'm').empty());
    }
    EXPECT_EQ(db.SteppedOver() - before, first);
    // Refills the map at its end, at its beginning, and in between.
    for (const uint64_t n : {kEntries + 5, uint64_t{0}, kEntries / 2}) {
      ASSERT_OK(db.PutAt(table, 'm', n));
      EXPECT_FALSE(db.IsEmpty(table, 'm'));
      EXPECT_EQ(db.First(table, 'm', 9), std::vector<std::string>{db.Key('m', n)});
      ASSERT_OK(db.DeleteAt(table, 'm', n));
      EXPECT_TRUE(db.IsEmpty(table, 'm'));
    }
    EXPECT_LE(db.SteppedOver() - before, first + 12 * kStepsMax);
  }
}

TEST(DeadRangesScanTest, AMapUsedAsAQueueCostsTheSameAtItsEnd) {
  DeadRangesDB db;
  ASSERT_OK(db.Open());
  Table* table = db.Values();
  Random random(3);
  uint64_t head = 0, tail = 0;
  for (int round = 0; round < 15; ++round) {
    for (int i = 0; i < 150; ++i) ASSERT_OK(db.PutAt(table, 'q', tail++));
    std::shared_ptr<Snapshot> snapshot;
    for (int i = 0; i < 148; ++i) {
      const uint64_t before = db.SteppedOver();
      ASSERT_EQ(db.First(table, 'q'), std::vector<std::string>{db.Key('q', head)});
      ASSERT_LE(db.SteppedOver() - before, kStepsMax) << "round " << round << ", " << i;
      ASSERT_OK(db.DeleteAt(table, 'q', head++));
      ASSERT_FALSE(db.IsEmpty(table, 'q'));
      if (random.OneIn(100)) {  // a checkpoint, whose tombstones are in a sealed run or a file
        auto taken = db->TakeSnapshot();
        ASSERT_OK(taken.status());
        snapshot = *taken;
        if (random.OneIn(2)) ASSERT_OK(db.FlushSnapshot(snapshot.get()));
      }
    }
  }
}

// An entry that stays in front, like a map's header, does not prevent remembering the range after
// it.
TEST(DeadRangesScanTest, RemovedEntriesBehindALivingOneAreWalkedOverOnce) {
  DeadRangesDB db;
  ASSERT_OK(db.Open());
  Table* table = db.Values();
  constexpr uint64_t kEntries = 3000;
  for (uint64_t i = 0; i < kEntries; ++i) ASSERT_OK(db.PutAt(table, 'm', i));
  ASSERT_OK(db.Flush());
  for (uint64_t i = 1; i + 1 < kEntries; ++i) ASSERT_OK(db.DeleteAt(table, 'm', i));
  const std::vector<std::string> left = {db.Key('m', 0), db.Key('m', kEntries - 1)};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(db.First(table, 'm', 9), left);
  const uint64_t before = db.SteppedOver();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(db.First(table, 'm', 9), left);
  EXPECT_LE(db.SteppedOver() - before, 20 * kStepsMax);
}

// A scan does not visit the deletions of the next map.
TEST(DeadRangesScanTest, AnEmptyMapBeforeAnEmptiedOneCostsNothing) {
  DeadRangesDB db;
  ASSERT_OK(db.Open());
  Table* table = db.Values();
  ASSERT_OK(db.PutAt(table, 'z', 0));
  ASSERT_OK(db.PutAt(table, 'm', 0));
  ASSERT_OK(db.Flush());
  for (uint64_t i = 0; i < 3000; ++i) ASSERT_OK(db.DeleteAt(table, 'n', i));
  ASSERT_OK(db.Flush());
  ASSERT_OK(db.DeleteAt(table, 'm', 0));
  const uint64_t before = db.SteppedOver();
  EXPECT_TRUE(db.First(table, 'm').empty());
  EXPECT_LE(db.SteppedOver() - before, 4u);
}

// Any writes into empty ranges, and any scans: a model gives the expected answers.
TEST(DeadRangesScanTest, ScansShowWhatAModelHas) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    DeadRangesDB db(seed);
    ASSERT_OK(db.Open());
    Table* table = db.Values();
    Random random(seed);
    std::map<std::string, std::string> model;
    std::shared_ptr<Snapshot> snapshot;
    std::map<std::string, std::string> of_snapshot;
    constexpr uint64_t kEntries = 400;
    const auto entries_of = [](const std::map<std::string, std::string>& all, char map) {
      std::vector<Model::Entry> entries;
      for (const auto& entry : all)
        if (entry.first.starts_with(DeadRangesDB::Prefix(map))) entries.push_back(entry);
      return entries;
    };
    for (int step = 0; step < 400; ++step) {
      const char map = static_cast<char>('m' + random.Uniform(3));
      const uint64_t at = random.Uniform(kEntries), count = 1 + random.Uniform(200);
      const uint64_t what = random.Uniform(12);
      if (what < 3) {
        const uint64_t puts = what == 0 ? count : 1 + random.Uniform(3);
        for (uint64_t n = at; n < at + puts; ++n) {
          const std::string value(random.OneIn(8) ? 200 : 3, static_cast<char>('a' + step % 26));
          ASSERT_OK(db.PutAt(table, map, n, value));
          model[db.Key(map, n)] = value;
        }
      } else if (what < 7) {
        for (uint64_t n = at; n < at + count; ++n) {
          ASSERT_OK(db.DeleteAt(table, map, n));
          model.erase(db.Key(map, n));
        }
      } else if (what == 7) {
        WriteBatch batch;
        for (uint64_t n = at; n < at + 3; ++n) {
          batch.Put(table, {db.Key(map, n), db.kPrefixBytes}, "b");
          model[db.Key(map, n)] = "b";
        }
        ASSERT_OK(db->Write(batch));
      } else if (what == 8 && random.OneIn(4)) {
        ASSERT_OK(db->DeletePrefix(table, db.Prefix(map)));
        std::erase_if(model, [&](const auto& e) { return e.first.starts_with(db.Prefix(map)); });
      } else if (what == 9) {
        ASSERT_OK(db->DeleteRange(table, db.Key(map, at), db.Key(map, at + count)));
        model.erase(model.lower_bound(db.Key(map, at)), model.lower_bound(db.Key(map, at + count)));
      } else if (what == 10) {
        ASSERT_OK(random.OneIn(4) ? db.CompactAll() : db.Flush());
      } else if (what == 11) {
        auto taken = db->TakeSnapshot();
        ASSERT_OK(taken.status());
        snapshot = *taken;
        of_snapshot = model;
      }
      const std::string prefix = db.Prefix(map);
      ScanRequest request;
      request.lower = prefix;
      request.prefix_bytes = db.kPrefixBytes;
      request.entries_max = static_cast<uint32_t>(1 + random.Uniform(300));
      std::vector<Model::Entry> entries;
      ASSERT_OK(db.ScanAll(table, request, &entries));
      ASSERT_EQ(entries, entries_of(model, map)) << "seed " << seed << ", step " << step;
      ASSERT_EQ(db.IsEmpty(table, map), entries.empty()) << "seed " << seed << ", step " << step;
      if (snapshot != nullptr) {
        entries.clear();
        ASSERT_OK(db.ScanAll(table, request, &entries, snapshot.get()));
        ASSERT_EQ(entries, entries_of(of_snapshot, map)) << "seed " << seed << ", step " << step;
      }
    }
  }
}

}  // namespace
}  // namespace lava::testing
