// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/space_controller.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "manifest/sums.h"
#include "testing/test_clock.h"

namespace lava {
namespace {

using testing::TestClock;
using WriteAnswer = SpaceController::WriteAnswer;
using Remedy = SpaceController::Remedy;

constexpr uint64_t kLive = 1000;
constexpr uint64_t kRate = 1600;  // slowed_bytes_per_second
constexpr SpaceLimits kRatio{.low_percent = 120, .high_percent = 160, .live_bytes_floor = 0};
constexpr SpaceLimits kBytes{.low_bytes = 1200, .high_bytes = 1600};

KeyFileEntry KeyFile(uint64_t number, uint64_t bytes, uint64_t records = 1) {
  auto file = std::make_shared<FileMeta>();
  file->id = {{7, 9}, number};
  file->bytes = bytes;
  file->records = records;
  file->lower = "a";
  file->upper = "z";
  return {file, file->lower, file->upper};
}

std::shared_ptr<ValueFileMeta> ValueFile(uint64_t number, uint64_t bytes) {
  auto file = std::make_shared<ValueFileMeta>();
  file->id = {{7, 9}, number};
  file->bytes = file->raw_bytes = bytes;
  return file;
}

/// Makes a version with these live bytes, and these bytes without references.
Version VersionOf(uint64_t live_bytes, uint64_t garbage_bytes) {
  Version version;
  version.levels[1].push_back(KeyFile(1, live_bytes));
  if (garbage_bytes > 0) {
    const std::shared_ptr<ValueFileMeta> file = ValueFile(2, garbage_bytes);
    version.value_files[file->id] = {file, 1};
  }
  version.sums = CountSums(version);
  return version;
}

class Member : public SpaceMember {
 public:
  const std::string& space_name() const override { return name; }
  void RequestSpace() override { ++requests; }
  void RequestGiveUp(uint64_t snapshot) override { given_up.push_back(snapshot); }
  void SpaceFreed() override { ++freed; }

  std::string name = "instance";
  int requests = 0, freed = 0;
  std::vector<uint64_t> given_up;
};

/// One instance that has joined a quota.
class Instance {
 public:
  Instance(const SpaceLimits& limits, SpaceQuota* quota, Clock* clock)
      : space(limits, kRate, "/instance", quota, clock) {
    space.Join(&member);
  }
  ~Instance() { space.Leave(); }
  void Has(uint64_t live_bytes, uint64_t garbage_bytes, const SpaceWork& work = {}) {
    space.SetVersion(VersionOf(live_bytes, garbage_bytes));
    space.Update(work);
  }

  Member member;
  SpaceController space;
};

class SpaceControllerTest : public ::testing::Test {
 protected:
  TestClock clock;
  SpaceQuota quota;
};

TEST_F(SpaceControllerTest, WithoutALimitNothingPresses) {
  Instance instance({}, &quota, &clock);
  instance.Has(kLive, 1 << 30);
  EXPECT_FALSE(instance.space.state().slows_writes());
  EXPECT_EQ(instance.space.AnswerWrite(), WriteAnswer::kGoOn);
  instance.space.Pay(1 << 30);
  EXPECT_EQ(instance.space.AnswerWrite(), WriteAnswer::kGoOn)
      << "without a limit a write must not be slowed";
}

TEST_F(SpaceControllerTest, AVersionCountsFromTheNextUpdateOn) {
  Instance instance(kBytes, &quota, &clock);
  instance.Has(kLive, 0);
  instance.space.SetVersion(VersionOf(kLive, 600));
  EXPECT_EQ(instance.space.state().use.file_bytes, 1600u);
  EXPECT_EQ(instance.space.state().use.live_bytes, 1000u);
  EXPECT_FALSE(instance.space.state().own.stop);
  instance.space.Report({});
  EXPECT_FALSE(instance.space.state().own.stop) << "a report alone must not judge the version";
  instance.space.Update({});
  EXPECT_TRUE(instance.space.state().own.stop);
}

TEST_F(SpaceControllerTest, WritesWaitAtTheHighLimitAndAreSlowedAboveTheLowOne) {
  for (const SpaceLimits& limits : {kRatio, kBytes}) {
    Instance instance(limits, &quota, &clock);
    instance.Has(kLive, 200);
    EXPECT_FALSE(instance.space.state().slows_writes());
    instance.Has(kLive, 201);
    EXPECT_TRUE(instance.space.state().slows_writes());
    EXPECT_EQ(instance.space.AnswerWrite(), WriteAnswer::kGoOn)
        << "no earlier write has to be paid for yet";
    instance.Has(kLive, 600);
    EXPECT_EQ(instance.space.AnswerWrite(), WriteAnswer::kInstanceFull);
    EXPECT_EQ(instance.space.state().own.bytes, limits.high_bytes > 0);
  }
}

TEST_F(SpaceControllerTest, ASlowedWriteIsPaidByTheWriteAfterIt) {
  Instance instance(kBytes, &quota, &clock);
  instance.Has(kLive, 400);  // halfway between the limits, so at half of the rate
  instance.space.Pay(80);
  EXPECT_EQ(instance.space.AnswerWrite(), WriteAnswer::kSlowed);
  EXPECT_EQ(instance.space.slowed_until_us(), clock.MonotonicMicros() + 100'000);
  instance.space.Pay(80);
  EXPECT_EQ(instance.space.slowed_until_us(), clock.MonotonicMicros() + 200'000)
      << "the wait of the second write must begin after the wait of the first";
  clock.AdvanceMicros(199'999);
  EXPECT_EQ(instance.space.AnswerWrite(), WriteAnswer::kSlowed);
  clock.AdvanceMicros(1);
  EXPECT_EQ(instance.space.AnswerWrite(), WriteAnswer::kGoOn);
  clock.AdvanceMicros(1'000'000);
  instance.space.Pay(80);
  EXPECT_EQ(instance.space.slowed_until_us(), clock.MonotonicMicros() + 100'000)
      << "time without writes must not pay for later writes";
  EXPECT_EQ(instance.space.AnswerWrite(), WriteAnswer::kSlowed);
  instance.Has(kLive, 600);
  EXPECT_EQ(instance.space.AnswerWrite(), WriteAnswer::kInstanceFull)
      << "the high limit must come before the slowdown";
}

TEST_F(SpaceControllerTest, AWriteThatWaitsInVainIsLetPastARatioUntilTheNextUpdate) {
  Instance instance(kRatio, &quota, &clock);
  instance.Has(kLive, 900);
  ASSERT_EQ(instance.space.AnswerWrite(), WriteAnswer::kInstanceFull);
  EXPECT_EQ(instance.space.FindRemedy(0), Remedy::kIgnoreRatio);
  EXPECT_EQ(instance.space.AnswerWrite(), WriteAnswer::kGoOn);
  instance.space.Report({});
  EXPECT_EQ(instance.space.AnswerWrite(), WriteAnswer::kGoOn);
  instance.space.Update({});
  EXPECT_EQ(instance.space.AnswerWrite(), WriteAnswer::kInstanceFull);
}

TEST_F(SpaceControllerTest, ARatioThatIsIgnoredDoesNotHideTheLimitInBytes) {
  SpaceLimits both = kRatio;
  both.low_bytes = 1800;
  both.high_bytes = 2000;
  Instance instance(both, &quota, &clock);
  instance.Has(kLive, 900);
  EXPECT_EQ(instance.space.FindRemedy(0), Remedy::kIgnoreRatio);
  EXPECT_TRUE(instance.space.state().own.bytes);
  EXPECT_NEAR(instance.space.state().own.slow, 0.5, 1e-9);
  instance.Has(kLive, 1000);
  EXPECT_EQ(instance.space.FindRemedy(0), Remedy::kNone);
}

TEST_F(SpaceControllerTest, ALimitInBytesThatFilesReachFailsTheWriteAndSaysSo) {
  Instance instance(kBytes, &quota, &clock);
  instance.Has(1700, 20, {.pinned_bytes = 33});
  EXPECT_EQ(instance.space.FindRemedy(0), Remedy::kNone);
  EXPECT_EQ(instance.space.FindRemedy(SpaceController::kPinnedWaitUs), Remedy::kNone);
  const Status full = instance.space.Full();
  EXPECT_TRUE(full.IsNoSpace());
  EXPECT_EQ(full.ToString(),
            Status::NoSpace("write to /instance: the files take 1720 bytes and those that only "
                            "snapshots keep 33, the limit is 1600 and about 1700 bytes are in use, "
                            "so nothing more can be given back: raise the limit, or keep less "
                            "state")
                .ToString());
}

TEST_F(SpaceControllerTest, PinnedFilesAreAwaitedForAWhileThenASnapshotIsGivenUp) {
  Instance instance(kBytes, &quota, &clock);
  instance.Has(kLive, 0, {.pinned_bytes = 600});
  ASSERT_EQ(instance.space.AnswerWrite(), WriteAnswer::kInstanceFull);
  EXPECT_EQ(instance.space.FindRemedy(0), Remedy::kAwaitSnapshots);
  EXPECT_EQ(instance.space.FindRemedy(SpaceController::kPinnedWaitUs - 1), Remedy::kAwaitSnapshots);
  EXPECT_EQ(instance.space.FindRemedy(SpaceController::kPinnedWaitUs), Remedy::kGiveUpSnapshot);
}

TEST_F(SpaceControllerTest, PinnedFilesOnlyCountWhereALimitInBytesNeedsThem) {
  Instance with_ratio(kRatio, &quota, &clock), with_bytes(kBytes, &quota, &clock);
  with_ratio.Has(kLive, 0, {.pinned_bytes = 5000});
  EXPECT_EQ(with_ratio.space.state().use.pinned_bytes, 0u);
  EXPECT_FALSE(with_ratio.space.state().slows_writes());
  with_bytes.Has(kLive, 0, {.pinned_bytes = 100});
  EXPECT_EQ(with_bytes.space.state().use.pinned_bytes, 100u);
  quota.SetLimit(1 << 30, 0);
  with_ratio.space.Report({.pinned_bytes = 5000});
  EXPECT_EQ(with_ratio.space.state().use.pinned_bytes, 5000u)
      << "the limit of the process needs the pinned bytes";
  EXPECT_EQ(quota.statistics().used_bytes, 2 * kLive + 5100);
}

TEST_F(SpaceControllerTest, ValuesThatJobsCopyCountUntilTheJobsHaveEnded) {
  Instance instance(kRatio, &quota, &clock);
  instance.Has(kLive, 400);
  instance.space.AddCopied(150);
  instance.space.AddCopied(50);
  instance.space.Update({});
  EXPECT_EQ(instance.space.AnswerWrite(), WriteAnswer::kInstanceFull);
  instance.space.RemoveCopied(50);
  instance.space.Update({});
  EXPECT_EQ(instance.space.state().use.copied_bytes, 150u);
  EXPECT_EQ(instance.space.AnswerWrite(), WriteAnswer::kGoOn);
}

TEST_F(SpaceControllerTest, AFullProcessStopsEveryInstanceAndAsksForGarbage) {
  quota.SetLimit(2000, 0);
  Instance writer({}, &quota, &clock), idle({}, &quota, &clock);
  writer.Has(kLive, 0);
  EXPECT_FALSE(writer.space.IsVerdictOld());
  idle.Has(500, 500);
  EXPECT_TRUE(writer.space.IsVerdictOld());
  EXPECT_EQ(writer.space.AnswerWrite(), WriteAnswer::kGoOn)
      << "the old verdict must count until the next report";
  writer.space.Report({});
  EXPECT_EQ(writer.space.AnswerWrite(), WriteAnswer::kProcessFull);
  EXPECT_FALSE(writer.space.state().process.collects) << "the instance has no garbage";
  EXPECT_EQ(writer.space.state().jobs().fullness, 0);
  EXPECT_EQ(idle.member.requests, 1);

  // The idle instance collects, and reports when it is done.
  const SpaceVerdict looked_by = idle.space.Report({.busy = true});
  EXPECT_TRUE(looked_by.collects);
  EXPECT_TRUE(idle.space.state().jobs().stop);
  uint64_t round = 0;
  EXPECT_TRUE(writer.space.AwaitProcess(&round, 0).ok());
  EXPECT_NE(round, 0u);
  const uint64_t first_round = round;
  EXPECT_TRUE(writer.space.AwaitProcess(&round, 0).ok());
  EXPECT_EQ(round, first_round) << "a write that asks again must stay in the same round";
  idle.Has(500, 0);
  EXPECT_EQ(writer.member.freed, 1);
  writer.space.Report({});
  EXPECT_EQ(writer.space.AnswerWrite(), WriteAnswer::kGoOn);
}

TEST_F(SpaceControllerTest, AWriteFailsOnceEveryInstanceHasLookedInVain) {
  quota.SetLimit(2000, 0);
  Instance writer({}, &quota, &clock), idle({}, &quota, &clock);
  writer.Has(kLive, 0);
  idle.Has(kLive, 1, {.failure = "a disk failed"});
  writer.space.Report({});
  uint64_t round = 0;
  EXPECT_TRUE(writer.space.AwaitProcess(&round, 0).ok())
      << "the idle instance has not answered yet";
  const SpaceVerdict looked_by = idle.space.Report({.failure = "a disk failed"});
  EXPECT_TRUE(looked_by.retry);
  idle.space.Answer({.busy = true}, looked_by);
  EXPECT_TRUE(writer.space.AwaitProcess(&round, 0).ok())
      << "the jobs of the idle instance have not ended yet";
  idle.space.Answer({.failure = "a disk failed"}, looked_by);
  const Status full = writer.space.AwaitProcess(&round, 0);
  EXPECT_TRUE(full.IsNoSpace());
  EXPECT_NE(full.ToString().find("a disk failed"), std::string::npos) << full.ToString();
}

TEST_F(SpaceControllerTest, TheOldestSnapshotIsReportedWithPinnedFilesAlone) {
  quota.SetLimit(1600, 0);
  Instance instance({}, &quota, &clock);
  instance.Has(kLive, 0, {.pinned_bytes = 600, .oldest_snapshot = 4});
  uint64_t round = 0;
  EXPECT_TRUE(instance.space.AwaitProcess(&round, SpaceController::kPinnedWaitUs - 1).ok());
  instance.space.Answer({.pinned_bytes = 600, .oldest_snapshot = 4}, {});
  EXPECT_TRUE(instance.space.AwaitProcess(&round, SpaceController::kPinnedWaitUs - 1).ok());
  EXPECT_TRUE(instance.member.given_up.empty())
      << "the snapshot must not be given up before the time is over";
  EXPECT_TRUE(instance.space.AwaitProcess(&round, SpaceController::kPinnedWaitUs).ok());
  EXPECT_EQ(instance.member.given_up, std::vector<uint64_t>{4});
}

TEST_F(SpaceControllerTest, TheSlowerOfBothLimitsSetsTheRate) {
  quota.SetLimit(2000, 1000);
  Instance instance(kBytes, &quota, &clock);
  instance.Has(kLive, 300);  // own limit: slowed by 25 percent; process: by 30
  const uint64_t now_us = clock.MonotonicMicros();
  instance.space.Pay(112);
  EXPECT_EQ(instance.space.slowed_until_us(), now_us + 100'000)
      << "the process's limit allows 70 percent of 1600 bytes per second";
}

TEST_F(SpaceControllerTest, WritesMayComeTwiceAsFastAsCollectionsFree) {
  Instance instance(kBytes, &quota, &clock);
  instance.Has(kLive, 400);
  CollectionInput input;
  input.files = {ValueFile(5, 10'000)};
  input.expired = {ValueFile(6, 2'000)};
  CollectionOutput output;
  output.files = {ValueFile(7, 4'000)};
  instance.space.LearnFreed(input, output, /*took_us=*/1'000'000, /*collections=*/2);
  const uint64_t now_us = clock.MonotonicMicros();
  instance.space.Pay(1'600);
  EXPECT_EQ(instance.space.slowed_until_us(), now_us + 100'000)
      << "the rate must be 16000 bytes per second";
}

TEST_F(SpaceControllerTest, TheRateOfFreeingIsReportedWhileCollectionsRun) {
  quota.SetLimit(2000, 1000);
  Instance collects({}, &quota, &clock), writes({}, &quota, &clock);
  CollectionInput input;
  input.files = {ValueFile(5, 80'000)};
  collects.space.LearnFreed(input, {}, 1'000'000, 1);
  writes.Has(kLive, 0);
  collects.Has(500, 0, {.busy = true, .collecting = true});
  writes.space.Report({});
  const uint64_t now_us = clock.MonotonicMicros();
  writes.space.Pay(8'000);
  EXPECT_EQ(writes.space.slowed_until_us(), now_us + 100'000)
      << "the rate must be 80000 bytes per second";
  collects.space.Report({});
  writes.space.Pay(80);
  EXPECT_EQ(writes.space.slowed_until_us(), now_us + 200'000)
      << "the rate must be 800 bytes per second";
}

CompactionInput InputOf(uint32_t level, uint32_t output_level, uint64_t upper_records,
                        uint64_t lower_records) {
  CompactionInput input;
  input.inputs.resize(2);
  input.inputs[0].level = level;
  input.inputs[0].entries.push_back(KeyFile(11, 100, upper_records));
  input.inputs[1].level = output_level;
  input.inputs[1].entries.push_back(KeyFile(12, 100, lower_records));
  input.output_level = output_level;
  return input;
}

CompactionOutput OutputOf(uint64_t records, uint64_t records_expired = 0) {
  CompactionOutput output;
  output.files = {KeyFile(13, 100, records).file};
  output.records_expired = records_expired;
  return output;
}

TEST_F(SpaceControllerTest, ACompactionTellsHowManyRecordsHideAnother) {
  Instance instance({}, &quota, &clock);
  const auto known = [&](uint32_t level) { return instance.space.state().met.part[level]; };
  EXPECT_EQ(known(2), 1) << "the estimate must be 1 before the first compaction";
  instance.space.LearnMet(InputOf(2, 3, 100, 1000), OutputOf(1060));
  EXPECT_NEAR(known(2), 0.4, 1e-9) << "the first compaction must replace the initial estimate";
  instance.space.LearnMet(InputOf(2, 3, 100, 1000), OutputOf(1100));
  EXPECT_NEAR(known(2), 0.3, 1e-9)
      << "each later compaction must change the estimate by a quarter of the difference";
  instance.space.LearnMet(InputOf(2, 3, 100, 1000), OutputOf(1060, 40));
  EXPECT_NEAR(known(2), 0.225, 1e-9)
      << "expired records must not count as having met another record";
  instance.space.LearnMet(InputOf(3, 4, 100, 1000), OutputOf(0));
  EXPECT_EQ(known(3), 1) << "the estimate must not exceed 1";
  EXPECT_EQ(known(1), 1);
}

TEST_F(SpaceControllerTest, CompactionsThatTellNothingTeachNothing) {
  Instance instance({}, &quota, &clock);
  instance.space.LearnMet(InputOf(2, 3, 100, 1000), OutputOf(1060));
  const auto learns = [&](const CompactionInput& input) {
    const MetBelow before = instance.space.state().met;
    instance.space.LearnMet(input, OutputOf(1050));  // half of the upper records met another
    return instance.space.state().met.part != before.part;
  };
  EXPECT_FALSE(learns(InputOf(0, 1, 100, 1000))) << "L0";
  EXPECT_FALSE(learns(InputOf(2, 4, 100, 1000))) << "the compaction spans more than one level";
  EXPECT_FALSE(learns(InputOf(2, 3, 0, 1000))) << "the upper level has no records";
  CompactionInput clipped = InputOf(2, 3, 100, 1000);
  clipped.inputs[0].entries = {};
  KeyFileEntry entry = KeyFile(11, 100, 100);
  entry.lower = "m";
  clipped.inputs[0].entries.push_back(entry);
  EXPECT_FALSE(learns(clipped)) << "an entry of the input is clipped";
}

TEST_F(SpaceControllerTest, LearnedRecordsChangeWhatTheNextVersionHides) {
  Instance instance({}, &quota, &clock);
  Version version;
  version.levels[1].push_back(KeyFile(1, 100));
  version.levels[2].push_back(KeyFile(2, 900));
  version.sums = CountSums(version);
  instance.space.SetVersion(version);
  EXPECT_EQ(instance.space.state().hidden_bytes, 100u);
  EXPECT_EQ(instance.space.state().use.live_bytes, 900u);
  instance.space.LearnMet(InputOf(1, 2, 100, 1000), OutputOf(1050));
  instance.space.SetVersion(version);
  EXPECT_EQ(instance.space.state().hidden_bytes, 50u);
  EXPECT_EQ(instance.space.state().use.live_bytes, 950u);
}

TEST_F(SpaceControllerTest, AnInstanceThatLeavesGivesItsShareBack) {
  Instance stays({}, &quota, &clock);
  stays.Has(kLive, 0);
  {
    Instance leaves({}, &quota, &clock);
    leaves.Has(kLive, 0);
    EXPECT_EQ(quota.statistics().used_bytes, 2 * kLive);
    leaves.space.Leave();
    leaves.space.Report({});  // the report of a job that ends late
    EXPECT_EQ(quota.statistics().used_bytes, kLive);
  }
  EXPECT_EQ(quota.statistics().used_bytes, kLive);
}

}  // namespace
}  // namespace lava
