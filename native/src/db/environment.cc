// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/environment.h"

#include <cstdint>

#include "os/clock.h"

namespace lava {
namespace {

class SystemClock final : public Clock {
 public:
  int64_t WallMillis() override { return os::WallMillis(); }
  uint64_t MonotonicMicros() override { return os::MonotonicMicros(); }
};

}  // namespace

Clock* Clock::System() {
  static SystemClock clock;
  return &clock;
}

}  // namespace lava
