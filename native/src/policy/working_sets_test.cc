// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/working_sets.h"

#include <gtest/gtest.h>

namespace lava {
namespace {

JobShape Usual() {
  JobShape shape;
  shape.file_buffer_bytes = 256 << 10;
  shape.kept_index_bytes_max = 4 << 20;
  shape.inputs = 4;
  shape.records = 100'000;
  shape.key_bytes = 4'000'000;
  shape.value_bytes = 40'000'000;
  return shape;
}

TEST(WorkingSets, AUsualFlushFitsIntoWhatIsKeptBackForIt) {
  JobShape shape = Usual();
  shape.key_file_bytes = UINT64_MAX;
  shape.index_bytes = shape.records / 100;
  EXPECT_LT(FlushWorkingSet(shape), kFlushJobBytes);
}

TEST(WorkingSets, GrowWithWhatStandsInMemory) {
  const JobShape usual = Usual();
  const auto grows = [&usual](auto change) {
    JobShape more = usual;
    change(&more);
    return CompactionWorkingSet(more) > CompactionWorkingSet(usual);
  };
  EXPECT_TRUE(grows([](JobShape* s) { s->inputs = 5; }));
  EXPECT_TRUE(grows([](JobShape* s) { s->zstd = true; }));
  EXPECT_TRUE(grows([](JobShape* s) { s->index_bytes = 1 << 20; }));
  EXPECT_TRUE(grows([](JobShape* s) { s->separates = true; }));
  EXPECT_TRUE(grows([](JobShape* s) { s->together_bytes = 1 << 20; }));
  EXPECT_TRUE(grows([](JobShape* s) { s->merged_ahead_bytes = 1 << 20; }));
  EXPECT_TRUE(grows([](JobShape* s) { s->records /= 1000; }))
      << "fewer and larger records need more memory";
}

TEST(WorkingSets, OfACollectionHaveTheIndexThatItWrites) {
  JobShape shape = Usual();
  shape.separates = true;
  shape.separated_bytes = shape.value_file_bytes;
  shape.separated_records = 1000;
  const uint64_t few = CollectionWorkingSet(shape);
  shape.separated_records = 400'000;
  // The index has each key and the location of its value until the file ends.
  EXPECT_GT(CollectionWorkingSet(shape) - few, 400'000u * 40);
}

TEST(WorkingSets, DoNotGrowWithWhatIsWrittenFileByFile) {
  JobShape shape = Usual();
  shape.separates = true;
  shape.separated_records = 1'000'000;
  shape.separated_bytes = 1ull << 30;
  const uint64_t one = CollectionWorkingSet(shape);
  shape.separated_records *= 100;
  shape.separated_bytes *= 100;
  EXPECT_EQ(CollectionWorkingSet(shape), one);
  shape.records *= 100;
  shape.key_bytes *= 100;
  shape.value_bytes *= 100;
  EXPECT_EQ(CollectionWorkingSet(shape), one);
}

TEST(WorkingSets, OfNothingIsSmall) {
  EXPECT_LT(FlushWorkingSet({}), 256u << 10);
  EXPECT_LT(CompactionWorkingSet({}), 512u << 10);
}

}  // namespace
}  // namespace lava
