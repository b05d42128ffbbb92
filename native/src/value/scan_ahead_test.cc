// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/scan_ahead.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace lava {
namespace {

constexpr double kNoEnd = 1e9;
constexpr uint64_t kRecordsEnd = 10 << 20;

class ScanAheadTest : public ::testing::Test {
 protected:
  /// / A page that needs [begin, end). Keeps the bytes to be read ahead after it.
  ScanAhead::Page Pass(uint64_t begin, uint64_t end, double pages_left = kNoEnd) {
    const ScanAhead::Page page = ahead_.Begin(begin, end, pages_left);
    if (page.ahead_bytes() > 0) ahead_.Keep(page, File(page.end(), page.ahead_bytes()));
    return page;
  }
  /// The file's bytes at offset.
  static std::string File(uint64_t offset, uint64_t bytes) {
    std::string out;
    for (uint64_t i = offset; i < offset + bytes; ++i)
      out.push_back(static_cast<char>(i ^ i >> 8 ^ i >> 16));
    return out;
  }

  std::unique_ptr<BlockCache> cache_ = BlockCache::Create(64 << 20);
  CacheUse use_;
  ScanAhead ahead_{cache_.get(), cache_->NewFileId(), kRecordsEnd, &use_};
};

TEST_F(ScanAheadTest, AScanFindsWhatThePageBeforeHadRead) {
  EXPECT_EQ(Pass(0, 1000).ahead_bytes(), 0u) << "after the first page, a second one is not certain";
  EXPECT_EQ(Pass(1000, 2000).ahead_bytes(), 1000u)
      << "half of the bytes passed so far must be read ahead";
  const ScanAhead::Page within = Pass(2100, 2900);
  EXPECT_EQ(within.ahead_bytes(), 0u);
  EXPECT_EQ(within.Find(2100, 800), File(2100, 800));
  const ScanAhead::Page across = Pass(2900, 3900);
  EXPECT_EQ(across.Find(2900, 100), File(2900, 100));
  EXPECT_EQ(across.Find(2950, 51), "") << "the piece read ahead ends too early";
  EXPECT_EQ(across.Find(1999, 10), "") << "the piece read ahead begins too late";
  EXPECT_EQ(across.Find(UINT64_MAX, 10), "");
  EXPECT_EQ(across.ahead_bytes(), 1900u);
  EXPECT_EQ(Pass(3900, 4000).Find(3950, 50), File(3950, 50));
}

TEST_F(ScanAheadTest, AheadIsBoundedByAllThatMayBeWanted) {
  Pass(0, 1000);
  EXPECT_EQ(Pass(1000, 2000, 0.25).ahead_bytes(), 250u)
      << "the scan wants only a quarter of such a page";
  EXPECT_EQ(Pass(2250, 3250, 0).ahead_bytes(), 0u)
      << "there must be nothing to read ahead after the last page";
  Pass(4'000'000, 5'000'000);
  EXPECT_EQ(Pass(5'000'000, 6'000'000).ahead_bytes(), ScanAhead::kPieceBytesMax);
  Pass(6'200'000, kRecordsEnd - 70'000);
  EXPECT_EQ(Pass(kRecordsEnd - 70'000, kRecordsEnd - 10).ahead_bytes(), 10u)
      << "the piece must end with the records";
  EXPECT_EQ(Pass(kRecordsEnd - 10, kRecordsEnd).ahead_bytes(), 0u);
  cache_->SetCapacity(64 * 300);
  Pass(100'000, 200'000);
  EXPECT_EQ(Pass(200'000, 300'000).ahead_bytes(), 300u)
      << "the piece must be a small part of the cache";
}

TEST_F(ScanAheadTest, ScansAreDistinguishedByWhereTheyAre) {
  for (uint64_t scan = 0; scan < 4; ++scan) {
    Pass(scan << 20, (scan << 20) + 1000);
    Pass((scan << 20) + 1000, (scan << 20) + 2000);
  }
  for (uint64_t scan = 0; scan < 4; ++scan) {
    const uint64_t at = (scan << 20) + 2000;
    EXPECT_EQ(Pass(at, at + 500).Find(at, 500), File(at, 500)) << scan;
  }
  Pass(5 << 20, (5 << 20) + 1000);  // replaces the scan that was idle longest
  EXPECT_EQ(Pass(2500, 3000).Find(2500, 500), "");
  // A jump counts as a new scan, which replaces the first one.
  EXPECT_EQ(Pass((3 << 20) + 400'000, (3 << 20) + 401'000).ahead_bytes(), 0u);
}

TEST_F(ScanAheadTest, PiecesAreTheCachesAndGo) {
  Pass(0, 20'000);
  Pass(20'000, 40'000);
  const uint64_t one = cache_->used_bytes();
  EXPECT_GT(one, ScanAhead::kPieceBytesMax);
  EXPECT_EQ(use_.used_bytes.load(), one);
  for (uint64_t page = 2; page < 100; ++page) Pass(page * 20'000, page * 20'000 + 20'000);
  // An allocation is rounded up by an eighth at most.
  EXPECT_LE(cache_->used_bytes(), ScanAhead::kPieceBytesMax * 9 / 8 + 1000)
      << "only the last piece may be kept";
  // A piece that the cache could not keep is not read again at once.
  const uint64_t capacity = cache_->capacity_bytes();
  cache_->SetCapacity(0);
  cache_->SetCapacity(capacity);
  ScanAhead::Page page = Pass(2'000'000, 2'020'000);
  for (uint64_t at = 2'020'000; page.ahead_bytes() == 0; at += 20'000) page = Pass(at, at + 20'000);
  EXPECT_EQ(page.Find(2'000'000, 10), "");
  EXPECT_EQ(page.ahead_bytes(), 5'000u);
}

// Between Begin() and Keep() of a page, another scan may have replaced its scan.
TEST_F(ScanAheadTest, WhatComesTooLateIsNotKept) {
  Pass(0, 1000);
  const ScanAhead::Page late = ahead_.Begin(1000, 2000, kNoEnd);
  for (uint64_t scan = 1; scan <= 4; ++scan) Pass(scan << 20, (scan << 20) + 1000);
  ahead_.Keep(late, File(2000, late.ahead_bytes()));
  EXPECT_EQ(cache_->used_bytes(), 0u);
  EXPECT_EQ(Pass(2000, 3000).Find(2000, 10), "");
}

}  // namespace
}  // namespace lava
