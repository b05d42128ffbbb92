// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db_test_util.h"
#include "fs/posix_test_util.h"
#include "lava/db.h"
#include "testing/random.h"
#include "testing/recording_listener.h"

namespace lava::testing {

/// An instance on a real disk with the host's threads, and its expected content.
class RealDBTest : public fs::PosixTest {
 protected:
  RealDBTest() : path_(directory_) {
    options_.lease = *Host::Get().Acquire(8 << 20, 0.5);
    options_.memtable_bytes = 256 << 10;
    options_.target_file_bytes = 128 << 10;
    options_.value_file_bytes = 512 << 10;
    options_.level1_bytes = 256 << 10;
    options_.l0_compaction_trigger = 2;
  }
  void Open() {
    db_.reset();
    heard_->Clear();
    options_.listeners = {heard_};
    auto db = DB::Open(options_, path_);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    auto table = db_->CreateTable("t", {.separation_bytes = 2000});
    ASSERT_OK(table.status());
    table_ = *table;
  }
  // Inline and separated values, with sizes around that of blocks.
  void Overwrite(int count) {
    for (int i = 0; i < count; ++i) {
      const std::string key =
          K(static_cast<int>(random_.Uniform(16)), "key" + std::to_string(random_.Uniform(30)));
      const std::string value = random_.Bytes(random_.Uniform(9000));
      UntilDone([&] { return db_->Put(table_, {key}, value); });
      model_[key] = value;
    }
  }
  void Compact() {
    uint64_t ticket = 0;
    UntilDone([&, flush = FlushTicket()]() mutable { return db_->Flush(100, &flush); });
    UntilDone([&] { return db_->CompactAll(100, &ticket); });
  }
  // Returns when no job runs, and none begins within a moment.
  void AwaitQuiet() {
    while (true) {
      const size_t seen = heard_->size();
      const bool was_idle = IsIdle();
      heard_->WaitForMoreThan(seen, std::chrono::milliseconds(was_idle ? 25 : 100));
      if (was_idle && IsIdle() && heard_->size() == seen) return;
    }
  }
  bool IsIdle() const {
    const DBStatistics s = db_->statistics();
    return s.running_flushes + s.running_compactions + s.running_collections == 0;
  }
  void Settle() {
    Compact();
    AwaitQuiet();
  }
  void ExpectModel() {
    PinnedValue value;
    for (const auto& [key, expected] : model_) {
      ASSERT_OK(db_->Get(table_, {key}, &value));
      ASSERT_TRUE(value.data() == expected);
    }
    ASSERT_TRUE(db_->Get(table_, {K(1, "none")}, &value).IsNotFound());
    ExpectScan();
  }
  void ExpectScan() {
    std::vector<testing::Model::Entry> entries;
    ScanRequest request;
    ScanPage page;
    std::string from;
    do {
      request.lower = from;
      ASSERT_OK(db_->Scan(table_, request, &page));
      ASSERT_OK(testing::ParsePage(page, &entries));
      from = page.last_key;
      request.lower_exclusive = true;
    } while (!page.done);
    ASSERT_EQ(entries.size(), model_.size());
    auto expected = model_.begin();
    for (const auto& entry : entries) {
      ASSERT_EQ(entry.first, expected->first);
      ASSERT_TRUE(entry.second == expected->second);
      ++expected;
    }
  }

  void WriteCompactCollectAndOpenAgain() {
    for (int opening = 0; opening < 2; ++opening) {
      ASSERT_NO_FATAL_FAILURE(Open());
      ASSERT_NO_FATAL_FAILURE(ExpectModel());
      for (int round = 0; round < 3; ++round) {
        ASSERT_NO_FATAL_FAILURE(Overwrite(400));
        UntilDone([&, flush = FlushTicket()]() mutable { return db_->Flush(100, &flush); });
      }
      ASSERT_NO_FATAL_FAILURE(ExpectModel());
      ASSERT_NO_FATAL_FAILURE(Compact());
      ASSERT_TRUE(heard_->WaitFor<CollectionInfo>(EventKind::kCollectionEnd));
      AwaitQuiet();
      ASSERT_NO_FATAL_FAILURE(ExpectModel());
      const DBStatistics s = db_->statistics();
      EXPECT_GT(s.compactions, 0u);
      EXPECT_GT(s.collections, 0u);
      EXPECT_GT(s.collection_input_bytes, s.collection_bytes_read);
      EXPECT_GT(s.compaction_cpu_us, 0u);
      EXPECT_GT(s.flush_cpu_us, 0u);
      EXPECT_GT(s.collection_cpu_us, 0u);
      EXPECT_EQ(s.background_errors, 0u);
    }
  }

  const std::shared_ptr<RecordingListener> heard_ = std::make_shared<RecordingListener>();
  DBOptions options_;
  std::string path_;
  std::unique_ptr<DB> db_;
  Table* table_ = nullptr;
  std::map<std::string, std::string> model_;
  Random random_{5};
};

}  // namespace lava::testing
