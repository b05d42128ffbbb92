// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/list_parts.h"
#include "db/verify_file.h"
#include "db_value_test_util.h"

// Lists whose elements are in value files, from the user's perspective.
namespace lava::testing {
namespace {

TableOptions SeparatedList(uint64_t bytes = 100) {
  return {.kind = TableKind::kList, .separation_bytes = bytes};
}

class DBListValues : public ::testing::Test {
 protected:
  DBListValues() {
    EXPECT_OK(db_.Open());
    list_ = Lists();
  }
  Table* Lists(const TableOptions& options = SeparatedList()) { return db_.Values("l", options); }
  void Append(const std::string& key, const std::string& element) {
    ASSERT_OK(db_->Append(list_, {K(1, key)}, ListOf({element})));
    model_[K(1, key)] += ListOf({element});
  }
  void Put(const std::string& key, const std::string& element) {
    ASSERT_OK(db_->Put(list_, {K(1, key)}, ListOf({element})));
    model_[K(1, key)] = ListOf({element});
  }
  void ExpectModel(Snapshot* snapshot = nullptr) {
    for (const auto& [key, value] : model_) EXPECT_EQ(db_.Get(list_, key, 0, snapshot), value);
    std::vector<Model::Entry> entries;
    EXPECT_OK(db_.ScanAll(list_, {}, &entries, snapshot));
    EXPECT_EQ(entries, (std::vector<Model::Entry>{model_.begin(), model_.end()}));
  }
  void Reopen(uint32_t collect_from = 101) {
    ASSERT_OK(db_.CollectFrom(collect_from));
    list_ = Lists();
  }
  void VerifyFiles() {
    for (const std::string& path : db_.files.Paths())
      if (path.ends_with(".ksst") || path.ends_with(".vsst")) {
        EXPECT_OK(VerifyStoredFile(&db_.files, path, {}));
      }
  }

  ValueDB db_;
  Table* list_ = nullptr;
  std::map<std::string, std::string> model_;
};

TEST_F(DBListValues, AppendsOfManyRunsAreFoldedWithoutBeingRead) {
  Append("k", "small");
  for (int run = 0; run < 4; ++run) {
    Append("k", Large("k" + std::to_string(run)));
    if (run == 1) Append("other", "inline");
    ASSERT_OK(db_.Flush());
    ExpectModel();
  }
  EXPECT_EQ(db_->statistics().value_files, 4u);
  Append("k", "in memory");
  ExpectModel();
  db_.ForbidValueReads();
  ASSERT_OK(db_.CompactAll());
  EXPECT_OK(db_->Contains(list_, {K(1, "k")}));
  ScanRequest keys;
  keys.keys_only = true;
  std::vector<Model::Entry> entries;
  EXPECT_OK(db_.ScanAll(list_, keys, &entries));
  EXPECT_EQ(entries.size(), 2u);
  EXPECT_EQ(db_.faults.fired(), 0u);
  db_.faults.Disarm();
  EXPECT_EQ(db_->statistics().files_at_level[0], 0u);
  ExpectModel();
  VerifyFiles();
  Reopen();
  ExpectModel();
}

TEST_F(DBListValues, AListOfOneReferenceIsOneRead) {
  Put("k", Large("k", 300'000));
  ASSERT_OK(db_.Flush());
  ExpectModel();
  Reopen();
  PinnedValue value;
  ASSERT_OK(db_->Get(list_, {K(1, "k")}, &value));  // warms the index
  Reopen();
  ASSERT_OK(db_->Get(list_, {K(1, "k")}, &value));
  EXPECT_EQ(std::string(value.data()), model_[K(1, "k")]);
}

TEST_F(DBListValues, PutsAndDeletesLeaveGarbageThatIsCollected) {
  for (int i = 0; i < 10; ++i) {
    Append("a" + std::to_string(i), Large("first"));
    Append("b" + std::to_string(i), Large("b"));
  }
  ASSERT_OK(db_.Flush());
  for (int i = 0; i < 10; ++i) Append("b" + std::to_string(i), Large("again"));
  ASSERT_OK(db_.Flush());
  for (int i = 0; i < 5; ++i) {
    Put("a" + std::to_string(i), "replaced");
    ASSERT_OK(db_->Delete(list_, {K(1, "b" + std::to_string(i))}));
    model_.erase(K(1, "b" + std::to_string(i)));
  }
  const auto snapshot = *db_->TakeSnapshot();
  const auto then = model_;
  ASSERT_OK(db_.CompactAll());
  EXPECT_GT(db_->statistics().garbage_bytes_min, 15 * 1000u);
  ExpectModel();
  Reopen(25);
  db_.executor().RunUntilIdle();
  EXPECT_GT(db_->statistics().collections, 0u);
  EXPECT_EQ(db_->statistics().garbage_bytes_min, 0u);
  ExpectModel();
  Append("b7", Large("once more"));
  ASSERT_OK(db_.Flush());
  ASSERT_OK(db_.Settle());
  ExpectModel();
  VerifyFiles();
}

TEST_F(DBListValues, MergesPutListsTogetherAgain) {
  db_.options().value_policy = ValuePolicy::kMerge;
  Reopen();
  for (int run = 0; run < 4; ++run) {
    for (int i = 0; i < 10; ++i) {
      Append("k" + std::to_string(i), "small");
      Append("k" + std::to_string(i), Large(std::to_string(run)));
    }
    ASSERT_OK(db_.Flush());
  }
  EXPECT_EQ(db_->statistics().value_files, 4u);
  ASSERT_OK(db_.CompactAll());
  EXPECT_EQ(db_->statistics().value_files, 1u);
  EXPECT_GT(db_->statistics().merged_value_bytes, 40'000u);
  ExpectModel();
  VerifyFiles();
  // An element merged into an inline list does not stay separated.
  ASSERT_OK(db_->SetTableOptions(list_, SeparatedList(1 << 20)));
  Append("k3", Large("another"));
  ASSERT_OK(db_.CompactAll());
  ExpectModel();
}

TEST_F(DBListValues, AListOfManyPartsIsPutTogetherByAndBy) {
  for (int run = 0; run < 100; ++run) {
    Append("k", Large(std::to_string(run)));
    Append("other" + std::to_string(run), Large("other"));
    ASSERT_OK(db_.Flush());
    ASSERT_OK(db_.CompactAll());
  }
  ExpectModel();
  VerifyFiles();
  // Each time the list had more than 16 parts, of 1000 bytes or combined from earlier parts.
  const DBStatistics now = db_->statistics();
  EXPECT_GT(now.merged_value_bytes, 100'000u);
  EXPECT_LT(now.merged_value_bytes, 500'000u)
      << "the 100,000 bytes of elements must be rewritten fewer than five times";
  Reopen();
  EXPECT_EQ(db_.Get(list_, K(1, "k")), model_[K(1, "k")]);
  EXPECT_LE(db_->statistics().value_reads, 17u);
  EXPECT_GT(db_->statistics().value_reads, 0u);
  EXPECT_EQ(db_->statistics().merged_value_bytes, 0u);
  ASSERT_OK(db_.CompactAll());
  EXPECT_EQ(db_->statistics().merged_value_bytes, 0u)
      << "a list of few parts must not be rewritten";
}

TEST_F(DBListValues, ALargePartIsNotPutTogether) {
  constexpr uint64_t kLarge = 5 << 20;
  Append("k", Large("large", kLarge));
  ASSERT_OK(db_.Flush());
  for (int run = 0; run < 20; ++run) {
    Append("k", Large(std::to_string(run)));
    ASSERT_OK(db_.Flush());
  }
  ASSERT_OK(db_.CompactAll());
  EXPECT_GT(db_->statistics().merged_value_bytes, 8'000u);
  EXPECT_LT(db_->statistics().merged_value_bytes, 21'000u);
  ExpectModel();
}

// The list is folded from elements that two jobs moved out, and inline ones.
TEST_F(DBListValues, OnlyTheLargestPartOfOneKeyIsMovedAtOnce) {
  Append("k", Large("separated"));
  ASSERT_OK(db_.Flush());
  ASSERT_OK(db_->SetTableOptions(list_, SeparatedList(1 << 20)));
  Append("k", Large("inline", 600));
  ASSERT_OK(db_.Flush());
  ASSERT_OK(db_->SetTableOptions(list_, SeparatedList()));
  Append("k", Large("separated too"));
  ASSERT_OK(db_.Flush());
  EXPECT_EQ(db_->statistics().value_files, 2u);
  ASSERT_OK(db_.CompactAll());
  EXPECT_EQ(db_->statistics().value_files, 3u) << "the inline part must move to a third value file";
  ExpectModel();
  VerifyFiles();
}

TEST_F(DBListValues, ElementsThatExpireStayInline) {
  TableOptions expiring = SeparatedList();
  expiring.ttl_layout = TtlLayout::kList;
  expiring.ttl_ms = 1000;
  Table* const table = db_.Values("ttl", expiring);
  ASSERT_OK(db_->Append(table, {K(1, "k")}, ListOf({Large("12345678")})));
  ASSERT_OK(db_.Flush());
  EXPECT_EQ(db_->statistics().value_files, 0u);
}

TEST_F(DBListValues, OnlyWholeElementsAreWritten) {
  std::string reference;
  AppendListReference({FileId{{1, 2}, 3}, 100, std::nullopt}, &reference);
  for (const std::string& bad : {reference, std::string("x"), ListOf({"abc"}).substr(0, 2)}) {
    EXPECT_TRUE(db_->Put(list_, {K(1, "k")}, bad).IsInvalidArgument());
    EXPECT_TRUE(db_->Append(list_, {K(1, "k")}, bad).IsInvalidArgument());
    WriteBatch batch;
    batch.Append(list_, {K(1, "k")}, bad);
    const Status status = db_->Write(batch);
    EXPECT_TRUE(status.IsInvalidArgument());
    EXPECT_NE(status.ToString().find("list 'l'"), std::string::npos) << status.ToString();
  }
  EXPECT_EQ(db_.Get(list_, K(1, "k")), "NotFound");
}

TEST_F(DBListValues, AListThatGrewTooLongIsToldAndItsValuesGo) {
  db_.environment().list_bytes_max = 3000;
  Reopen();
  for (int run = 0; run < 4; ++run) {
    Append("k", Large(std::to_string(run)));
    ASSERT_OK(db_.Flush());
  }
  EXPECT_EQ(db_->statistics().value_files, 4u);
  ASSERT_OK(db_.CompactAll());
  EXPECT_EQ(db_->statistics().value_files, 0u);
  std::string joined;
  const Status status = JoinList(db_.Get(list_, K(1, "k")), &joined);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
}

// Each half of the keys goes to a separate instance, and both are merged again.
TEST_F(DBListValues, FilesOfListsAreClippedAndUnited) {
  for (int run = 0; run < 3; ++run) {
    for (uint8_t partition = 0; partition < 16; ++partition) {
      const std::string element = Large(std::to_string(run) + "/" + std::to_string(partition));
      ASSERT_OK(db_->Append(list_, {K(partition, "k")}, ListOf({element})));
      model_[K(partition, "k")] += ListOf({element});
    }
    ASSERT_OK(db_.Flush());
    if (run == 1) ASSERT_OK(db_.CompactAll());
  }
  const std::string whole = db_.TakeTo("/half0");
  ASSERT_EQ(db_.TakeTo("/half1"), whole);
  std::vector<ImportSource> sources;
  for (const uint32_t first : {0u, 8u}) {
    const std::string path = first == 0 ? "/half0" : "/half1";
    const ImportSource source{whole, first, first + 7};
    ASSERT_OK(db_.Open({&source, 1}, path));
    list_ = Lists();
    for (uint32_t partition = first; partition < first + 8; ++partition) {
      const std::string key = K(static_cast<uint8_t>(partition), "k");
      EXPECT_EQ(db_.Get(list_, key), model_[key]);
    }
    sources.push_back({db_.TakeTo("/united", path), first, first + 7});
  }
  ASSERT_OK(db_.Open(sources, "/united"));
  list_ = Lists();
  ExpectModel();
  ASSERT_OK(db_.Settle());
  ExpectModel();
}

TEST_F(DBListValues, ALostPartIsNamedAndOtherKeysAreRead) {
  Append("a", Large("a"));
  Append("b", Large("b"));
  ASSERT_OK(db_.Flush());
  const std::vector<std::string> names = db_.ValueFileNames();
  ASSERT_EQ(names.size(), 1u);
  const RecordLocation location = LocationOf(&db_.files, names[0], "a");
  std::string content = *db_.files.Content(location.path);
  content[location.offset + location.bytes / 2] ^= 4;
  ASSERT_OK(db_.files.SetContent(location.path, content));
  const std::string found = db_.Get(list_, K(1, "a"));
  EXPECT_TRUE(found.starts_with("Corruption")) << found;
  EXPECT_NE(found.find(names[0]), std::string::npos) << found;
  EXPECT_EQ(db_.Get(list_, K(1, "b")), model_[K(1, "b")]);
}

}  // namespace
}  // namespace lava::testing
