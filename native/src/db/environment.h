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
  /// Microseconds since some moment. Never goes backwards.
  virtual uint64_t MonotonicMicros() = 0;
  /// The system's clock.
  static Clock* System();
};

/// Dependencies and limits of an instance that are no options. Most are for tests.
/// Ownership: borrows the executor and the clock, which outlive the instance.
struct DBEnvironment {
  os::Executor* executor = nullptr;  // null: the host's pool
  Clock* clock = nullptr;            // null: Clock::System()
  /// The longest time that a call waits before it returns Busy.
  uint32_t wait_ms_max = 100;
  /// How long failed work waits before it is tried again: the first time, and at most. The wait
  /// doubles with each failure. Work that a write waits for is tried again at once.
  uint64_t retry_us_min = 50'000, retry_us_max = 5'000'000;
  /// The largest list that merges fold; a larger one becomes ListSegment::kTooLong. Tests set less
  /// than gigabytes.
  uint64_t list_bytes_max = kListBytesMax;
  /// A larger value is written to a value file at once. 0: chosen by the memory; see options.h.
  uint64_t value_in_memory_bytes_max = 0;
  /// Tests make dictionaries that do not pay.
  DictionaryOptions value_dictionary;
  /// The ids of tables by their names. Tests make ids collide.
  uint64_t (*table_id_of_name)(std::string_view name) = TableIdOfName;
};

/// DB::Open() with an environment.
Result<std::unique_ptr<DB>> OpenDB(const DBOptions& options, const std::string& path,
                                   std::span<const ImportSource> imports,
                                   const DBEnvironment& environment);

}  // namespace lava
