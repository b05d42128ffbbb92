// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "os/boot_id.h"

#include <gtest/gtest.h>

namespace lava::os {
namespace {

TEST(BootId, IsTheSameAsLongAsTheMachineRuns) { EXPECT_EQ(BootId(), BootId()); }

}  // namespace
}  // namespace lava::os
