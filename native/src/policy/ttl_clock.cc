// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/ttl_clock.h"

#include <algorithm>
#include <cstdint>

#include "base/check.h"
#include "lava/ttl_time.h"

namespace lava {
namespace {

// Saturating, because a clock may report any value.
int64_t Plus(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

int64_t Minus(int64_t a, int64_t b) {
  int64_t difference;
  return __builtin_sub_overflow(a, b, &difference) ? (b < 0 ? INT64_MAX : INT64_MIN) : difference;
}

int64_t MillisSince(uint64_t then_us, uint64_t now_us) {
  return now_us <= then_us ? 0 : static_cast<int64_t>((now_us - then_us) / 1000);
}

}  // namespace

bool MayStillDrop(const DroppedExpiries& dropped, const DropTime& by, const DropTime& now) {
  // If another jump came meanwhile, records that were recent for the job are older ones now.
  const int64_t recent_ms = now.recent_from_ms <= by.recent_from_ms ? now.recent_ms : now.older_ms;
  return dropped.older_ms <= now.older_ms && dropped.recent_ms <= recent_ms;
}

void TtlClock::Continue(const TtlTime& before) {
  LAVA_CHECK(!told_);
  continues_ = true;
  older_ms_ = before.time_ms;
  lead_ms_ = std::max<int64_t>(before.lead_ms, 0);
  stood_before_ms_ = stood_ms_ = std::max<int64_t>(before.stood_ms, 0);
}

void TtlClock::Accept(int64_t now_ms, uint64_t steady_us) {
  told_ = true;
  Follow(now_ms, steady_us);
}

void TtlClock::Tell(int64_t now_ms, uint64_t steady_us) {
  if (!told_) {
    told_ = true;
    if (!continues_) return Follow(now_ms, steady_us);
    base_ms_ = older_ms_;
    base_us_ = steady_us;
    recent_from_ms_ = recent_ms_ = recent_base_ms_ = now_ms;
    lead_since_us_ = recent_base_us_ = steady_us;
  }
  const int64_t proven_ms = Proven(steady_us);
  if (now_ms <= proven_ms) return Follow(now_ms, steady_us);
  older_ms_ = proven_ms;
  MeetLead(now_ms, Minus(now_ms, proven_ms), steady_us);
}

int64_t TtlClock::Proven(uint64_t steady_us) const {
  if (base_ms_ == TtlTime::kUnknown) return base_ms_;
  return Plus(base_ms_, MillisSince(base_us_, steady_us));
}

// Takes now_ms as proven: the clock is not ahead of the proven time, or its lead is accepted.
void TtlClock::Follow(int64_t now_ms, uint64_t steady_us) {
  older_ms_ = recent_ms_ = now_ms;
  lead_ms_ = stood_before_ms_ = stood_ms_ = 0;
  recent_from_ms_ = INT64_MAX;
  // Keep the base if it agrees, so that rounding errors do not accumulate.
  if (now_ms == Proven(steady_us)) return;
  base_ms_ = now_ms;
  base_us_ = steady_us;
}

void TtlClock::BeginLead(int64_t now_ms, int64_t lead_ms, uint64_t steady_us) {
  lead_ms_ = lead_ms;
  stood_before_ms_ = stood_ms_ = 0;
  recent_from_ms_ = recent_ms_ = recent_base_ms_ = now_ms;
  lead_since_us_ = recent_base_us_ = steady_us;
}

void TtlClock::MeetLead(int64_t now_ms, int64_t lead_ms, uint64_t steady_us) {
  if (lead_ms_ == 0) return BeginLead(now_ms, lead_ms, steady_us);
  // The clock may have taken back a part of its lead.
  lead_ms_ = std::min(lead_ms_, lead_ms);
  stood_ms_ = Plus(stood_before_ms_, MillisSince(lead_since_us_, steady_us));
  if (stood_ms_ >= std::min(lead_ms_, kLeadMsMax)) {
    const int64_t accepted_ms = older_ms_ == TtlTime::kUnknown ? now_ms : Plus(older_ms_, lead_ms_);
    const int64_t left_ms = Minus(now_ms, accepted_ms);
    Follow(accepted_ms, steady_us);
    if (left_ms > 0) BeginLead(now_ms, left_ms, steady_us);
    return;
  }
  recent_ms_ = std::min(now_ms, Plus(recent_base_ms_, MillisSince(recent_base_us_, steady_us)));
  if (recent_ms_ == now_ms) {
    recent_base_ms_ = now_ms;
    recent_base_us_ = steady_us;
  }
}

TtlTime TtlClock::time() const { return {older_ms_, lead_ms_, stood_ms_}; }

DropTime TtlClock::drop_time(int64_t wall_ms) const {
  if (recent_from_ms_ == INT64_MAX) {
    const int64_t ms = std::min(older_ms_, wall_ms);
    return {.older_ms = ms, .recent_ms = ms};
  }
  return {.older_ms = std::min(older_ms_, wall_ms),
          .recent_ms = std::min(recent_ms_, wall_ms),
          .recent_from_ms = recent_from_ms_};
}

}  // namespace lava
