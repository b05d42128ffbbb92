// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/spin_lock.h"
#include "lava/event_listener.h"
#include "manifest/version.h"
#include "memtable/memtable.h"
#include "value_log/value_log_segment.h"

namespace lava {

/// A sealed memtable whose flush is not installed yet. Shared by the instance and by snapshots.
/// Threads:    TreeState::mutex() guards the fields that change.
struct SealedRun {
  std::shared_ptr<MemTable> memtable;
  std::vector<std::shared_ptr<ValueLogSegment>> segments;  // the memtable refers to them
  uint64_t sequence = 0;                                   // number of the seal; not stored
  uint64_t wal_last = 0;  // the last record of the write-ahead log in this sealed run
  FlushCause cause = FlushCause::kMemtableFull;  // cause of the seal
  // This sealed run is the newest of a snapshot, so no file has records of both this run and newer
  // runs.
  bool ends_snapshot = false;
  std::vector<uint64_t> dropped_tables;  // the run has range tombstones over all of their keys
  /// For SeparationTuner: the number of values that were put and are large enough to be separated,
  /// by table.
  std::map<uint64_t, uint64_t> separated_puts;
};

/// Sums over the files of a version, from which a scan estimates the bytes that it will read.
/// Threads: a value.
struct FileTotals {
  uint64_t records = 0;
  std::array<uint64_t, kLevelCountMax> level_bytes{};
};

inline FileTotals TotalsOf(const Version& version) {
  FileTotals totals;
  for (uint32_t n = 0; n < kLevelCountMax; ++n) {
    totals.records += version.sums.levels[n].entry_records;
    totals.level_bytes[n] = version.sums.levels[n].entry_bytes;
  }
  return totals;
}

/// All runs that a read visits: the active memtable, then the sealed runs, then the files.
/// Threads:    any. A published view is constant except for its reference count.
/// Ownership:  ViewRef counts the references.
struct ReadView {
  std::shared_ptr<MemTable> active;                // null in a snapshot's view
  std::vector<std::shared_ptr<SealedRun>> sealed;  // newest first
  std::shared_ptr<const Version> version;
  FileTotals totals;  // of this version or of an earlier one
  mutable std::atomic<uint32_t> references{0};
};

/// A counted reference to a view. The last reference deletes the view. May be null.
/// Threads:    one per reference.
class ViewRef {
 public:
  ViewRef() = default;
  explicit ViewRef(const ReadView* view) : view_(view) {
    if (view_ != nullptr) view_->references.fetch_add(1, std::memory_order_relaxed);
  }
  ViewRef(ViewRef&& other) noexcept : view_(std::exchange(other.view_, nullptr)) {}
  ViewRef& operator=(ViewRef&& other) noexcept {
    std::swap(view_, other.view_);
    return *this;
  }
  ViewRef(const ViewRef& other) : ViewRef(other.view_) {}
  ViewRef& operator=(const ViewRef&) = delete;
  ~ViewRef() {
    if (view_ != nullptr && view_->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete view_;
  }
  const ReadView* operator->() const { return view_; }
  const ReadView& operator*() const { return *view_; }
  explicit operator bool() const { return view_ != nullptr; }

 private:
  const ReadView* view_ = nullptr;
};

/// The view of a snapshot before a flush is published, and after.
struct FlushedView {
  ViewRef before, after;
};
/// By the snapshot's number.
using FlushedViews = std::map<uint64_t, FlushedView>;

/// The current view. A spin lock is held for a few instructions, while a reference is copied or
/// swapped.
/// Threads:    any.
class ViewCell {
 public:
  ViewRef Get() const {
    SpinLockGuard guard(&lock_);
    return current_;
  }
  void Set(ViewRef view) {
    SpinLockGuard guard(&lock_);
    std::swap(current_, view);
  }  // the reference to the old view is dropped after the guard has released the lock

 private:
  mutable SpinLock lock_;
  ViewRef current_ LAVA_GUARDED_BY(lock_);
};

}  // namespace lava
