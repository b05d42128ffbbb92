// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "testing/random.h"
#include "tests/db_value_test_util.h"

// A scan of several tables shows the same entries as separate scans of each table and partition.

namespace lava::testing {
namespace {

struct Shown {
  uint32_t table = 0, partition = 0;
  std::string key, value;
  bool operator==(const Shown&) const = default;
};

class ScanTablesTest : public ::testing::Test {
 protected:
  static constexpr int kPartitions = 16;

  void SetUp() override { ASSERT_OK(db_.Open()); }

  /// Some of the instance's tables, by ascending id.
  std::vector<Table*> Tables(const std::vector<std::string>& names) {
    std::vector<Table*> tables;
    for (const std::string& name : names)
      tables.push_back(
          db_.Values(name, {.kind = name.starts_with("list") ? TableKind::kList : TableKind::kMap,
                            .separation_bytes = 64}));
    std::sort(tables.begin(), tables.end(), [](Table* a, Table* b) { return a->id() < b->id(); });
    return tables;
  }

  void Change(Random* random, const std::vector<Table*>& tables, int changes) {
    for (int i = 0; i < changes; ++i) {
      Table* table = tables[random->Uniform(tables.size())];
      const std::string prefix = K(static_cast<int>(random->Uniform(kPartitions)),
                                   std::string(1, static_cast<char>('a' + random->Uniform(3))));
      const std::string key = prefix + std::to_string(random->Uniform(6));
      const KeyRef at{key, static_cast<uint32_t>(prefix.size())};
      const std::string value(random->Uniform(4) == 0 ? 100 : 8, static_cast<char>('a' + i % 26));
      const uint64_t what = random->Uniform(20);
      if (what < 10 && table->options().kind == TableKind::kList) {
        ASSERT_OK(db_->Append(table, at, ListOf({value})));
      } else if (what < 10) {
        ASSERT_OK(db_->Put(table, at, value));
      } else if (what < 16) {
        ASSERT_OK(db_->Delete(table, at));
      } else if (what < 19) {
        ASSERT_OK(db_->DeletePrefix(table, prefix));
      } else {
        ASSERT_OK(db_->DeleteRange(table, prefix, prefix + "4"));
      }
    }
  }

  std::vector<Shown> OneByOne(const std::vector<Table*>& tables, Snapshot* snapshot) {
    std::vector<Shown> shown;
    for (int partition = 0; partition < kPartitions; ++partition) {
      for (size_t t = 0; t < tables.size(); ++t) {
        const std::string lower = K(partition, ""), upper = K(partition + 1, "");
        ScanRequest request;
        request.lower = lower;
        if (partition + 1 < kPartitions) request.upper = upper;
        std::vector<Model::Entry> entries;
        EXPECT_OK(db_.ScanAll(tables[t], request, &entries, snapshot));
        for (const Model::Entry& entry : entries)
          shown.push_back({static_cast<uint32_t>(t), static_cast<uint32_t>(partition), entry.first,
                           entry.second});
      }
    }
    return shown;
  }

  std::vector<Shown> Together(const std::vector<Table*>& tables, Snapshot* snapshot,
                              TablesScanRequest request) {
    std::vector<Shown> shown;
    TablesScanPage page;
    std::string after;
    request.tables = tables;
    do {
      request.after_key = after;
      EXPECT_OK(db_->ScanTables(request, &page, snapshot));
      if (page.page.entries == 0 && !page.page.done)
        ADD_FAILURE() << "only the last page of a scan may be empty";
      std::vector<Model::Entry> entries;
      EXPECT_OK(ParsePage(page.page, &entries));
      if (page.page.entries > 1) {
        EXPECT_LE(page.page.bytes.size() + page.sections.size() * ScanSection::kBytes,
                  request.bytes_max);
      }
      size_t next = 0;
      for (const ScanSection& section : page.sections) {
        EXPECT_GT(section.entries, 0u);
        for (uint32_t i = 0; i < section.entries && next < entries.size(); ++i, ++next)
          shown.push_back(
              {section.table, section.partition, entries[next].first, entries[next].second});
      }
      EXPECT_EQ(next, entries.size());
      if (page.page.entries == 0) break;
      request.after_table = page.sections.back().table;
      after = page.page.last_key;
    } while (!page.page.done);
    return shown;
  }

  ValueDB db_{7};
};

TEST_F(ScanTablesTest, ShowsWhatAScanForEachTableAndPartitionShows) {
  const std::vector<std::string> names = {"one", "two", "three", "list four", "list five"};
  const std::vector<Table*> all = Tables(names);
  const std::vector<Table*> some = Tables({"two", "list five"});
  // other tables follow the last requested one
  const std::vector<Table*> others = Tables({"one", "three"});
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    Random random(seed);
    for (int round = 0; round < 6; ++round) {
      ASSERT_NO_FATAL_FAILURE(Change(&random, all, 120));
      auto snapshot = db_->TakeSnapshot();
      ASSERT_OK(snapshot.status());
      const std::vector<Shown> before = OneByOne(all, snapshot->get());
      ASSERT_NO_FATAL_FAILURE(Change(&random, all, 40));
      TablesScanRequest request;
      request.fill_cache = random.Uniform(2) == 0;
      request.entries_max = static_cast<uint32_t>(1 + random.Uniform(40));
      request.bytes_max = 40 + random.Uniform(2000);
      EXPECT_EQ(Together(all, snapshot->get(), request), before) << seed << ", " << round;
      EXPECT_EQ(Together(all, nullptr, request), OneByOne(all, nullptr)) << seed << ", " << round;
      EXPECT_EQ(Together(some, nullptr, request), OneByOne(some, nullptr)) << seed << ", " << round;
      EXPECT_EQ(Together(others, nullptr, request), OneByOne(others, nullptr))
          << seed << ", " << round;
      if (random.Uniform(2) == 0) ASSERT_OK(db_.Flush());
      if (random.Uniform(3) == 0) ASSERT_OK(db_.CompactAll());
    }
  }
}

// For tables that are not requested, only the first record in each partition is read.
TEST_F(ScanTablesTest, AsksForNothingOrWrongly) {
  std::vector<Table*> tables = Tables({"one", "two"});
  ASSERT_OK(db_->Put(tables[0], {K(3, "key")}, "value"));
  TablesScanPage page;
  ASSERT_OK(db_->ScanTables({}, &page));
  EXPECT_TRUE(page.page.done);
  EXPECT_EQ(page.page.entries, 0u);
  EXPECT_EQ(Together({tables[1]}, nullptr, {}), std::vector<Shown>());
  TablesScanRequest request;
  request.tables = tables;
  request.after_table = 2;
  request.after_key = "\3key";
  EXPECT_TRUE(db_->ScanTables(request, &page).IsInvalidArgument());
  request.after_key = {};
  request.entries_max = 0;
  EXPECT_TRUE(db_->ScanTables(request, &page).IsInvalidArgument());
  std::reverse(tables.begin(), tables.end());
  TablesScanRequest backwards;
  backwards.tables = tables;
  EXPECT_TRUE(db_->ScanTables(backwards, &page).IsInvalidArgument());
}

}  // namespace
}  // namespace lava::testing
