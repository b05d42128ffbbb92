// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "lava/event_listener.h"
#include "lava/slice.h"
#include "packer.h"

namespace lava::jni {

/// Keeps the events of one instance until Java takes them. The memory is allocated by the
/// constructor and does not grow: if full, the oldest events are dropped, and counted.
/// Threads:    any. The engine's threads call the On... functions, and never call into Java. They
///             wait at most while Take() copies the ring.
/// Units:      bytes.
/// Errors:     none. Names and messages that are too long are cut. Names of tables that do not fit
///             into an event are left out.
class EventRing final : public EventListener {
 public:
  /// The most bytes that one event takes.
  static constexpr size_t kEventBytesMax = 1024;
  static constexpr size_t kBytesMax = 16u << 20;

  /// Holds one event at least. bytes: at most kBytesMax.
  explicit EventRing(size_t bytes);
  ~EventRing() override;
  EventRing(const EventRing&) = delete;
  EventRing& operator=(const EventRing&) = delete;

  /// The events since the last call, oldest first, as EngineEvents.java reads them: how many were
  /// dropped (8 bytes), and each event behind its length (2 bytes).
  std::string Take() LAVA_EXCLUDES(mutex_);

  void OnFlushBegin(const FlushInfo&) override;
  void OnFlushEnd(const FlushInfo&) override;
  void OnCompactionBegin(const CompactionInfo&) override;
  void OnCompactionEnd(const CompactionInfo&) override;
  void OnCollectionBegin(const CollectionInfo&) override;
  void OnCollectionEnd(const CollectionInfo&) override;
  void OnStallBegin(const StallInfo&) override;
  void OnStallEnd(const StallInfo&) override;
  void OnDamage(const DamageInfo&) override;
  void OnBackgroundErrorBegin(const BackgroundErrorInfo&) override;
  void OnBackgroundErrorEnd(const BackgroundErrorInfo&) override;
  void OnSnapshotTaken(const SnapshotInfo&) override;
  void OnSnapshotReleased(const SnapshotInfo&) override;
  void OnFileDeleted(const FileDeletedInfo&) override;
  void OnTableDropped(const TableDroppedInfo&) override;

 private:
  static constexpr size_t kLengthBytes = 2;

  void Add(Slice event) LAVA_EXCLUDES(mutex_);
  void DropOldest() LAVA_REQUIRES(mutex_);
  void Append(Slice bytes) LAVA_REQUIRES(mutex_);

  const size_t capacity_;
  Mutex mutex_;
  std::vector<char> bytes_ LAVA_GUARDED_BY(mutex_);  // of capacity_
  size_t begin_ LAVA_GUARDED_BY(mutex_) = 0, used_ LAVA_GUARDED_BY(mutex_) = 0;
  uint64_t dropped_ LAVA_GUARDED_BY(mutex_) = 0;
};

/// The tables for EngineEventsTest.java: each kind with its figures, then each enumeration of
/// causes with their names.
void PackEventTables(Packer* out);

}  // namespace lava::jni
