// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "read/value_fetch.h"

#include <gtest/gtest.h>

#include <optional>

#include "compaction/tree_for_test.h"
#include "testing/fault_file_system.h"
#include "testing/random.h"

namespace lava {
namespace {

using testing::FaultFileSystem;
using testing::FileCall;

std::string NumberedKey(int i) { return TreeForTest::Key(1, 7, std::to_string(10'000 + i)); }

/// A tree whose table 7 separates values of 100 bytes and more, uncompressed.
class FetchTree : public TreeForTest {
 public:
  FetchTree() : faults_(&file_system()) {
    tables[7] = {.kind = TableKind::kMap, .separation_bytes = 100};
    context().file_system = &faults_;
    context().value_writer.compression = Compression::kNone;
    context().value_read_counters = &counters_;
  }
  FaultFileSystem& faults() { return faults_; }
  const ValueReader::ReadCounters& counters() const { return counters_; }

  /// The reference in the newest record of a key.
  ValueReference ReferenceOf(int i) const {
    const std::string key = NumberedKey(i);
    Lookup lookup(key, 0);
    EXPECT_TRUE(LookUpInFiles(*version(), &lookup).ok());
    EXPECT_NE(lookup.reference(), nullptr) << i;
    return lookup.reference() == nullptr ? ValueReference() : *lookup.reference();
  }
  /// Fetches the values of keys into one buffer and splits the buffer.
  Result<std::vector<std::string>> Fetch(const std::vector<int>& keys,
                                         std::optional<double> pages_left = {}) {
    ValueFetch fetch(*version());
    if (pages_left) fetch.GoesOn(*pages_left);
    std::string to;
    std::vector<uint64_t> ends;
    for (const int i : keys) {
      const ValueReference reference = ReferenceOf(i);
      LAVA_RETURN_IF_ERROR(fetch.CheckSize(reference));
      fetch.Add(NumberedKey(i), reference, to.size());
      to.resize(to.size() + reference.raw_bytes, '?');
      ends.push_back(to.size());
    }
    LAVA_RETURN_IF_ERROR(fetch.Run(to.data()));
    EXPECT_TRUE(fetch.empty());
    std::vector<std::string> values;
    for (size_t n = 0; n < ends.size(); ++n)
      values.push_back(to.substr(n == 0 ? 0 : ends[n - 1], ends[n] - (n == 0 ? 0 : ends[n - 1])));
    return values;
  }

 private:
  FaultFileSystem faults_;
  ValueReader::ReadCounters counters_;
};

std::string Value(int i, size_t bytes) {
  return std::string(bytes, static_cast<char>('a' + i % 26));
}

TEST(ValueFetch, NeighboursOfAFileComeInOneRead) {
  FetchTree tree;
  for (int i = 0; i < 100; ++i) tree.Put(NumberedKey(i), Value(i, 1000));
  tree.SealAndFlush();
  std::vector<int> keys;
  for (int i = 20; i < 60; ++i) keys.push_back(i);
  const auto values = tree.Fetch(keys);
  ASSERT_TRUE(values.ok()) << values.status().ToString();
  for (size_t n = 0; n < keys.size(); ++n) EXPECT_EQ((*values)[n], Value(keys[n], 1000));
  EXPECT_EQ(tree.counters().value_reads, 1u);
  EXPECT_LT(tree.counters().value_bytes_read, 40u * 1100);
}

TEST(ValueFetch, ValuesOfManyFilesComeInOrderOfTheirKeys) {
  FetchTree tree;
  testing::Random random(5);
  std::map<int, std::string> model;
  for (int round = 0; round < 6; ++round) {
    for (int n = 0; n < 60; ++n) {
      const int i = static_cast<int>(random.Uniform(150));
      model[i] = Value(static_cast<int>(random.Uniform(26)), 100 + random.Uniform(30'000));
      tree.Put(NumberedKey(i), model[i]);
    }
    tree.SealAndFlush();
  }
  std::vector<int> keys;
  for (const auto& [i, value] : model) keys.push_back(i);
  for (int again = 0; again < 2; ++again) {
    const auto values = tree.Fetch(keys);
    ASSERT_TRUE(values.ok()) << values.status().ToString();
    for (size_t n = 0; n < keys.size(); ++n) ASSERT_EQ((*values)[n], model[keys[n]]) << keys[n];
  }
  EXPECT_EQ(tree.counters().value_cache_hits, 0u) << "long scans must not use the cache";
}

TEST(ValueFetch, AFewValuesLiveByTheCache) {
  FetchTree tree;
  for (int i = 0; i < 100; ++i) tree.Put(NumberedKey(i), Value(i, 500));
  tree.SealAndFlush();
  for (int again = 0; again < 3; ++again) {
    const auto values = tree.Fetch({3, 4, 70});
    ASSERT_TRUE(values.ok());
    EXPECT_EQ(*values, (std::vector<std::string>{Value(3, 500), Value(4, 500), Value(70, 500)}));
  }
  EXPECT_EQ(tree.counters().value_reads, 2u)
      << "values 3 and 4 need one read together, value 70 another one, and repeats none";
  EXPECT_EQ(tree.counters().value_cache_hits, 6u);
}

TEST(ValueFetch, WhatNoFileHasIsCorruption) {
  FetchTree tree;
  tree.Put(NumberedKey(1), Value(1, 200));
  tree.SealAndFlush();
  ValueReference reference = tree.ReferenceOf(1);
  std::string to(1000, '?');
  {
    ValueFetch fetch(*tree.version());
    fetch.Add(NumberedKey(2), reference, 0);
    EXPECT_TRUE(fetch.Run(to.data()).IsCorruption()) << "the key is another one";
  }
  {
    ValueFetch fetch(*tree.version());
    ValueReference other = reference;
    ++other.blob_file.number;
    fetch.Add(NumberedKey(1), other, 0);
    EXPECT_TRUE(fetch.Run(to.data()).IsCorruption()) << "the blob file is another one";
  }
  ValueFetch fetch(*tree.version());
  --reference.raw_bytes;
  fetch.Add(NumberedKey(1), reference, 0);
  const Status status = fetch.Run(to.data());
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_NE(status.ToString().find("its reference says 199"), std::string::npos)
      << status.ToString();
}

// Memory for a value is allocated before the value is read.
TEST(ValueFetch, AReferenceToMoreThanThereIsIsCorruptionBeforeMemoryIsReserved) {
  FetchTree tree;
  tree.Put(NumberedKey(1), Value(1, 200));
  tree.SealAndFlush();
  ValueReference reference = tree.ReferenceOf(1);
  const ValueFetch fetch(*tree.version());
  EXPECT_TRUE(fetch.CheckSize(reference).ok());
  reference.raw_bytes = uint64_t{1} << 60;
  EXPECT_TRUE(fetch.CheckSize(reference).IsCorruption());
}

TEST(ValueFetch, AScanThatGoesOnReadsAheadInEachFile) {
  FetchTree tree;
  constexpr int kFiles = 4, kValues = 400, kPage = 20;
  for (int file = 0; file < kFiles; ++file) {
    for (int i = file; i < kValues; i += kFiles) tree.Put(NumberedKey(i), Value(i, 400));
    tree.SealAndFlush();
  }
  const auto scan = [&](bool goes_on) {
    const uint64_t before = tree.counters().value_reads;
    for (int first = 0; first < kValues; first += kPage) {
      std::vector<int> keys;
      for (int i = first; i < first + kPage; ++i) keys.push_back(i);
      const int pages_left = (kValues - first) / kPage - 1;
      const auto values =
          tree.Fetch(keys, goes_on ? std::optional<double>(pages_left) : std::optional<double>());
      EXPECT_TRUE(values.ok()) << values.status().ToString();
      for (size_t n = 0; values.ok() && n < keys.size(); ++n)
        EXPECT_EQ((*values)[n], Value(keys[n], 400));
    }
    return tree.counters().value_reads - before;
  };
  EXPECT_EQ(scan(false), uint64_t{kFiles} * kValues / kPage)
      << "each page needs one read of each file";
  const uint64_t bytes = tree.counters().value_bytes_read;
  EXPECT_LT(scan(true), uint64_t{kFiles} * kValues / kPage / 2);
  EXPECT_LE(tree.counters().value_bytes_read * 100, bytes * 202)
      << "reading ahead may read at most two percent more bytes";
}

TEST(ValueFetch, AnyReadThatFailsIsReported) {
  FetchTree tree;
  for (int i = 0; i < 40; ++i) {
    tree.Put(NumberedKey(i), Value(i, 2'000));
    if (i % 8 == 7) tree.SealAndFlush();
  }
  std::vector<int> keys;
  for (int i = 0; i < 40; ++i) keys.push_back(i);
  ASSERT_TRUE(tree.Fetch(keys).ok());
  uint64_t failed = 0;
  for (uint64_t n = 1; n < 100; ++n) {
    tree.faults().Arm({.call = n, .only = FileCall::kRead, .path_contains = ".vsst"});
    const auto values = tree.Fetch(keys);
    if (tree.faults().fired() == 0) break;
    EXPECT_FALSE(values.ok());
    ++failed;
  }
  EXPECT_EQ(failed, 5u) << "each of the five files has one read that can fail";
}

}  // namespace
}  // namespace lava
