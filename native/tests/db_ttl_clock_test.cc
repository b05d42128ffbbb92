// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/coding.h"
#include "db_value_test_util.h"
#include "lava/list_format.h"

// Clocks that are set: no record is dropped that is unexpired by the reported clock.
namespace lava::testing {
namespace {

// Far longer than a run, and shorter than an hour.
constexpr int64_t kTtlMs = 60'000, kHourMs = 3'600'000;
constexpr int kRecords = 20;

std::string Stamp(int64_t written_ms) {
  std::string bytes;
  PutBigEndian(&bytes, static_cast<uint64_t>(written_ms), 8);
  return bytes;
}

// An instance whose clock is reported like by the plugin: before each write.
class DBTtlClock : public ::testing::TestWithParam<TtlLayout> {
 protected:
  void SetUp() override {
    db_.options().collection_garbage_percent = 25;
    Open();
  }
  void Open(std::span<const ImportSource> imports = {}, const std::string& at = "/db") {
    ASSERT_OK(db_.Open(imports, at));
    SetTable(kTtlMs);
  }
  void SetTable(int64_t ttl_ms) {
    TableOptions options;
    options.kind = GetParam() == TtlLayout::kMap    ? TableKind::kMap
                   : GetParam() == TtlLayout::kList ? TableKind::kList
                                                    : TableKind::kValue;
    options.ttl_layout = GetParam();
    options.ttl_ms = ttl_ms;
    options.separation_bytes = 100;
    table_ = db_.Values("t", options);
  }
  int64_t now_ms() { return db_.clock().WallMillis(); }
  void Tell() { db_->SetTime(now_ms()); }
  // Small values stay in key files, large ones go to value files.
  std::string ValueOf(int i) {
    std::string value = Stamp(now_ms()) + (i % 2 == 0 ? "small" : Large("v"));
    if (GetParam() == TtlLayout::kMap) return '\0' + value;
    if (GetParam() != TtlLayout::kList) return value;
    std::string list;
    AppendListSegment(ListSegment::kElement, value, &list);
    return list;
  }
  static std::string KeyOf(int i) { return K(1, "k" + std::to_string(1000 + i)); }
  void Put(int from = 0) {
    Tell();
    for (int i = from; i < from + kRecords; ++i) {
      if (GetParam() == TtlLayout::kList) {
        ASSERT_OK(db_->Append(table_, {KeyOf(i)}, ValueOf(i)));
      } else {
        ASSERT_OK(db_->Put(table_, {KeyOf(i)}, ValueOf(i)));
      }
    }
    ASSERT_OK(db_.Flush());
  }
  // Triggers everything that drops records: collections, and compactions of each level.
  void Drop() {
    ASSERT_OK(db_->Put(table_, {K(9, "stir")}, ValueOf(0)));
    ASSERT_OK(db_.Flush());
    ASSERT_OK(db_.RunJobs());
    ASSERT_OK(db_.CompactAll());
    ASSERT_OK(db_.RunJobs());
  }
  int There(int from = 0) {
    int there = 0;
    for (int i = from; i < from + kRecords; ++i) there += db_.Get(table_, KeyOf(i)) != "NotFound";
    return there;
  }

  ValueDB db_;
  Table* table_ = nullptr;
};

TEST_P(DBTtlClock, WhatIsWrittenAfterAStepBackStays) {
  Tell();
  db_.clock().Advance(kHourMs);
  Tell();
  db_.clock().StepWall(-kHourMs / 2);
  Put();
  Drop();
  EXPECT_EQ(There(), kRecords);
  db_.clock().Advance(kTtlMs);
  Tell();
  Drop();
  EXPECT_EQ(There(), 0) << "the records must expire after their TTL";
}

TEST_P(DBTtlClock, WhatAStepBackShowsAgainStays) {
  Put();
  db_.clock().Advance(kTtlMs);
  Tell();
  db_.clock().StepWall(-kTtlMs / 2);
  Tell();
  Drop();
  EXPECT_EQ(There(), kRecords);
}

// When the clock goes back without a report, the system's clock is checked.
TEST_P(DBTtlClock, AStepBackThatNobodyTellsHolds) {
  Put();
  db_.clock().Advance(kTtlMs);
  Tell();
  db_.clock().StepWall(-kTtlMs / 2);
  Drop();
  EXPECT_EQ(There(), kRecords);
}

TEST_P(DBTtlClock, AStepAheadThatIsTakenBackCostsNothing) {
  Put();
  db_.clock().StepWall(2 * kHourMs);
  Tell();
  Drop();
  for (int i = 0; i < 4; ++i) {
    // The steady clock has confirmed no more than this.
    db_.clock().Advance(kTtlMs / 100);
    Tell();
    Drop();
  }
  EXPECT_EQ(There(), kRecords);
  db_.clock().StepWall(-2 * kHourMs);
  Tell();
  Drop();
  EXPECT_EQ(There(), kRecords);
}

TEST_P(DBTtlClock, WhatIsWrittenAfterAStepAheadExpires) {
  Put();
  db_.clock().StepWall(2 * kHourMs);
  Put(100);
  db_.clock().Advance(kTtlMs / 2);
  Tell();
  Drop();
  EXPECT_EQ(There(), kRecords);
  EXPECT_EQ(There(100), kRecords);
  // The time since the step exceeds the new TTL.
  SetTable(kTtlMs / 4);
  Drop();
  EXPECT_EQ(There(), 0);
  EXPECT_LE(There(100), kRecords / 2)
      << "large values must be gone when the step is accepted, at the latest";
}

// The job was planned, or even ran, while the clock showed another time.
TEST_P(DBTtlClock, AStepBackDuringAJobHoldsForIt) {
  for (int reading = 1; reading <= 12; ++reading) {
    SCOPED_TRACE(reading);
    Open({}, "/db" + std::to_string(reading));
    Put();
    db_.clock().Advance(kTtlMs);
    Tell();
    ASSERT_OK(db_->Put(table_, {K(9, "stir")}, ValueOf(0)));
    // Each job reads the clock when it begins and when it ends.
    db_.clock().StepWallAtReading(reading, -kTtlMs / 2);
    ASSERT_OK(db_.Flush());
    ASSERT_OK(db_.RunJobs());
    ASSERT_OK(db_.CompactAll());
    ASSERT_OK(db_.RunJobs());
    db_.clock().StepWallAtReading(0, 0);
    const DBStatistics s = db_->statistics();
    if (s.records_expired + s.value_files_expired == 0) {
      EXPECT_EQ(There(), kRecords);
    }
    EXPECT_EQ(s.background_errors, 0u);
    if (reading == 1 || reading == 2) {
      EXPECT_EQ(There(), kRecords) << "no job had installed anything before the step";
    }
  }
}

TEST_P(DBTtlClock, ACheckpointRestoredUnderAClockThatIsAheadKeepsItsState) {
  Put();
  db_.clock().Advance(kTtlMs / 2);
  Tell();
  const TtlTime carried = db_->time();
  EXPECT_EQ(carried.time_ms, now_ms());
  const std::string metadata = db_.TakeTo("/restored");
  const ImportSource source{metadata, 0, 15};
  db_.clock().StepWall(2 * kHourMs);
  Open({&source, 1}, "/restored");
  db_->ContinueTime(carried);
  Tell();
  Drop();
  EXPECT_EQ(There(), kRecords);
  db_.clock().Advance(kTtlMs / 2);
  Tell();
  Drop();
  EXPECT_EQ(There(), 0) << "the records must expire by the steady clock";
}

// As after a canonical savepoint: old and new records share their files.
TEST_P(DBTtlClock, RecordsOfUnknownTimeStayBesideSomeThatExpire) {
  Put();
  const std::string metadata = db_.TakeTo("/restored");
  const ImportSource source{metadata, 0, 15};
  db_.clock().StepWall(2 * kHourMs);
  Open({&source, 1}, "/restored");
  db_->ContinueTime({});
  Tell();
  db_.clock().StepWall(-2 * kHourMs);
  std::vector<std::string> before;
  for (int i = 100; i < 100 + kRecords; ++i) before.push_back(ValueOf(i));
  db_.clock().StepWall(2 * kHourMs);
  for (int i = 100; i < 100 + kRecords; ++i)
    ASSERT_OK(db_->Put(table_, {KeyOf(i)}, before[static_cast<size_t>(i - 100)]));
  Put(200);
  db_.clock().Advance(kTtlMs);
  Tell();
  Drop();
  Drop();
  EXPECT_EQ(There(), kRecords);
  EXPECT_EQ(There(100), kRecords);
  EXPECT_EQ(There(200), 0) << "records of a known time must live no longer than usual";
}

TEST_P(DBTtlClock, AStepAheadIsAcceptedInTheEnd) {
  Put();
  db_.clock().StepWall(2 * kHourMs);
  Tell();
  db_.clock().Advance(2 * kHourMs);
  Tell();
  Drop();
  EXPECT_EQ(There(), 0);
}

TEST_P(DBTtlClock, ATimeThatIsKnownToBeRightIsAcceptedAtOnce) {
  Put();
  db_.clock().StepWall(2 * kHourMs);
  db_->AcceptTime(now_ms());
  Drop();
  EXPECT_EQ(There(), 0);
}

INSTANTIATE_TEST_SUITE_P(Layouts, DBTtlClock,
                         ::testing::Values(TtlLayout::kValue, TtlLayout::kMap, TtlLayout::kList),
                         [](const auto& layout) -> std::string {
                           switch (layout.param) {
                             case TtlLayout::kMap:
                               return "Map";
                             case TtlLayout::kList:
                               return "List";
                             default:
                               return "Value";
                           }
                         });

}  // namespace
}  // namespace lava::testing
