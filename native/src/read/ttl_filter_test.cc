// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "read/ttl_filter.h"

#include <gtest/gtest.h>

#include "base/coding.h"
#include "base/value_reference.h"
#include "lava/list_format.h"
#include "read/stamped_for_test.h"

namespace lava {
namespace {

constexpr uint64_t kValue = 1, kMap = 2, kList = 3, kNone = 4, kUnknown = 5, kNoLayout = 6;

std::string ListOf(std::initializer_list<int64_t> stamps) {
  std::string v;
  for (const int64_t t : stamps) AppendListSegment(ListSegment::kElement, Stamped(t), &v);
  return v;
}

class TtlFilterTest : public ::testing::Test {
 protected:
  TtlFilter::Verdict Apply(uint64_t table, Slice value, RecordKind kind = RecordKind::kPut) {
    std::string key(1, 'p');
    PutBigEndian(&key, table, kTableIdBytes);
    key += "rest";
    Record record{key, kind, 0, value};
    const auto verdict = filter_.Apply(&record);
    left_ = record.value;
    return verdict;
  }
  using V = TtlFilter::Verdict;
  const std::map<uint64_t, TableOptions> tables_ = {
      {kValue, {TableKind::kValue, TtlLayout::kValue, 100}},
      {kMap, {TableKind::kMap, TtlLayout::kMap, 100}},
      {kList, {TableKind::kList, TtlLayout::kList, 100}},
      {kNone, {TableKind::kValue, TtlLayout::kNone, 0}},
      {kNoLayout, {TableKind::kValue, TtlLayout::kNone, 100}},
  };
  TtlFilter filter_{tables_, 1, {.older_ms = 1000, .recent_ms = 1000}};
  std::string left_;
};

TEST_F(TtlFilterTest, ValuesExpireAtTheirTime) {
  EXPECT_EQ(Apply(kValue, Stamped(900)), V::kExpired);
  EXPECT_EQ(Apply(kValue, Stamped(901)), V::kKeep);
  EXPECT_EQ(Apply(kMap, "\0" + std::string() + '\0' + Stamped(900)), V::kExpired);
  EXPECT_EQ(Apply(kMap, std::string(1, '\0') + Stamped(950)), V::kKeep);
  EXPECT_EQ(filter_.expired_count(), 2u);
}

TEST_F(TtlFilterTest, KeepsWhatItCannotJudge) {
  EXPECT_EQ(Apply(kNone, Stamped(0)), V::kKeep);
  EXPECT_EQ(Apply(kUnknown, Stamped(0)), V::kKeep);
  EXPECT_EQ(Apply(kValue, "short"), V::kKeep);
  EXPECT_EQ(Apply(kMap, std::string(8, '\0')), V::kKeep);
  EXPECT_EQ(Apply(kValue, Stamped(INT64_MAX - 5)), V::kKeep);
  EXPECT_EQ(Apply(kValue, Stamped(0), RecordKind::kDelete), V::kKeep);
  EXPECT_EQ(Apply(kList, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), V::kKeep);
  Record short_key{"p12", RecordKind::kPut, 0, "0123456789"};
  EXPECT_EQ(filter_.Apply(&short_key), V::kKeep);
  EXPECT_EQ(filter_.expired_count(), 0u);
}

TEST_F(TtlFilterTest, ListElementsGoOneByOne) {
  EXPECT_EQ(Apply(kList, ListOf({950, 1000})), V::kKeep);
  EXPECT_EQ(Apply(kList, ListOf({10, 950, 20, 1000})), V::kChanged);
  EXPECT_EQ(left_, ListOf({950, 1000}));
  EXPECT_EQ(Apply(kList, ListOf({10, 20}), RecordKind::kAppend), V::kExpired);
  EXPECT_EQ(Apply(kList, ""), V::kKeep);
  EXPECT_EQ(filter_.expired_count(), 4u);
}

TEST_F(TtlFilterTest, JoinedElementsStay) {
  std::string list = ListOf({10});
  std::string joined;
  AppendListSegment(ListSegment::kJoined, Stamped(10) + "," + Stamped(20), &joined);
  EXPECT_EQ(Apply(kList, list + joined), V::kChanged);
  EXPECT_EQ(left_, joined);
}

// A reference carries its timestamp; the value may be older than the table's current options.
TEST_F(TtlFilterTest, ReferencesExpireByTheTimestampBesideThem) {
  const auto apply = [&](uint64_t table, std::optional<uint64_t> timestamp) {
    std::string reference;
    EncodeReference({{{1, 2}, 3}, 1000, timestamp}, &reference);
    return Apply(table, reference, RecordKind::kPutReference);
  };
  for (const uint64_t table : {kValue, kMap}) {
    EXPECT_EQ(apply(table, 900), V::kExpired);
    EXPECT_EQ(apply(table, 901), V::kKeep);
    EXPECT_EQ(apply(table, INT64_MAX), V::kKeep) << "the timestamp is beyond the clock's range";
    EXPECT_EQ(apply(table, std::nullopt), V::kKeep);
  }
  EXPECT_EQ(apply(kNone, 900), V::kKeep);
  EXPECT_EQ(apply(kUnknown, 900), V::kKeep);
  EXPECT_EQ(apply(kNoLayout, 900), V::kKeep) << "no record of the table ever expires";
  EXPECT_EQ(Apply(kValue, "no reference", RecordKind::kPutReference), V::kKeep);
  EXPECT_EQ(filter_.expired_count(), 2u);
}

TEST(TtlFilter, InactiveWithoutTtl) {
  const std::map<uint64_t, TableOptions> none;
  EXPECT_FALSE(TtlFilter(none, 1, {.older_ms = 5, .recent_ms = 5}).active());
}

}  // namespace
}  // namespace lava
