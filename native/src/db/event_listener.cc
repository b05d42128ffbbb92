// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "lava/event_listener.h"

#include <string_view>

namespace lava {

std::string_view NameOf(FlushCause cause) noexcept {
  switch (cause) {
    case FlushCause::kMemtableFull:
      return "memtable full";
    case FlushCause::kMemoryShared:
      return "memory of the lease full";
    case FlushCause::kSnapshot:
      return "snapshot";
    case FlushCause::kRequested:
      return "requested";
    case FlushCause::kCompactAll:
      return "compaction of all";
    case FlushCause::kReplay:
      return "replay";
  }
  return "unknown";
}

std::string_view NameOf(CompactionCause cause) noexcept {
  switch (cause) {
    case CompactionCause::kLevel0:
      return "files of level 0";
    case CompactionCause::kLevelSize:
      return "size of a level";
    case CompactionCause::kExposure:
      return "hidden garbage";
    case CompactionCause::kOrder:
      return "order of values";
    case CompactionCause::kManual:
      return "requested";
  }
  return "unknown";
}

std::string_view NameOf(CollectionCause cause) noexcept {
  switch (cause) {
    case CollectionCause::kGarbage:
      return "garbage";
    case CollectionCause::kExpired:
      return "expired values";
    case CollectionCause::kSpace:
      return "short of space";
  }
  return "unknown";
}

std::string_view NameOf(StallCause cause) noexcept {
  switch (cause) {
    case StallCause::kFlush:
      return "flushes";
    case StallCause::kLevel0:
      return "files of level 0";
    case StallCause::kSpaceSlowdown:
      return "slowed for space";
    case StallCause::kSpaceLimit:
      return "limit of space";
    case StallCause::kSpaceOfProcess:
      return "limit of space of the process";
  }
  return "unknown";
}

std::string_view NameOf(SnapshotEnd end) noexcept {
  switch (end) {
    case SnapshotEnd::kReleased:
      return "released";
    case SnapshotEnd::kGivenUp:
      return "given up";
    case SnapshotEnd::kClosed:
      return "closed";
  }
  return "unknown";
}

}  // namespace lava
