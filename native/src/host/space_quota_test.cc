// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "host/space_quota.h"

#include <gtest/gtest.h>

#include <deque>

#include "policy/space_limits.h"

// Members here only record requests. tests/db_quota_test.cc tests how instances react to them.
namespace lava {
namespace {

constexpr uint64_t kLimit = 1000;
constexpr uint64_t kPinnedWaitUs = 500;
constexpr uint64_t kNowUs = 5'000'000'000;

SpaceReport Files(uint64_t file_bytes, uint64_t garbage_bytes) {
  SpaceReport report;
  report.use.file_bytes = file_bytes;
  report.use.live_bytes = file_bytes - garbage_bytes;
  return report;
}

SpaceReport Pinned(uint64_t file_bytes, uint64_t pinned_bytes, uint64_t oldest_snapshot) {
  SpaceReport report = Files(file_bytes, 0);
  report.use.pinned_bytes = pinned_bytes;
  report.oldest_snapshot = oldest_snapshot;
  return report;
}

class Instance : public SpaceMember {
 public:
  Instance(SpaceQuota* quota, std::string name) : quota_(quota), name_(std::move(name)) {
    quota_->Join(&membership, this);
  }
  ~Instance() override { Leave(); }
  void Leave() { quota_->Leave(&membership); }
  void Report(const SpaceReport& report) { verdict = quota_->Update(&membership, report); }
  /// Answers as an instance does, which works by its current verdict.
  void Answer(const SpaceReport& report) {
    Report(report);
    verdict = quota_->Answer(&membership, report, verdict);
  }
  Status Await(uint64_t round, uint64_t waited_us = 0) const {
    return quota_->Await(&membership, round, waited_us, kPinnedWaitUs);
  }
  bool IsOld() const { return verdict.epoch != quota_->epoch(); }

  const std::string& space_name() const override { return name_; }
  void RequestSpace() override { ++requests; }
  void RequestGiveUp(uint64_t snapshot) override { given_up.push_back(snapshot); }
  void SpaceFreed() override { ++freed; }

  SpaceQuota::Membership membership;
  SpaceVerdict verdict;
  int requests = 0, freed = 0;
  std::vector<uint64_t> given_up;

 private:
  SpaceQuota* const quota_;
  const std::string name_;
};

class SpaceQuotaTest : public ::testing::Test {
 protected:
  struct Limited : SpaceQuota {
    Limited() { SetLimit(kLimit, 0); }
  } quota;  // before there is a member to ask
  Instance a{&quota, "a"}, b{&quota, "b"};
};

TEST_F(SpaceQuotaTest, WithoutALimitNothingIsAskedOrSlowed) {
  quota.SetLimit(0, 0);
  EXPECT_FALSE(quota.limited());
  a.Report(Files(1 << 30, 1 << 29));
  EXPECT_FALSE(quota.pressing());
  EXPECT_FALSE(a.verdict.writes.stop);
  EXPECT_FALSE(a.verdict.collects);
  EXPECT_TRUE(a.Await(quota.NextRound()).ok());
  EXPECT_EQ(a.requests, 1) << "the only request came when the limit was removed";
  EXPECT_EQ(quota.statistics().limit_bytes, 0u);
  EXPECT_EQ(quota.statistics().used_bytes, 1u << 30);
}

TEST_F(SpaceQuotaTest, StatisticsAddUpWhatMembersReportedLast) {
  a.Report(Files(300, 100));
  b.Report(Pinned(50, 20, 3));
  a.Report(Files(200, 50));
  const SpaceQuota::Statistics all = quota.statistics();
  EXPECT_EQ(all.used_bytes, 200u + 50 + 20);
  EXPECT_EQ(all.live_bytes, 150u + 50);
  EXPECT_EQ(all.limit_bytes, kLimit);
}

TEST_F(SpaceQuotaTest, WhoLeavesGivesItsShareBack) {
  a.Report(Files(600, 0));
  b.Report(Files(500, 0));
  EXPECT_TRUE(b.verdict.writes.stop);
  EXPECT_TRUE(quota.pressing());
  b.Leave();
  EXPECT_FALSE(quota.pressing());
  EXPECT_EQ(a.freed, 1) << "the writes of the other member must look again";
  EXPECT_EQ(b.freed, 0) << "a member that left must not be called";
  EXPECT_TRUE(a.IsOld());
  EXPECT_EQ(quota.statistics().used_bytes, 600u);
  b.Leave();
  b.Report(Files(700, 0));
  EXPECT_EQ(quota.statistics().used_bytes, 600u) << "a report of a member that left must not count";
  Instance c(&quota, "c");
  c.Report(Files(500, 0));
  EXPECT_TRUE(c.verdict.writes.stop);
}

TEST_F(SpaceQuotaTest, ALimitThatIsSetAsksEverybodyToLook) {
  EXPECT_EQ(a.requests, 0) << "there was no member yet when the limit was set";
  quota.SetLimit(kLimit, 0);
  EXPECT_EQ(a.requests, 0) << "the limit has not changed";
  quota.SetLimit(2 * kLimit, 0);
  quota.SetLimit(3 * kLimit, 0);
  EXPECT_EQ(a.requests, 1) << "a member must be asked only once until it answers";
  EXPECT_EQ(b.requests, 1);
  a.Answer(Files(10, 0));
  quota.SetLimit(kLimit, 0);
  EXPECT_EQ(a.requests, 2);
  EXPECT_EQ(b.requests, 1);
}

TEST_F(SpaceQuotaTest, AVerdictIsOldOnceAnybodyReports) {
  a.Report(Files(850, 0));
  EXPECT_FALSE(a.IsOld());
  EXPECT_EQ(a.verdict.writes.slow, 0);
  b.Report(Files(100, 0));
  EXPECT_TRUE(a.IsOld());
  EXPECT_FALSE(b.IsOld());
  EXPECT_NEAR(b.verdict.writes.slow, 0.5, 1e-9)
      << "the use must be halfway between nine tenths of the limit and the limit";
  EXPECT_TRUE(quota.pressing());
  a.Report(Files(850, 0));
  EXPECT_EQ(a.verdict.writes.slow, b.verdict.writes.slow);
  quota.SetLimit(kLimit, 600);
  EXPECT_TRUE(a.IsOld());
}

TEST_F(SpaceQuotaTest, WhoHasMostGarbageCollectsFirst) {
  a.Report(Files(500, 300));
  EXPECT_EQ(a.requests, 0) << "there is enough space";
  b.Report(Files(350, 100));
  EXPECT_EQ(a.requests, 1);
  EXPECT_EQ(b.requests, 0) << "b has less than half of a's garbage";
  EXPECT_FALSE(b.verdict.collects);
  a.Answer(Files(500, 300));
  EXPECT_TRUE(b.IsOld()) << "a found nothing to collect at this step, so b must look";
  EXPECT_EQ(b.requests, 1);
  b.Report(Files(350, 100));
  EXPECT_TRUE(b.verdict.collects);
  EXPECT_FALSE(a.verdict.collects);
  EXPECT_GT(b.verdict.work.fullness, 0);
  EXPECT_EQ(a.verdict.work.fullness, 0) << "it is b's turn";
  // More garbage is a reason to ask a again.
  a.Report(Files(500, 310));
  EXPECT_TRUE(a.verdict.collects);
  EXPECT_EQ(a.requests, 2);
}

TEST_F(SpaceQuotaTest, WhoIsBusyIsNotAskedAndHasNotAnswered) {
  SpaceReport busy = Files(1200, 600);
  busy.busy = true;
  a.Report(busy);
  EXPECT_TRUE(a.verdict.collects);
  EXPECT_EQ(a.requests, 0);
  const uint64_t round = quota.NextRound();
  EXPECT_TRUE(b.Await(round).ok());
  a.Answer(busy);
  EXPECT_TRUE(b.Await(round).ok()) << "the running jobs may free something";
  a.Report(Files(1200, 600));
  EXPECT_EQ(a.requests, 1);
  a.Answer(Files(1200, 600));
  EXPECT_TRUE(b.Await(round).IsNoSpace());
  SpaceReport flushes = Files(10, 0);
  flushes.busy = true;
  b.Report(flushes);
  EXPECT_TRUE(b.Await(round).ok()) << "the running flush may expose garbage";
}

TEST_F(SpaceQuotaTest, WritesAreNoSpaceWhenAllHaveLookedSinceTheRoundBegan) {
  a.Report(Files(700, 10));
  b.Report(Files(500, 20));
  a.Answer(Files(700, 10));
  b.Answer(Files(500, 20));
  const uint64_t round = quota.NextRound();
  const int asked_a = a.requests, asked_b = b.requests;
  EXPECT_TRUE(a.Await(round).ok()) << "the earlier answers were for other writes";
  EXPECT_EQ(a.requests, asked_a + 1)
      << "a must be asked although it had nothing to collect at this step";
  EXPECT_EQ(b.requests, asked_b + 1);
  EXPECT_TRUE(a.Await(round).ok());
  EXPECT_EQ(b.requests, asked_b + 1) << "b must be asked only once until it answers";
  b.Report(Files(500, 20));
  EXPECT_TRUE(b.verdict.retry);
  b.Answer(Files(500, 20));
  EXPECT_FALSE(b.verdict.retry);
  EXPECT_TRUE(a.Await(round).ok()) << "a has not answered yet";
  a.Answer(Files(700, 10));
  const Status full = a.Await(round);
  EXPECT_TRUE(full.IsNoSpace());
  for (const char* part : {"write to a", "2 instances", "1200 bytes", "limit is 1000",
                           "takes 700 of them", "most takes a with 700"})
    EXPECT_NE(full.ToString().find(part), std::string::npos) << part << "\n" << full.ToString();
  EXPECT_TRUE(b.Await(quota.NextRound()).ok()) << "another write must begin a new round";
}

TEST_F(SpaceQuotaTest, AnAnswerThatFreedSomethingIsNoEnd) {
  a.Report(Files(1500, 600));
  const uint64_t round = quota.NextRound();
  EXPECT_TRUE(b.Await(round).ok());
  a.Answer(Files(1500, 600));
  a.Report(Files(1200, 300));
  EXPECT_TRUE(b.Await(round).ok()) << "the files of a have changed since its answer";
  a.Answer(Files(1200, 300));
  EXPECT_TRUE(b.Await(round).IsNoSpace());
  a.Report(Files(900, 0));
  EXPECT_EQ(b.freed, 1);
  EXPECT_TRUE(b.Await(round).ok()) << "the process is no longer full";
}

TEST_F(SpaceQuotaTest, NoSpaceAtOnceWhenNobodyHasAnyGarbage) {
  a.Report(Files(600, 0));
  b.Report(Files(600, 0));
  EXPECT_TRUE(a.Await(quota.NextRound()).IsNoSpace());
  EXPECT_EQ(a.requests + b.requests, 0);
}

TEST_F(SpaceQuotaTest, AFailureElsewhereIsNamed) {
  SpaceReport failed = Files(1200, 0);
  failed.failure = "IOError: of a disk";
  a.Report(failed);
  const Status full = b.Await(quota.NextRound());
  EXPECT_TRUE(full.IsNoSpace());
  EXPECT_NE(full.ToString().find("; in a: IOError: of a disk"), std::string::npos)
      << full.ToString();
}

TEST_F(SpaceQuotaTest, SnapshotsAreGivenUpOldestFirstOneAtATime) {
  Instance c(&quota, "c");
  a.Report(Pinned(300, 200, 7));
  b.Report(Pinned(300, 200, 5));
  c.Report(Pinned(300, 0, 1));  // its snapshot keeps nothing
  const uint64_t round = quota.NextRound();
  EXPECT_TRUE(c.Await(round, kPinnedWaitUs).ok());
  EXPECT_EQ(a.requests, 1) << "readers may have released the pinned files, so a must look";
  EXPECT_EQ(b.requests, 1);
  a.Answer(Pinned(300, 200, 7));
  b.Answer(Pinned(300, 200, 5));
  EXPECT_TRUE(c.Await(round, kPinnedWaitUs - 1).ok());
  EXPECT_TRUE(a.given_up.empty() && b.given_up.empty())
      << "no snapshot must be given up before the time is over";
  EXPECT_TRUE(c.Await(round, kPinnedWaitUs).ok());
  EXPECT_EQ(b.given_up, std::vector<uint64_t>{5});
  EXPECT_TRUE(c.Await(round, kPinnedWaitUs).ok());
  EXPECT_EQ(b.given_up.size(), 1u);
  EXPECT_TRUE(a.given_up.empty()) << "the first snapshot may have been enough";
  b.Answer(Pinned(300, 150, 9));
  EXPECT_TRUE(c.Await(round, kPinnedWaitUs).ok());
  EXPECT_EQ(a.given_up, std::vector<uint64_t>{7});
  a.Answer(Pinned(300, 0, SpaceReport::kNoSnapshot));
  EXPECT_TRUE(c.Await(round, kPinnedWaitUs).ok());
  EXPECT_EQ(b.given_up, (std::vector<uint64_t>{5, 9}))
      << "all instances together still take 1050 bytes";
  b.Answer(Pinned(300, 0, SpaceReport::kNoSnapshot));
  EXPECT_EQ(c.freed, 1);
  EXPECT_TRUE(c.Await(round, kPinnedWaitUs).ok());
  EXPECT_TRUE(c.given_up.empty());
}

TEST_F(SpaceQuotaTest, NoSnapshotIsGivenUpWhenFilesAloneFillIt) {
  a.Report(Pinned(1000, 100, 1));
  const uint64_t round = quota.NextRound();
  EXPECT_TRUE(a.Await(round, kPinnedWaitUs).ok());
  a.Answer(Pinned(1000, 100, 1));
  EXPECT_TRUE(a.Await(round, kPinnedWaitUs).IsNoSpace());
  EXPECT_TRUE(a.given_up.empty());
}

TEST_F(SpaceQuotaTest, FilesThatNoSnapshotKeepsCannotBeGivenUp) {
  a.Report(Pinned(900, 200, SpaceReport::kNoSnapshot));  // kept by scans
  const uint64_t round = quota.NextRound();
  EXPECT_TRUE(a.Await(round).ok());
  a.Answer(Pinned(900, 200, SpaceReport::kNoSnapshot));
  EXPECT_TRUE(a.Await(round, kPinnedWaitUs - 1).ok());
  EXPECT_TRUE(a.Await(round, kPinnedWaitUs).IsNoSpace());
}

TEST_F(SpaceQuotaTest, SnapshotsAreNumberedOverAllInstances) {
  const uint64_t first = quota.NextSnapshot();
  EXPECT_LT(first, quota.NextSnapshot());
}

TEST_F(SpaceQuotaTest, ThoseThatWriteShareWhatIsAllowed) {
  a.Report(Files(950, 0));
  b.Report(Files(0, 0));
  const uint64_t all = SlowedBytesPerSecond(a.verdict.writes, 8000, 0);
  ASSERT_GT(all, 0u);
  EXPECT_EQ(quota.BytesPerSecond(&a.membership, 8000, kNowUs), all);
  EXPECT_EQ(quota.BytesPerSecond(&b.membership, 8000, kNowUs + 1), all / 2);
  EXPECT_EQ(quota.BytesPerSecond(&a.membership, 8000, kNowUs + 900'000), all / 2);
  EXPECT_EQ(quota.BytesPerSecond(&a.membership, 8000, kNowUs + 1'800'000), all)
      << "the other member has not written for a second";
  EXPECT_EQ(quota.BytesPerSecond(&b.membership, 8000, kNowUs + 1'800'001), all / 2);
  b.Leave();
  EXPECT_EQ(quota.BytesPerSecond(&a.membership, 8000, kNowUs + 1'800'002), all)
      << "a member must get the whole rate as soon as the other one leaves";
}

TEST_F(SpaceQuotaTest, WritesGetTwiceWhatAllFree) {
  SpaceReport frees = Files(475, 0);
  frees.freed_bytes_per_second = 3000;
  a.Report(frees);
  b.Report(frees);
  EXPECT_EQ(quota.BytesPerSecond(&a.membership, 8000, kNowUs),
            SlowedBytesPerSecond(b.verdict.writes, 8000, 6000));
  EXPECT_GT(SlowedBytesPerSecond(b.verdict.writes, 8000, 6000),
            SlowedBytesPerSecond(b.verdict.writes, 8000, 3000));
}

TEST_F(SpaceQuotaTest, NobodyIsSlowedBelowTheLowLimit) {
  a.Report(Files(100, 0));
  EXPECT_EQ(quota.BytesPerSecond(&a.membership, 8000, kNowUs), 0u);
}

}  // namespace
}  // namespace lava
