// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/expiry_time.h"

#include <cstdint>
#include <utility>

#include "base/mutex.h"
#include "lava/ttl_time.h"
#include "policy/ttl_clock.h"

namespace lava {

void ExpiryTime::Tell(int64_t now_ms) {
  MutexLock lock(&mutex_);
  if (!std::exchange(told_, true)) {
    // The system's clock says nothing about the clock of the layer above.
    ttl_clock_ = TtlClock();
    if (before_) ttl_clock_.Continue(*before_);
  }
  ttl_clock_.Tell(now_ms, clock_->MonotonicMicros());
}

void ExpiryTime::Accept(int64_t now_ms) {
  MutexLock lock(&mutex_);
  told_ = true;
  ttl_clock_.Accept(now_ms, clock_->MonotonicMicros());
}

void ExpiryTime::Continue(const TtlTime& before) {
  MutexLock lock(&mutex_);
  if (told_) return;
  before_ = before;
  ttl_clock_ = TtlClock();
  ttl_clock_.Continue(before);
}

TtlTime ExpiryTime::time() const {
  MutexLock lock(&mutex_);
  return ttl_clock_.time();
}

DropTime ExpiryTime::Now() {
  const int64_t wall_ms = clock_->WallMillis();
  MutexLock lock(&mutex_);
  if (!told_) ttl_clock_.Tell(wall_ms, clock_->MonotonicMicros());
  return ttl_clock_.drop_time(wall_ms);
}

}  // namespace lava
