#pragma once

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "base/coding.h"
#include "db/dead_ranges.h"
#include "db/internal_key.h"
#include "lava/db.h"

namespace lava {

class TableRegistry;

/// The handle of a table: its identity, its options, and the counts from which its bounds are
/// found. Threads:    any, except for counts that name a mutex of the instance: their callers hold
/// it. Ownership:  TableRegistry owns the handles until the instance is destroyed.
class TableImpl final : public Table {
 public:
  TableImpl(const TableRegistry* registry, std::string name, uint64_t id,
            const TableOptions& options)
      : registry_(registry), name_(std::move(name)), id_(id), kind_(options.kind) {
    EncodeBigEndian(id_bytes_, id, kTableIdBytes);
    SetOptions(options);
  }

  const std::string& name() const override { return name_; }
  uint64_t id() const override { return id_; }
  TableOptions options() const override {
    return {.kind = kind_,
            .ttl_layout = ttl_layout_.load(std::memory_order_relaxed),
            .ttl_ms = ttl_ms_.load(std::memory_order_relaxed),
            .separation_bytes = separation_bytes_.load(std::memory_order_relaxed)};
  }
  /// The kind stays as it is.
  void SetOptions(const TableOptions& options) {
    ttl_layout_.store(options.ttl_layout, std::memory_order_relaxed);
    ttl_ms_.store(options.ttl_ms, std::memory_order_relaxed);
    separation_bytes_.store(options.separation_bytes, std::memory_order_relaxed);
  }

  /// The bound found for kSeparationAutomatic. Set under state_mutex_.
  uint64_t chosen_separation() const { return chosen_separation_.load(std::memory_order_relaxed); }
  void SetChosenSeparation(uint64_t bytes) {
    chosen_separation_.store(bytes, std::memory_order_relaxed);
  }
  /// The size from which values are separated now; 0: never.
  uint64_t separation_now() const {
    const uint64_t bytes = separation_bytes_.load(std::memory_order_relaxed);
    return bytes == kSeparationAutomatic ? chosen_separation() : bytes;
  }
  /// Entries that scans have returned with their values.
  void CountScanned(uint64_t entries) { scanned_.fetch_add(entries, std::memory_order_relaxed); }
  /// Records that flushes have written. Under state_mutex_. Once `remembered` records are counted,
  /// all counts are halved, so that older ones weigh less.
  void CountWritten(uint64_t records, uint64_t remembered) {
    written_ += records;
    if (written_ < remembered) return;
    written_ /= 2;
    scanned_.store(scanned_.load(std::memory_order_relaxed) / 2, std::memory_order_relaxed);
  }
  /// Entries that scans returned, per record that a flush wrote. Under state_mutex_.
  double scanned_per_write() const {
    return static_cast<double>(scanned_.load(std::memory_order_relaxed)) /
           static_cast<double>(std::max<uint64_t>(1, written_));
  }

  /// The bound found for kLargeAutomatic. Set under state_mutex_.
  uint64_t chosen_large() const { return chosen_large_.load(std::memory_order_relaxed); }
  void SetChosenLarge(uint64_t bytes) { chosen_large_.store(bytes, std::memory_order_relaxed); }
  /// Values that are large enough to be separated and were put into the active memtable. Under
  /// write_mutex_.
  void CountApart() { ++apart_in_active_; }
  uint64_t TakeApart() { return std::exchange(apart_in_active_, 0); }
  /// Such values that were put, and how many of them a flush wrote. Under state_mutex_. Once
  /// `remembered` puts are counted, both counts are halved.
  void CountApartFlushed(uint64_t put, uint64_t flushed, uint64_t remembered) {
    apart_put_ += put;
    apart_flushed_ += std::min(flushed, put);
    if (apart_put_ < remembered) return;
    apart_put_ /= 2;
    apart_flushed_ /= 2;
  }
  uint64_t apart_put() const { return apart_put_; }
  /// The share of such values that died before a flush. Under state_mutex_.
  double died_in_memory() const {
    return 1 - static_cast<double>(apart_flushed_) /
                   static_cast<double>(std::max<uint64_t>(1, apart_put_));
  }

  /// Ranges in which scans found nothing.
  DeadRanges& dead() const { return dead_; }
  /// Whether a scan has skipped so many deleted records that the next scans remember such ranges.
  bool meets_dead() const { return meets_dead_.load(std::memory_order_relaxed); }
  void SetMeetsDead() { meets_dead_.store(true, std::memory_order_relaxed); }

  const TableRegistry* registry() const { return registry_; }
  TableKind kind() const { return kind_; }
  const char* id_bytes() const { return id_bytes_; }
  bool dropped() const { return dropped_.load(std::memory_order_acquire); }
  void SetDropped() { dropped_.store(true, std::memory_order_release); }

 private:
  const TableRegistry* const registry_;
  const std::string name_;
  const uint64_t id_;
  const TableKind kind_;
  char id_bytes_[kTableIdBytes];
  std::atomic<TtlLayout> ttl_layout_{TtlLayout::kNone};
  std::atomic<int64_t> ttl_ms_{0};
  std::atomic<uint64_t> separation_bytes_{0};
  std::atomic<uint64_t> chosen_separation_{kSeparationDefault}, scanned_{0};
  std::atomic<uint64_t> chosen_large_{UINT64_MAX};
  uint64_t apart_in_active_ = 0;                              // under write_mutex_
  uint64_t written_ = 0, apart_put_ = 0, apart_flushed_ = 0;  // under state_mutex_
  std::atomic<bool> dropped_{false}, meets_dead_{false};
  mutable DeadRanges dead_;
};

}  // namespace lava
