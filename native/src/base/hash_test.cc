// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/hash.h"

#include <gtest/gtest.h>

namespace lava {
namespace {

TEST(HashTest, IsStableForTheDisk) {
  EXPECT_EQ(Hash64(""), 0x2d06800538d394c2u);  // XXH3's published value for no bytes
  EXPECT_EQ(Hash64("lava", 0), Hash64("lava"));
  EXPECT_NE(Hash64("lava", 1), Hash64("lava"));
  EXPECT_NE(Hash64("lavb"), Hash64("lava"));
}

}  // namespace
}  // namespace lava
