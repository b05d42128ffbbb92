// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <tuple>

#include "lava/event_listener.h"

namespace lava::jni {

/// The functions of EventListener, in the order of EventKind.java.
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
  kBackgroundErrorBegin,
  kBackgroundErrorEnd,
  kSnapshotTaken,
  kSnapshotReleased,
  kFileDeleted,
  kTableDropped,
};

template <typename Info, typename T>
struct EventFigure {
  const char* name;
  T Info::*field;
};

template <typename Info, typename T>
EventFigure(const char*, T Info::*) -> EventFigure<Info, T>;

/// A figure under the name of its field.
#define LAVA_FIGURE(info, field) \
  EventFigure { #field, &info::field }

// The figures of each kind, in the order of EventKind.java. EngineEventsTest.java compares these
// tables with that enumeration.

inline constexpr std::tuple kFlushBeginFigures{
    LAVA_FIGURE(FlushInfo, memtables),
    LAVA_FIGURE(FlushInfo, memtable_bytes),
};
inline constexpr auto kFlushEndFigures =
    std::tuple_cat(kFlushBeginFigures, std::tuple{
                                           LAVA_FIGURE(FlushInfo, installed),
                                           LAVA_FIGURE(FlushInfo, files),
                                           LAVA_FIGURE(FlushInfo, file_bytes),
                                           LAVA_FIGURE(FlushInfo, value_file_bytes),
                                       });
inline constexpr std::tuple kCompactionBeginFigures{
    LAVA_FIGURE(CompactionInfo, trivial_move),     LAVA_FIGURE(CompactionInfo, input_level),
    LAVA_FIGURE(CompactionInfo, output_level),     LAVA_FIGURE(CompactionInfo, input_files),
    LAVA_FIGURE(CompactionInfo, input_file_bytes), LAVA_FIGURE(CompactionInfo, merged_value_files),
};
inline constexpr auto kCompactionEndFigures =
    std::tuple_cat(kCompactionBeginFigures, std::tuple{
                                                LAVA_FIGURE(CompactionInfo, installed),
                                                LAVA_FIGURE(CompactionInfo, output_files),
                                                LAVA_FIGURE(CompactionInfo, output_value_files),
                                                LAVA_FIGURE(CompactionInfo, read_bytes),
                                                LAVA_FIGURE(CompactionInfo, written_bytes),
                                                LAVA_FIGURE(CompactionInfo, written_value_bytes),
                                                LAVA_FIGURE(CompactionInfo, records_expired),
                                            });
inline constexpr std::tuple kCollectionBeginFigures{
    LAVA_FIGURE(CollectionInfo, input_files),
    LAVA_FIGURE(CollectionInfo, expired_files),
    LAVA_FIGURE(CollectionInfo, input_file_bytes),
    LAVA_FIGURE(CollectionInfo, garbage_bytes),
};
inline constexpr auto kCollectionEndFigures =
    std::tuple_cat(kCollectionBeginFigures, std::tuple{
                                                LAVA_FIGURE(CollectionInfo, installed),
                                                LAVA_FIGURE(CollectionInfo, output_files),
                                                LAVA_FIGURE(CollectionInfo, read_bytes),
                                                LAVA_FIGURE(CollectionInfo, written_bytes),
                                                LAVA_FIGURE(CollectionInfo, values_dead),
                                                LAVA_FIGURE(CollectionInfo, values_expired),
                                            });
inline constexpr std::tuple kStallFigures{
    LAVA_FIGURE(StallInfo, memtables),
    LAVA_FIGURE(StallInfo, level0_files),
    LAVA_FIGURE(StallInfo, file_bytes),
    LAVA_FIGURE(StallInfo, pinned_bytes),
};
inline constexpr std::tuple kBackgroundErrorFigures{
    LAVA_FIGURE(BackgroundErrorInfo, since_ms),
    LAVA_FIGURE(BackgroundErrorInfo, failures),
};
inline constexpr std::tuple kSnapshotFigures{
    LAVA_FIGURE(SnapshotInfo, memtable_bytes),
    LAVA_FIGURE(SnapshotInfo, file_bytes),
};
inline constexpr std::tuple<> kNoFigures{};

#undef LAVA_FIGURE

}  // namespace lava::jni
