// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "os/clock.h"

#include <time.h>

#include <cstdint>

#include "base/check.h"

namespace lava::os {
namespace {

timespec Now(clockid_t clock) {
  timespec now{};
  LAVA_CHECK(clock_gettime(clock, &now) == 0);
  return now;
}

uint64_t Micros(const timespec& t) {
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000 + static_cast<uint64_t>(t.tv_nsec) / 1'000;
}

}  // namespace

uint64_t MonotonicMicros() { return Micros(Now(CLOCK_MONOTONIC)); }

int64_t WallMillis() { return static_cast<int64_t>(Micros(Now(CLOCK_REALTIME)) / 1'000); }

uint64_t ThreadCpuMicros() { return Micros(Now(CLOCK_THREAD_CPUTIME_ID)); }

}  // namespace lava::os
