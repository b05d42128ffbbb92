// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/event_notifier.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/guarded.h"
#include "base/mutex.h"
#include "lava/event_listener.h"
#include "lava/status.h"

namespace lava {

void EventNotifier::Call(const Event& event) noexcept {
  for (const std::shared_ptr<EventListener>& listener : listeners_)
    if (!Tried([&] { event(*listener); })) failures_.fetch_add(1, std::memory_order_relaxed);
}

void EventNotifier::DeliverQueued() noexcept {
  MutexLock lock(&mutex_);
  if (delivering_) return;
  delivering_ = true;
  while (!queue_.empty()) {
    Event event = std::move(queue_.front());
    queue_.pop_front();
    lock.Unlock();
    Call(event);
    event = nullptr;
    lock.Lock();
  }
  waiting_.store(false, std::memory_order_release);
  delivering_ = false;
  delivered_.NotifyAll();
}

bool EventNotifier::StallIs(const std::optional<StallInfo>& now, const Status& status,
                            uint64_t now_us) noexcept {
  if (!listening()) return false;
  std::optional<StallInfo> ended, began;
  const bool done = Tried([&] {
    MutexLock lock(&mutex_);
    if (ended_ || (stall_ ? now && now->cause == stall_->cause : !now)) return;
    if (now) {
      began = now;
      began->stall = NextId();
    }
    if (stall_) {
      ended = stall_;
      ended->duration_us = now_us - stalled_since_us_;
      ended->status = status;
    }
    std::optional<StallInfo> next = began;
    stall_.swap(next);
    stalled_since_us_ = now_us;
    stalled_ = stall_.has_value();
  });
  if (!done) dropped_.fetch_add(1, std::memory_order_relaxed);
  if (!done || (!ended && !began)) return false;
  if (ended) Queue(&EventListener::OnStallEnd, [&] { return *ended; });
  if (began) Queue(&EventListener::OnStallBegin, [&] { return *began; });
  return true;
}

void EventNotifier::End() noexcept {
  MutexLock lock(&mutex_);
  while (delivering_ || !queue_.empty()) {
    if (delivering_) {
      delivered_.Wait(&mutex_);
      continue;
    }
    lock.Unlock();
    DeliverQueued();
    lock.Lock();
  }
  ended_ = true;
}

}  // namespace lava
