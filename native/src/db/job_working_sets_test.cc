// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/job_working_sets.h"

#include <gtest/gtest.h>

#include "db/jobs_for_test.h"
#include "manifest/blob_files_for_test.h"

namespace lava {
namespace {

class JobWorkingSetsTest : public JobsForTest {
 protected:
  template <typename Input>
  uint64_t BytesOf(const Input& input) {
    const InstanceContext instance(options_, "/db", environment_);
    return WorkingSetOf(instance, input);
  }
  static KeyFileEntry KeyFile(uint64_t number) {
    const KeyFileEntry entry = WholeOf(KeyFileOf(number, {}));
    entry.file->bytes = 1 << 20;
    entry.file->raw_bytes = 4 << 20;
    entry.file->records = 10'000;
    return entry;
  }
  static CompactionInput Compaction(uint32_t level, uint64_t files) {
    CompactionInput input;
    CompactionInput::Level& from = input.inputs.emplace_back();
    from.level = level;
    for (uint64_t number = 1; number <= files; ++number) from.entries.push_back(KeyFile(number));
    return input;
  }
};

TEST_F(JobWorkingSetsTest, AFlushTakesMoreForMoreRecords) {
  MemoryCounter* const counter = Open()->instance.budget.counter(MemoryPurpose::kMemtables);
  FlushInput input;
  const std::shared_ptr<MemTable> memtable = MemTable::Create(counter);
  input.runs.push_back(memtable);
  const auto put = [&](int from) {
    for (int i = from; i < from + 10'000; ++i)
      memtable->Put(TableStart('p', 1, 7) + std::to_string(i), 0, "value");
  };
  put(0);
  const uint64_t some = BytesOf(input);
  EXPECT_GT(some, 0u);
  put(10'000);
  EXPECT_GT(BytesOf(input), some);
}

TEST_F(JobWorkingSetsTest, ACompactionReadsAllFilesOfLevel0AtOnceAndOneFileOfADeeperLevel) {
  EXPECT_GT(BytesOf(Compaction(0, 20)), BytesOf(Compaction(1, 20)));
  EXPECT_EQ(BytesOf(Compaction(0, 1)), BytesOf(Compaction(1, 1)));
}

TEST_F(JobWorkingSetsTest, ZstdAndMergedValuesTakeMemory) {
  CompactionInput input = Compaction(1, 1);
  const uint64_t plain = BytesOf(input);
  const auto values = NewValueFile(10, 100, 1 << 20);
  input.merged_values.insert(values.get());
  EXPECT_GT(BytesOf(input), plain);
  input.merged_values.clear();
  options_.compression = Compression::kZstd;
  EXPECT_GT(BytesOf(input), plain);
}

TEST_F(JobWorkingSetsTest, ACollectionThatOnlyDropsFilesTakesNothing) {
  CollectionInput input;
  input.expired.push_back(NewValueFile(10, 100, 1 << 20));
  EXPECT_EQ(BytesOf(input), 0u);
  input.files.push_back(NewValueFile(11, 100, 1 << 20));
  const uint64_t one = BytesOf(input);
  EXPECT_GT(one, 0u);
  input.files.push_back(NewValueFile(12, 100'000, 1 << 26));
  EXPECT_GT(BytesOf(input), one);
}

}  // namespace
}  // namespace lava
