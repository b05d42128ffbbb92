// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/internal_key.h"
#include "lava/db.h"
#include "os/executor.h"
#include "value/value_writer.h"

namespace lava {

/// The clock of an instance. Tests replace the system's clock.
/// Threads: any.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Milliseconds since the epoch. May jump, also backwards.
  virtual int64_t WallMillis() = 0;
  /// Microseconds since an arbitrary moment. Never goes backwards.
  virtual uint64_t MonotonicMicros() = 0;
  /// The system's clock.
  static Clock* System();
};

/// Dependencies and limits of an instance that are not options. Most are for tests.
/// Ownership: borrows the executor and the clock, which outlive the instance.
struct DBEnvironment {
  os::Executor* executor = nullptr;  // null: the host's pool
  Clock* clock = nullptr;            // null: Clock::System()
  /// The longest time that a call waits before it returns Busy.
  uint32_t wait_ms_max = 100;
  /// The first and the longest delay before failed work is retried. The delay doubles with each
  /// failure. Work that a write waits for is retried at once.
  uint64_t retry_us_min = 50'000, retry_us_max = 5'000'000;
  /// The largest list that merges fold; a larger list becomes ListSegment::kTooLong. Tests set a
  /// small limit.
  uint64_t list_bytes_max = kListBytesMax;
  /// Larger values are written to a value file at once. 0: depends on the memory; see options.h.
  uint64_t value_in_memory_bytes_max = 0;
  /// Tests use it to make dictionaries that do not pay off.
  DictionaryOptions value_dictionary;
  /// Computes the id of a table from its name. Tests use it to make ids collide.
  uint64_t (*table_id_of_name)(std::string_view name) = TableIdOfName;
};

/// DB::Open() with an environment.
Result<std::unique_ptr<DB>> OpenDB(const DBOptions& options, const std::string& path,
                                   std::span<const ImportSource> imports,
                                   const DBEnvironment& environment);

}  // namespace lava
