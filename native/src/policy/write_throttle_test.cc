#include "policy/write_throttle.h"

#include <gtest/gtest.h>

namespace lava {
namespace {

struct Row {
  const char* name;
  ThrottleInput input;  // l0 files, trigger, sealed, max, room
  bool busy;
  ThrottleReason reason;
};

TEST(WriteThrottle, Table) {
  const Row rows[] = {
      {"idle", {0, 24, 0, 4, true}, false, ThrottleReason::kNone},
      {"one below the stall", {23, 24, 0, 4, true}, false, ThrottleReason::kNone},
      {"at the stall", {24, 24, 0, 4, true}, true, ThrottleReason::kL0Files},
      {"sealed runs full, but room", {0, 24, 4, 4, true}, false, ThrottleReason::kNone},
      {"sealed runs full, no room", {0, 24, 4, 4, false}, true, ThrottleReason::kSealedRuns},
      {"no room, one run free", {0, 24, 3, 4, false}, false, ThrottleReason::kNone},
      {"both: files are named", {30, 24, 9, 4, false}, true, ThrottleReason::kL0Files},
  };
  for (const Row& row : rows) {
    const ThrottleDecision got = DecideWrite(row.input);
    EXPECT_EQ(got.busy, row.busy) << row.name;
    EXPECT_EQ(got.reason, row.reason) << row.name;
  }
}

}  // namespace
}  // namespace lava
