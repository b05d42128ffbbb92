// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/mutex.h"
#include "lava/event_listener.h"

namespace lava::testing {

/// One kind for each function of EventListener.
enum class EventKind : uint8_t {
  kFlushBegin,
  kFlushEnd,
  kCompactionBegin,
  kCompactionEnd,
  kCollectionBegin,
  kCollectionEnd,
  kStallBegin,
  kStallEnd,
  kDamage,
  kErrorBegin,
  kErrorEnd,
  kSnapshotTaken,
  kSnapshotReleased,
  kFileDeleted,
  kTableDropped,
};

/// Records all events, so that tests can inspect them and wait for them.
/// Threads:    any.
class RecordingListener final : public EventListener {
 public:
  struct Event {
    EventKind kind;
    std::variant<FlushInfo, CompactionInfo, CollectionInfo, StallInfo, DamageInfo,
                 BackgroundErrorInfo, SnapshotInfo, FileDeletedInfo, TableDroppedInfo>
        info;
    template <typename Info>
    const Info& As() const {
      return std::get<Info>(info);
    }
  };
  static constexpr std::chrono::seconds kWaitMax{60};

  /// Waits for an event of the kind for which is_it(info) holds, and returns the first one. None if
  /// there is none in time.
  template <typename Info, typename Predicate>
  std::optional<Info> WaitFor(EventKind kind, const Predicate& is_it,
                              std::chrono::milliseconds most = kWaitMax) {
    const auto until = std::chrono::steady_clock::now() + most;
    MutexLock lock(&mutex_);
    for (size_t seen = 0;;) {
      for (; seen < events_.size(); ++seen) {
        if (events_[seen].kind == kind && is_it(events_[seen].As<Info>()))
          return events_[seen].As<Info>();
      }
      const bool in_time = told_.WaitUntil(&mutex_, until);
      if (!in_time && seen == events_.size()) return std::nullopt;
    }
  }
  /// As above, for any event of the kind.
  template <typename Info>
  std::optional<Info> WaitFor(EventKind kind, std::chrono::milliseconds most = kWaitMax) {
    return WaitFor<Info>(
        kind, [](const Info&) { return true; }, most);
  }
  /// Returns when more than `seen` events were recorded, or when the time is over.
  void WaitForMoreThan(size_t seen, std::chrono::milliseconds most) {
    const auto until = std::chrono::steady_clock::now() + most;
    MutexLock lock(&mutex_);
    while (events_.size() <= seen && told_.WaitUntil(&mutex_, until)) {
    }
  }

  std::vector<Event> events() const {
    MutexLock lock(&mutex_);
    return events_;
  }
  size_t size() const {
    MutexLock lock(&mutex_);
    return events_.size();
  }
  template <typename Info>
  std::vector<Info> All(EventKind kind) const {
    MutexLock lock(&mutex_);
    std::vector<Info> all;
    for (const Event& event : events_)
      if (event.kind == kind) all.push_back(event.As<Info>());
    return all;
  }
  size_t count(EventKind kind) const {
    MutexLock lock(&mutex_);
    size_t count = 0;
    for (const Event& event : events_) count += event.kind == kind ? 1 : 0;
    return count;
  }
  void Clear() {
    MutexLock lock(&mutex_);
    events_.clear();
  }

  void OnFlushBegin(const FlushInfo& info) override { Add(EventKind::kFlushBegin, info); }
  void OnFlushEnd(const FlushInfo& info) override { Add(EventKind::kFlushEnd, info); }
  void OnCompactionBegin(const CompactionInfo& info) override {
    Add(EventKind::kCompactionBegin, info);
  }
  void OnCompactionEnd(const CompactionInfo& info) override {
    Add(EventKind::kCompactionEnd, info);
  }
  void OnCollectionBegin(const CollectionInfo& info) override {
    Add(EventKind::kCollectionBegin, info);
  }
  void OnCollectionEnd(const CollectionInfo& info) override {
    Add(EventKind::kCollectionEnd, info);
  }
  void OnStallBegin(const StallInfo& info) override { Add(EventKind::kStallBegin, info); }
  void OnStallEnd(const StallInfo& info) override { Add(EventKind::kStallEnd, info); }
  void OnDamage(const DamageInfo& info) override { Add(EventKind::kDamage, info); }
  void OnBackgroundErrorBegin(const BackgroundErrorInfo& info) override {
    Add(EventKind::kErrorBegin, info);
  }
  void OnBackgroundErrorEnd(const BackgroundErrorInfo& info) override {
    Add(EventKind::kErrorEnd, info);
  }
  void OnSnapshotTaken(const SnapshotInfo& info) override { Add(EventKind::kSnapshotTaken, info); }
  void OnSnapshotReleased(const SnapshotInfo& info) override {
    Add(EventKind::kSnapshotReleased, info);
  }
  void OnFileDeleted(const FileDeletedInfo& info) override { Add(EventKind::kFileDeleted, info); }
  void OnTableDropped(const TableDroppedInfo& info) override {
    Add(EventKind::kTableDropped, info);
  }

 private:
  template <typename Info>
  void Add(EventKind kind, const Info& info) {
    MutexLock lock(&mutex_);
    events_.push_back({kind, info});
    told_.NotifyAll();
  }

  mutable Mutex mutex_;
  CondVar told_;
  std::vector<Event> events_ LAVA_GUARDED_BY(mutex_);
};

}  // namespace lava::testing
