// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "base/coding.h"
#include "base/internal_key.h"
#include "db/dead_ranges.h"
#include "lava/db.h"

namespace lava {

class TableRegistry;

/// The handle of a table: its identity, its options, and counts of writes and scans.
/// Threads:    any, except where a function names a mutex that its caller holds.
/// Ownership:  TableRegistry owns the handles until the instance is destroyed.
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

  /// The bound of separation that SeparationTuner has found, for kSeparationAutomatic.
  uint64_t chosen_separation() const { return chosen_separation_.load(std::memory_order_relaxed); }
  void SetChosenSeparation(uint64_t bytes) {
    chosen_separation_.store(bytes, std::memory_order_relaxed);
  }
  /// The current size from which values are separated; 0: never.
  uint64_t separation_now() const {
    const uint64_t bytes = separation_bytes_.load(std::memory_order_relaxed);
    return bytes == kSeparationAutomatic ? chosen_separation() : bytes;
  }
  /// Whether a flush separates a value of this size. False for lists: see SeparatesSegments().
  bool Separates(uint64_t bytes) const {
    const uint64_t separated = separation_now();
    return separated != 0 && bytes >= separated && kind_ != TableKind::kList;
  }
  /// Whether a flush separates the segments that one append added to a list. Lists with expiring
  /// elements stay in the tree, because their elements are checked one by one.
  bool SeparatesSegments(uint64_t bytes) const {
    const uint64_t separated = separation_now();
    return separated != 0 && bytes >= separated &&
           ttl_layout_.load(std::memory_order_relaxed) == TtlLayout::kNone;
  }
  /// The bound of large values that SeparationTuner has found, for kLargeAutomatic.
  uint64_t chosen_large() const { return chosen_large_.load(std::memory_order_relaxed); }
  void SetChosenLarge(uint64_t bytes) { chosen_large_.store(bytes, std::memory_order_relaxed); }

  /// Entries that scans have returned with their values.
  uint64_t scanned() const { return scanned_.load(std::memory_order_relaxed); }
  void CountScanned(uint64_t entries) { scanned_.fetch_add(entries, std::memory_order_relaxed); }
  /// May lose entries that another thread counts at the same time.
  void HalveScanned() { scanned_.store(scanned() / 2, std::memory_order_relaxed); }
  /// The number of values that were put into the active memtable and are large enough to be
  /// separated. Callers of these three functions hold the mutex of Writer.
  uint64_t separated_puts() const { return separated_puts_; }
  void CountSeparatedPut() { ++separated_puts_; }
  void ResetSeparatedPuts() { separated_puts_ = 0; }

  /// Ranges in which scans found no visible record.
  DeadRanges& dead() const { return dead_; }
  /// Whether a scan has skipped so many deleted records that later scans remember such ranges.
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
  uint64_t separated_puts_ = 0;  // guarded by the mutex of Writer
  std::atomic<bool> dropped_{false}, meets_dead_{false};
  mutable DeadRanges dead_;
};

}  // namespace lava
