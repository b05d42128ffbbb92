// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/check.h"

#include <gtest/gtest.h>

namespace lava {
namespace {

TEST(CheckDeathTest, NamesConditionAndPlace) {
  const int one = 1;
  EXPECT_DEATH(LAVA_CHECK(one == 2), "check failed: one == 2 at .*check_test.cc:");
}

TEST(CheckTest, EvaluatesOnceWhenItHolds) {
  int count = 0;
  LAVA_CHECK(++count == 1);
  EXPECT_EQ(count, 1);
  bool evaluated = false;
  LAVA_DCHECK((evaluated = true));
#ifdef NDEBUG
  EXPECT_FALSE(evaluated);
#else
  EXPECT_TRUE(evaluated);
#endif
}

}  // namespace
}  // namespace lava
