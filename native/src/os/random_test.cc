// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "os/random.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace lava::os {
namespace {

TEST(RandomBitsTest, AreDifferentAndUseAllBits) {
  std::set<std::pair<uint64_t, uint64_t>> seen;
  Random128 ones;
  for (int i = 0; i < 1'000; ++i) {
    const Random128 bits = RandomBits128();
    EXPECT_TRUE(seen.insert({bits.high, bits.low}).second);
    ones.high |= bits.high;
    ones.low |= bits.low;
  }
  EXPECT_EQ(ones, (Random128{UINT64_MAX, UINT64_MAX}));
}

}  // namespace
}  // namespace lava::os
