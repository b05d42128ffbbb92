// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/mutex.h"
#include "lava/event_listener.h"

namespace lava {

/// Delivers the events of an instance to its listeners. Threads queue events under locks of the
/// instance, and deliver the queue after they have released all locks.
/// Threads:    any. One thread at a time calls the listeners, in the order of the queue and without
///             a lock.
/// Errors:     none. Events that cannot be queued are dropped and counted. Exceptions of listeners
///             are caught and counted.
class EventNotifier {
 public:
  /// The maximum number of events that wait for a slow listener. Later events are dropped.
  static constexpr size_t kQueuedMax = 4096;

  EventNotifier(std::vector<std::shared_ptr<EventListener>> listeners, std::string path)
      : listeners_(std::move(listeners)), path_(std::move(path)) {}

  /// Whether there are listeners. Otherwise callers need not make infos.
  bool listening() const { return !listeners_.empty(); }
  uint64_t NextId() { return next_id_.fetch_add(1, std::memory_order_relaxed); }

  /// Queues the info that make() returns, with the instance's path. The caller may hold any lock
  /// under which make() and memory allocation are allowed.
  template <typename Info, typename Make>
  void Queue(void (EventListener::*call)(const Info&), const Make& make) noexcept {
    if (!listening()) return;
    Push([&] {
      Info told = make();
      told.path = path_;
      return [call, told = std::move(told)](EventListener& to) { (to.*call)(told); };
    });
  }
  /// A job begins: numbers the info, and delivers the event at once. The caller holds no lock of
  /// the instance.
  template <typename Info>
  void BeginJob(void (EventListener::*call)(const Info&), Info* info) noexcept {
    if (!listening()) return;
    info->job = NextId();
    Queue(call, [info] { return *info; });
    Deliver();
  }
  /// The job has ended: queues the event. Does nothing without a number from BeginJob(). The caller
  /// may hold any lock.
  template <typename Info>
  void EndJob(void (EventListener::*call)(const Info&), Info* info, const Status& status,
              uint64_t duration_us) noexcept {
    if (info->job == 0) return;
    info->duration_us = duration_us;
    Queue(call, [&] {
      Info told = *info;
      told.status = status;
      return told;
    });
  }
  /// Calls the listeners with all queued events. The caller holds no lock of the instance. If
  /// another thread is delivering, that thread also delivers these events, and this call returns at
  /// once.
  void Deliver() noexcept LAVA_EXCLUDES(mutex_) {
    if (waiting_.load(std::memory_order_acquire)) DeliverQueued();
  }

  /// Reports the current stall, and queues an event if a stall began or ended. now: cause and
  /// figures of the stall; no value: no write waits. status: result of the write that ends the
  /// stall. The caller may hold any lock. Returns whether an event was queued.
  bool StallIs(const std::optional<StallInfo>& now, const Status& status, uint64_t now_us) noexcept
      LAVA_EXCLUDES(mutex_);
  /// Whether the begin of a stall was reported to listeners, but not its end.
  bool is_stalled() const { return stalled_.load(std::memory_order_relaxed); }

  /// Delivers the remaining events, waits until listeners have returned, and calls no listener
  /// afterwards. The caller holds no lock of the instance.
  void End() noexcept LAVA_EXCLUDES(mutex_);

  uint64_t listener_failures() const { return failures_.load(std::memory_order_relaxed); }
  uint64_t events_dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  using Event = std::function<void(EventListener&)>;

  template <typename Make>
  void Push(const Make& make) noexcept {
    bool settled = false;  // the event is queued, or delivery has ended
    (void)Tried([&] {
      Event event = make();
      MutexLock lock(&mutex_);
      settled = ended_;
      if (ended_ || queue_.size() >= kQueuedMax) return;
      queue_.push_back(std::move(event));
      waiting_.store(true, std::memory_order_release);
      settled = true;
    });
    if (!settled) dropped_.fetch_add(1, std::memory_order_relaxed);
  }
  void DeliverQueued() noexcept LAVA_EXCLUDES(mutex_);
  void Call(const Event& event) noexcept;

  const std::vector<std::shared_ptr<EventListener>> listeners_;
  const std::string path_;  // of the instance
  std::atomic<uint64_t> next_id_{1};
  std::atomic<uint64_t> failures_{0}, dropped_{0};
  std::atomic<bool> waiting_{false};  // the queue is not empty
  std::atomic<bool> stalled_{false};

  Mutex mutex_;
  CondVar delivered_;  // delivering_ has become false
  std::deque<Event> queue_ LAVA_GUARDED_BY(mutex_);
  bool delivering_ LAVA_GUARDED_BY(mutex_) = false;
  bool ended_ LAVA_GUARDED_BY(mutex_) = false;
  std::optional<StallInfo> stall_ LAVA_GUARDED_BY(mutex_);
  uint64_t stalled_since_us_ LAVA_GUARDED_BY(mutex_) = 0;
};

}  // namespace lava
