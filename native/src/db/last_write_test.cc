// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/last_write.h"

#include <gtest/gtest.h>

namespace lava {
namespace {

// Tests compare the pointer but never use the table.
const TableImpl* SomeTable() {
  static const char table = 0;
  return reinterpret_cast<const TableImpl*>(&table);
}

TEST(LastWrite, IsTakenOnce) {
  LastWrite last;
  EXPECT_FALSE(last.is_noted());
  last.NoteFromNowOn();
  EXPECT_TRUE(last.is_noted());
  EXPECT_EQ(last.Take(), nullptr);
  last.Note(SomeTable(), "key", 2, 30);
  EXPECT_EQ(last.Take(), SomeTable());
  EXPECT_EQ(last.internal_key(), "key");
  EXPECT_EQ(last.prefix_bytes(), 2u);
  EXPECT_EQ(last.appended_bytes(), 30u);
  EXPECT_EQ(last.Take(), nullptr);
}

TEST(LastWrite, AnotherWriteForgetsIt) {
  LastWrite last;
  last.Note(SomeTable(), "key", 0, 0);
  last.Forget();
  EXPECT_EQ(last.Take(), nullptr);
}

}  // namespace
}  // namespace lava
