#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "base/spin_lock.h"
#include "job/log_segment.h"
#include "lava/event_listener.h"
#include "manifest/version.h"
#include "memtable/memtable.h"

namespace lava {

/// A sealed memtable that is not in a file yet. Shared by the DB and by snapshots.
/// Threads: fields that change are guarded by the DB's state mutex.
struct SealedRun {
  std::shared_ptr<MemTable> memtable;
  std::vector<std::shared_ptr<LogSegment>> segments;  // that it refers to
  uint64_t sequence = 0;                              // of the seal; never leaves memory
  uint64_t wal_last = 0;  // the last record of the write-ahead log that is in it
  FlushCause cause = FlushCause::kMemtableFull;  // of the seal
  bool ends_snapshot = false;  // a snapshot ends with it: it never shares a file with newer runs
  std::vector<uint64_t> dropped_tables;  // whose range tombstones it holds
  /// Values that were put and are apart by their size, by table; with a write-ahead log alone.
  std::map<uint64_t, uint64_t> apart;
};

/// What the files of a version hold, for who estimates what a scan will read of them.
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

/// What a read needs: runs from the newest to the oldest.
/// Threads: immutable once published.
struct ReadView {
  std::shared_ptr<MemTable> active;                // null in a snapshot's view
  std::vector<std::shared_ptr<SealedRun>> sealed;  // newest first
  std::shared_ptr<const Version> version;
  FileTotals totals;  // of that version, or of one shortly before
  mutable std::atomic<uint32_t> references{0};
};

/// A counted reference to a view.
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

/// Where the current view is found. The lock is held for a few instructions only: long enough to
/// count a reference.
/// Threads: any.
class ViewCell {
 public:
  ViewRef Get() const {
    SpinLockGuard guard(&lock_);
    return current_;
  }
  void Set(ViewRef view) {
    SpinLockGuard guard(&lock_);
    std::swap(current_, view);
  }  // the parameter, and with it the old view, ends after the guard

 private:
  mutable SpinLock lock_;
  ViewRef current_ LAVA_GUARDED_BY(lock_);
};

}  // namespace lava
