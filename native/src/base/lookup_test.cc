// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/lookup.h"

#include <gtest/gtest.h>

#include "lava/list_format.h"

namespace lava {
namespace {

std::shared_ptr<const std::string> Pinned(const char* text) {
  return std::make_shared<const std::string>(text);
}

TEST(LookupTest, AbsentWithoutAnyRecord) {
  Lookup lookup("key", 2);
  EXPECT_EQ(lookup.prefix(), "ke");
  EXPECT_TRUE(lookup.has_prefix());
  lookup.Finish();
  EXPECT_FALSE(lookup.found());
}

TEST(LookupTest, PinnedPutIsNotCopied) {
  auto value = Pinned("value that does not fit into a small string");
  std::string storage;
  Lookup lookup("key", 0, &storage);
  lookup.Tell(RecordKind::kPut, *value, value);
  EXPECT_TRUE(lookup.done());
  lookup.Finish();
  ASSERT_TRUE(lookup.found());
  EXPECT_EQ(lookup.value().data(), value->data());
  EXPECT_EQ(lookup.pin().get(), value.get());
  EXPECT_TRUE(storage.empty());
}

TEST(LookupTest, UnpinnedPutIsCopiedIntoTheStorage) {
  std::string storage;
  Lookup lookup("key", 0, &storage);
  std::string value = "value";
  lookup.Tell(RecordKind::kPut, value, nullptr);
  value = "other";
  lookup.Finish();
  EXPECT_EQ(lookup.value(), "value");
  EXPECT_EQ(lookup.value().data(), storage.data());
  EXPECT_EQ(lookup.pin(), nullptr);
}

TEST(LookupTest, EmptyValueIsFound) {
  Lookup lookup("key", 0);
  lookup.Tell(RecordKind::kPut, "", nullptr);
  lookup.Finish();
  EXPECT_TRUE(lookup.found());
  EXPECT_EQ(lookup.value(), "");
}

TEST(LookupTest, DeleteAndPrefixDeleteHideOlderRuns) {
  for (const RecordKind kind : {RecordKind::kDelete, RecordKind::kPrefixDelete}) {
    Lookup lookup("key", 0);
    lookup.Tell(kind, "", nullptr);
    EXPECT_TRUE(lookup.done());
    lookup.Finish();
    EXPECT_FALSE(lookup.found());
  }
}

// All combinations of pinned and copied bases and operands fold to the same value, oldest first.
TEST(LookupTest, OperandsFoldOldestFirst) {
  for (int pins = 0; pins < 8; ++pins) {
    auto base = Pinned("base,");
    auto older = Pinned("older,");
    auto newer = Pinned("newer");
    auto pin = [pins](int bit, const auto& value) -> std::shared_ptr<const void> {
      if ((pins >> bit & 1) != 0) return value;
      return nullptr;
    };
    Lookup lookup("key", 0);
    lookup.Tell(RecordKind::kAppend, *newer, pin(0, newer));
    EXPECT_FALSE(lookup.done());
    lookup.Tell(RecordKind::kAppend, *older, pin(1, older));
    lookup.Tell(RecordKind::kPut, *base, pin(2, base));
    EXPECT_TRUE(lookup.done());
    lookup.Finish();
    ASSERT_TRUE(lookup.found());
    EXPECT_EQ(lookup.value(), "base,older,newer") << pins;
    EXPECT_EQ(lookup.pin(), nullptr);
  }
}

TEST(LookupTest, OperandsWithoutABase) {
  auto only = Pinned("only one");
  Lookup pinned("key", 0);
  pinned.Tell(RecordKind::kAppend, *only, only);
  pinned.Finish();
  EXPECT_EQ(pinned.value().data(), only->data());

  Lookup copied("key", 0);
  copied.Tell(RecordKind::kAppend, *only, nullptr);
  copied.Finish();
  EXPECT_EQ(copied.value(), "only one");

  Lookup hidden("key", 0);
  for (int i = 0; i < 20; ++i) hidden.Tell(RecordKind::kAppend, "x", nullptr);
  hidden.Hide();
  hidden.Finish();
  EXPECT_TRUE(hidden.found());
  EXPECT_EQ(hidden.value(), std::string(20, 'x'));

  Lookup deleted("key", 0);
  deleted.Tell(RecordKind::kAppend, "new", nullptr);
  deleted.Tell(RecordKind::kDelete, "", nullptr);
  deleted.Finish();
  EXPECT_EQ(deleted.value(), "new");
}

TEST(LookupTest, AListPastTheLimitIsNotFolded) {
  auto base = Pinned("base,");
  for (const uint64_t limit : {15u, 14u}) {
    Lookup lookup("key", 0);
    lookup.list_bytes_max = limit;
    lookup.Tell(RecordKind::kAppend, "newer", nullptr);
    lookup.Tell(RecordKind::kAppend, "older", nullptr);
    lookup.Tell(RecordKind::kPut, *base, base);
    lookup.Finish();
    ASSERT_TRUE(lookup.found());
    std::string too_long;
    AppendTooLongSegment(15, limit, &too_long);
    EXPECT_EQ(lookup.value(), limit == 15 ? "base,oldernewer" : too_long);
    EXPECT_EQ(lookup.pin(), nullptr);
  }
}

TEST(LookupTest, ExistenceTakesNoValue) {
  auto value = Pinned("value");
  for (const RecordKind kind : {RecordKind::kPut, RecordKind::kAppend}) {
    Lookup lookup("key", 0);
    lookup.existence_only = true;
    lookup.Tell(kind, *value, value);
    EXPECT_TRUE(lookup.done());
    lookup.Finish();
    EXPECT_TRUE(lookup.found());
    EXPECT_EQ(lookup.pin(), nullptr);
    EXPECT_EQ(value.use_count(), 1);
  }
}

TEST(LookupDeathTest, ReferencesAreNotTold) {
  Lookup lookup("key", 0);
  EXPECT_DEATH(lookup.Tell(RecordKind::kPutReference, "", nullptr), "references");
}

}  // namespace
}  // namespace lava
