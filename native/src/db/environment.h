#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "db/internal_key.h"
#include "lava/db.h"
#include "os/executor.h"
#include "value/value_writer.h"

namespace lava {

/// Time as an instance sees it; tests put their own in.
/// Threads: any.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t WallMillis() = 0;
  virtual uint64_t MonotonicMicros() = 0;
  static Clock* System();
};

/// What an instance gets from outside besides its options.
struct DBEnvironment {
  os::Executor* executor = nullptr;  // null: the host's pool
  Clock* clock = nullptr;            // null: Clock::System()
  /// How long a call may wait before it answers Busy.
  uint32_t wait_ms_max = 100;
  /// How long failed work waits before it is tried again, doubled each time; for a write that waits
  /// for it always the least.
  uint64_t retry_us_min = 50'000, retry_us_max = 5'000'000;
  /// To what lists are folded; tests take less than gigabytes.
  uint64_t list_bytes_max = kListBytesMax;
  /// Above it a value goes to a value file as it is written; 0: by the memory, as options.h says.
  uint64_t value_in_memory_bytes_max = 0;
  /// Tests make more dictionaries than pay.
  DictionaryOptions value_dictionary;
  /// Tests make names collide.
  uint64_t (*table_id_of_name)(std::string_view name) = TableIdOfName;
};

/// DB::Open with the environment given.
Result<std::unique_ptr<DB>> OpenDB(const DBOptions& options, const std::string& path,
                                   std::span<const ImportSource> imports,
                                   const DBEnvironment& environment);

}  // namespace lava
