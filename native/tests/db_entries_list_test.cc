// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "db/verify_file.h"
#include "db_test_util.h"

// One log for two layers: elements that are appended to lists, one at a time, are stored only in
// the entries that log them.
namespace lava::testing {
namespace {

class DBEntriesOfLists : public ::testing::TestWithParam<WalMode> {
 protected:
  DBEntriesOfLists() : db_(1, &files_) {
    db_.options().wal = GetParam();
    db_.options().large_value_bytes = 0;
    db_.options().collection_garbage_percent = 1;
    Open();
  }
  void Open() {
    ASSERT_OK(db_.Open());
    EntryLocation location;
    EXPECT_TRUE(db_->BindExternal("nothing", &location).IsNotFound());
  }
  Table* List(const TableOptions& options = {.kind = TableKind::kList, .separation_bytes = 100}) {
    return *db_->CreateTable("list", options);
  }
  static std::string Element(int i, size_t bytes = 5000) {
    Random random(static_cast<uint64_t>(i) + 1);
    return std::to_string(i) + ":" + random.Bytes(bytes);
  }
  static std::string EntryOf(const std::string& key, const std::string& element) {
    return "add to " + key + " " + element;
  }
  Status Append(const std::string& key, const std::string& segments) {
    return db_.Finish([&] { return db_->Append(List(), {K(1, key)}, segments); });
  }
  /// Like the layer above: first appends, then logs.
  void Add(const std::string& key, const std::string& element) {
    ASSERT_OK(Append(key, ListOf({element})));
    const std::string entry = EntryOf(key, element);
    ASSERT_OK(db_->BindExternal(entry, &locations_.emplace_back()));
    entries_.push_back(entry);
    lists_[key] += ListOf({element});
  }
  /// An element that is appended, and logged elsewhere.
  void AddInline(const std::string& key, const std::string& element) {
    ASSERT_OK(Append(key, ListOf({element})));
    lists_[key] += ListOf({element});
  }
  void Put(const std::string& key, const std::string& list) {
    ASSERT_OK(db_.Finish([&] { return db_->Put(List(), {K(1, key)}, list); }));
    lists_[key] = list;
  }
  bool IsBound(const std::string& entry) {
    EntryLocation location;
    const Status status = db_->BindExternal(entry, &location);
    EXPECT_TRUE(status.ok() || status.IsNotFound()) << status.ToString();
    return status.ok();
  }
  void Check(const std::string& when) {
    for (const auto& [key, list] : lists_)
      ASSERT_TRUE(db_.Get(List(), K(1, key)) == list) << key << ' ' << when;
    std::vector<Model::Entry> found;
    ASSERT_OK(db_.ScanAll(List(), {}, &found));
    ASSERT_EQ(found.size(), lists_.size()) << when;
    auto list = lists_.begin();
    for (const Model::Entry& entry : found) ASSERT_TRUE(entry.second == (list++)->second) << when;
    EXPECT_OK(db_->Contains(List(), {K(1, lists_.begin()->first)}));
    EXPECT_TRUE(db_->Contains(List(), {K(1, "none")}).IsNotFound());
  }
  void ReadAllEntries() {
    for (size_t i = 0; i < entries_.size(); ++i) {
      std::string entry;
      ASSERT_OK(db_->ReadEntry(locations_[i], &entry));
      ASSERT_TRUE(entry == entries_[i]) << i;
    }
  }
  std::vector<std::string> ValueFiles() {
    std::vector<std::string> names = *files_.List("/db");
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".vsst"); });
    return names;
  }
  uint64_t ValueFileBytes() {
    uint64_t bytes = 0;
    for (const std::string& name : ValueFiles()) bytes += files_.Content("/db/" + name)->size();
    return bytes;
  }

  ChosenFileSystem files_;
  SimDB db_;
  std::map<std::string, std::string> lists_;
  std::vector<EntryLocation> locations_;
  std::vector<std::string> entries_;
};

TEST_P(DBEntriesOfLists, AnElementIsStoredInItsEntryAlone) {
  uint64_t bytes = 0;
  for (int i = 0; i < 30; ++i) {
    const std::string key = i % 3 == 0 ? "rare" : "often";
    Add(key, Element(i));
    bytes += entries_.back().size();
    if (i % 4 == 0) AddInline(key, "small " + std::to_string(i));
  }
  Check("in memory");
  ReadAllEntries();
  EXPECT_EQ(db_->statistics().external_values, 30u);
  EXPECT_LT(db_->statistics().memtable_active_bytes, 64u << 10)
      << "the memtable must hold references instead of elements";
  const uint64_t segment = locations_.back().segment;
  ASSERT_OK(db_->RollEntries());
  ASSERT_OK(db_->FinishEntries(segment));
  const std::string path = "/db/" + db_->ChangelogSegmentName(segment);
  const std::string whole = *files_.Content(path);
  EXPECT_OK(VerifyStoredFile(&files_, path, {}));
  Check("ended");

  ASSERT_OK(db_.Flush());
  Check("flushed");
  ReadAllEntries();
  EXPECT_EQ(ValueFiles(), std::vector<std::string>{db_->ChangelogSegmentName(segment)});
  EXPECT_EQ(*files_.Content(path), whole)
      << "the flush must not change the segment after it was finished";
  EXPECT_LT(whole.size() * 100, bytes * 103);
  EXPECT_EQ(db_->statistics().garbage_bytes_max, 0u);
  std::vector<std::string> entries;
  const uint64_t end = locations_.back().offset + locations_.back().bytes;
  ASSERT_OK(
      DecodeEntries(db_->ChangelogSegmentName(segment), 0, Slice(whole).substr(0, end), &entries));
  EXPECT_EQ(entries, entries_) << "the copied segment must contain all entries";

  ASSERT_OK(db_->ReleaseEntries(locations_.back().sequence));
  Open();
  Check("opened again");
  for (int i = 100; i < 110; ++i) Add("often", Element(i));
  Check("more of them");
  ASSERT_OK(db_.Flush());
  ASSERT_OK(db_.CompactAll());
  Check("compacted");
}

TEST_P(DBEntriesOfLists, OnlyOneLargeElementThatWasTheLastWriteIsBound) {
  const std::string element = Element(1), entry = EntryOf("a", element);
  const auto append = [&](const std::string& segments) {
    ASSERT_OK(Append("a", segments));
    lists_["a"] += segments;
  };
  append(ListOf({element, Element(2)}));
  EXPECT_FALSE(IsBound(EntryOf("a", element + ',' + Element(2))))
      << "two elements were appended at once";
  EXPECT_FALSE(IsBound(EntryOf("a", ListOf({element, Element(2)}))));
  append(ListOf({Element(3, 50)}));
  EXPECT_FALSE(IsBound(EntryOf("a", Element(3, 50)))) << "the element is too small";
  append(ListOf({element}));
  EXPECT_FALSE(IsBound(EntryOf("a", Element(2)))) << "the entry ends with another element";
  EXPECT_FALSE(IsBound(entry)) << "only the first attempt after an append may bind";
  append(ListOf({element}));
  EXPECT_FALSE(IsBound(EntryOf("a", element.substr(1)))) << "the entry lacks a byte of the element";
  append(ListOf({element}));
  append(ListOf({"small"}));
  EXPECT_FALSE(IsBound(entry)) << "another element was appended last";
  append(ListOf({element}));
  ASSERT_OK(db_.Flush());
  EXPECT_FALSE(IsBound(entry)) << "the element was flushed in the meantime";
  Put("a", ListOf({element}));
  EXPECT_FALSE(IsBound(entry)) << "the last write was a put of the whole list";
  // Ends with the same bytes as the element that would be bound.
  append(ListOf({element}));
  WriteBatch batch;
  const std::string around = ListOf({"around " + ListOf({element})});
  batch.Append(List(), {K(1, "a")}, around);
  ASSERT_OK(db_.Finish([&] { return db_->Write(batch); }));
  lists_["a"] += around;
  EXPECT_FALSE(IsBound(entry)) << "a batch was written after the element";
  append(ListOf({element}));
  ASSERT_OK(db_.Finish([&] { return db_->Delete(List(), {K(1, "a")}); }));
  lists_["a"].clear();
  EXPECT_FALSE(IsBound(entry)) << "the list was deleted in the meantime";
  append(ListOf({element}));
  EXPECT_TRUE(IsBound(entry));
  EXPECT_EQ(db_->statistics().external_values, 1u);
  Check("in memory");
  ASSERT_OK(db_.Flush());
  Check("flushed");
}

TEST_P(DBEntriesOfLists, ElementsThatMayExpireAreNotBound) {
  Table* const list = List({.kind = TableKind::kList,
                            .ttl_layout = TtlLayout::kList,
                            .ttl_ms = 1000,
                            .separation_bytes = 100});
  const std::string element = std::string(8, '\0') + Element(1);
  ASSERT_OK(db_.Finish([&] { return db_->Append(list, {K(1, "a")}, ListOf({element})); }));
  EXPECT_FALSE(IsBound(EntryOf("a", element)));
}

// Each element has its own blob file, and versions keep blob files in memory.
TEST_P(DBEntriesOfLists, ASegmentTakesSoManyElementsOfAList) {
  int i = 0;
  for (const int segments : {1, 2}) {
    for (; i < segments * 100; ++i) {
      if (i % 100 < static_cast<int>(DB::kAppendedMax)) {
        Add("often", Element(i, 200));
      } else {
        AddInline("often", Element(i, 200));
        EXPECT_FALSE(IsBound(EntryOf("often", Element(i, 200)))) << i;
      }
    }
    Add("another", Element(i, 200));
    ASSERT_OK(db_->RollEntries());
  }
  EXPECT_NE(locations_.front().segment, locations_.back().segment);
  Check("in memory");
  ASSERT_OK(db_.Flush());
  Check("flushed");
  ReadAllEntries();
  ASSERT_OK(db_->ReleaseEntries(locations_.back().sequence));
  ASSERT_OK(db_.CompactAll());
  Check("compacted");
}

// All records with the prefix are in the active memtable, which is then read by itself.
TEST_P(DBEntriesOfLists, ListsUnderAPrefixAreScanned) {
  Table* const map = *db_->CreateTable("map", {.kind = TableKind::kList, .separation_bytes = 100});
  std::map<std::string, std::string> expected;
  for (int i = 0; i < 12; ++i) {
    const std::string key = K(1, "p/" + std::to_string(i % 4)), element = Element(i);
    ASSERT_OK(db_.Finish([&] { return db_->Append(map, {key, 3}, ListOf({element})); }));
    EXPECT_TRUE(IsBound(EntryOf("p", element)));
    expected[key] += ListOf({element});
  }
  const std::string prefix = K(1, "p/");
  for (const bool flushed : {false, true}) {
    if (flushed) ASSERT_OK(db_.Flush());
    ScanRequest request;
    request.lower = prefix;
    request.prefix_bytes = 3;
    std::vector<Model::Entry> found;
    ASSERT_OK(db_.ScanAll(map, request, &found));
    EXPECT_EQ(std::vector<Model::Entry>(expected.begin(), expected.end()), found);
    request.keys_only = true;
    found.clear();
    ASSERT_OK(db_.ScanAll(map, request, &found));
    EXPECT_EQ(found.size(), expected.size());
    EXPECT_OK(db_->ContainsPrefix(map, prefix));
  }
}

TEST_P(DBEntriesOfLists, WhatMostlyDiedIsWrittenAnew) {
  for (int i = 0; i < 40; ++i) Add(i % 10 == 0 ? "lives" : "dies", Element(i));
  Put("dies", ListOf({"nothing"}));
  ASSERT_OK(db_->ReleaseEntries(locations_.back().sequence));
  ASSERT_OK(db_.Flush());
  db_.executor().RunUntilIdle();
  Check("flushed");
  ASSERT_EQ(ValueFiles().size(), 1u);
  EXPECT_NE(ValueFiles()[0], db_->ChangelogSegmentName(locations_.back().segment));
  EXPECT_LT(ValueFileBytes(), 5 * 5100u);
}

TEST_P(DBEntriesOfLists, PartsOfOneListLieInSeveralRuns) {
  AddInline("a", Element(1));
  ASSERT_OK(db_.Flush());
  Add("a", Element(2));
  AddInline("a", "small");
  Add("a", Element(3));
  auto before = db_->TakeSnapshot();
  ASSERT_OK(before.status());
  const std::string then = lists_["a"];
  Add("a", Element(4));
  Check("in two memtables and a file");
  Put("b", ListOf({"put"}));
  Add("b", Element(5));
  Check("behind what was put");
  EXPECT_TRUE(db_.Get(List(), K(1, "a"), 0, before->get()) == then);
  ASSERT_OK(db_->ReleaseEntries(UINT64_MAX));
  ASSERT_OK(db_.Flush());
  EXPECT_TRUE(db_.Get(List(), K(1, "a"), 0, before->get()) == then);
  Check("flushed");
  ASSERT_OK(db_.Finish([&] { return db_->Delete(List(), {K(1, "a")}); }));
  lists_["a"].clear();
  Add("a", Element(6));
  Check("deleted, and begun anew");
  ASSERT_OK(db_.Flush());
  ASSERT_OK(db_.CompactAll());
  db_.executor().RunUntilIdle();
  Check("compacted");
  EXPECT_TRUE(db_.Get(List(), K(1, "a"), 0, before->get()) == then);
  std::vector<Snapshot::File> files;
  std::string metadata;
  ASSERT_OK((*before)->Files(&files, &metadata));
  before->reset();
  db_.executor().RunUntilIdle();
  Check("released");
}

TEST_P(DBEntriesOfLists, TheCollectorMovesWhatLives) {
  for (int i = 0; i < 60; ++i) Add("k" + std::to_string(i % 6), Element(i));
  ASSERT_OK(db_.Flush());
  ASSERT_OK(db_->ReleaseEntries(locations_.back().sequence));
  const std::string first = db_->ChangelogSegmentName(locations_.front().segment);
  for (int k = 0; k < 3; ++k) Put("k" + std::to_string(k), ListOf({"new"}));
  ASSERT_OK(db_.Flush());
  ASSERT_OK(db_.CompactAll());
  db_.executor().RunUntilIdle();
  Check("collected");
  const std::vector<std::string> files = ValueFiles();
  EXPECT_EQ(std::count(files.begin(), files.end(), first), 0);
  EXPECT_LT(ValueFileBytes(), 32 * 5100u);
  Open();
  Check("opened again");
}

TEST_P(DBEntriesOfLists, AFlushedListAndACrashLoseNothing) {
  for (int i = 0; i < 6; ++i) Add("k" + std::to_string(i % 2), Element(i));
  ASSERT_OK(db_.Flush());
  const auto flushed = lists_;
  for (int i = 6; i < 12; ++i) Add("k" + std::to_string(i % 3), Element(i));
  const bool logged = GetParam() != WalMode::kNone;
  if (!logged) lists_ = flushed;
  const auto image =
      files_.CrashClone(GetParam() == WalMode::kWalSync ? CrashMode::kSyncedOnly : CrashMode::kAll);
  SimDB again(1, image.get());
  again.options().wal = GetParam();
  ASSERT_OK(again.Open());
  Table* const list = *again->CreateTable("list", {.kind = TableKind::kList});
  for (const auto& [key, value] : lists_) EXPECT_TRUE(again.Get(list, K(1, key)) == value) << key;
  EXPECT_EQ(again.Get(list, K(1, "k2")) == "NotFound", !logged);
}

INSTANTIATE_TEST_SUITE_P(Modes, DBEntriesOfLists,
                         ::testing::Values(WalMode::kNone, WalMode::kWal, WalMode::kWalSync),
                         [](const auto& mode) {
                           return std::string(mode.param == WalMode::kNone  ? "none"
                                              : mode.param == WalMode::kWal ? "wal"
                                                                            : "wal_sync");
                         });

}  // namespace
}  // namespace lava::testing
