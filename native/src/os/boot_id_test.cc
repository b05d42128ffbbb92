#include "os/boot_id.h"

#include <gtest/gtest.h>

namespace lava::os {
namespace {

TEST(BootId, IsTheSameAsLongAsTheMachineRuns) { EXPECT_EQ(BootId(), BootId()); }

}  // namespace
}  // namespace lava::os
