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

/// Brings the events of an instance to its listeners: whoever holds a lock of the instance queues
/// them, and whoever has given all of its locks back delivers what is queued.
/// Threads:    any. Listeners are called by one thread at a time, in the order of the queue, and
///             without a lock.
/// Errors:     none; what cannot be queued is dropped and counted, and so is what listeners throw.
class EventNotifier {
 public:
  /// The most events that wait for a slow listener. Later ones are dropped.
  static constexpr size_t kQueuedMax = 4096;

  EventNotifier(std::vector<std::shared_ptr<EventListener>> listeners, std::string path)
      : listeners_(std::move(listeners)), path_(std::move(path)) {}

  /// Whether it is worth making infos.
  bool listening() const { return !listeners_.empty(); }
  uint64_t NextId() { return next_id_.fetch_add(1, std::memory_order_relaxed); }

  /// Queues the info that make() returns, with the instance's path. The caller may hold any lock
  /// under which make() and the allocator may run.
  template <typename Info, typename Make>
  void Queue(void (EventListener::*call)(const Info&), const Make& make) noexcept {
    if (!listening()) return;
    Push([&] {
      Info told = make();
      told.path = path_;
      return [call, told = std::move(told)](EventListener& to) { (to.*call)(told); };
    });
  }
  /// A job begins: info gets its number, and listeners are told at once. No lock of the instance
  /// may be held.
  template <typename Info>
  void BeginJob(void (EventListener::*call)(const Info&), Info* info) noexcept {
    if (!listening()) return;
    info->job = NextId();
    Queue(call, [info] { return *info; });
    Deliver();
  }
  /// The job has ended. Does nothing if listeners were not told of its begin. Any lock may be held.
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
  /// Calls the listeners with all queued events. No lock of the instance may be held. If another
  /// thread is delivering, it delivers these events, too, and this call returns at once.
  void Deliver() noexcept LAVA_EXCLUDES(mutex_) {
    if (waiting_.load(std::memory_order_acquire)) DeliverQueued();
  }

  /// A stall begins, ends, or goes on as before. now: its cause and figures; nothing: no write
  /// waits. status: of the write that ends the stall. Any lock may be held. Returns whether an
  /// event was queued.
  bool StallIs(const std::optional<StallInfo>& now, const Status& status, uint64_t now_us) noexcept
      LAVA_EXCLUDES(mutex_);
  /// Whether listeners were told that a stall began, and not yet that it ended.
  bool is_stalled() const { return stalled_.load(std::memory_order_relaxed); }

  /// Delivers the rest, waits until listeners have returned, and calls none from then on. No lock
  /// of the instance may be held.
  void End() noexcept LAVA_EXCLUDES(mutex_);

  uint64_t listener_failures() const { return failures_.load(std::memory_order_relaxed); }
  uint64_t events_dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  using Event = std::function<void(EventListener&)>;

  template <typename Make>
  void Push(const Make& make) noexcept {
    bool settled = false;  // queued, or too late for anybody to be told
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
