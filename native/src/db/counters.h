#pragma once

#include <atomic>
#include <cstdint>

#include "os/clock.h"

namespace lava {

/// What an instance counts as it works; see DBStatistics.
/// Threads: any; relaxed, a reader may see some ahead of others.
struct Counters {
  using Counter = std::atomic<uint64_t>;
  Counter flushes{0}, compactions{0}, trivial_moves{0};
  Counter flush_bytes_written{0}, compaction_bytes_read{0}, compaction_bytes_written{0};
  Counter memtable_killed_bytes{0};  // of sealed runs
  Counter user_bytes_written{0}, reads{0}, writes{0}, scans{0};
  Counter value_bytes_written{0};  // by flushes and compactions
  Counter values_logged{0};
  Counter external_values{0}, entry_bytes{0};
  Counter scan_value_bytes{0};    // raw, that scans fetched from value files
  Counter merged_value_bytes{0};  // raw, that compactions brought in to write them anew
  // The same as it was planned, by the reason.
  Counter merged_for_garbage_bytes{0}, merged_for_order_bytes{0}, merged_down_bytes{0};
  Counter value_files_expired{0};  // dropped whole, unread
  Counter gc_jobs{0}, gc_bytes_read{0}, gc_input_bytes{0}, gc_bytes_written{0}, gc_values_dead{0};
  Counter flush_cpu_us{0}, compaction_cpu_us{0}, gc_cpu_us{0};
  Counter versions_installed{0}, install_cpu_us{0}, files_installed{0};
  Counter stall_us{0}, background_errors{0}, records_expired{0};
  Counter flush_stall_us{0}, compaction_stall_us{0}, space_stall_us{0};  // of stall_us
  Counter snapshots_given_up{0};
  Counter records_stepped_over{0};

  static void Add(Counter* counter, uint64_t n) {
    counter->fetch_add(n, std::memory_order_relaxed);
  }
  /// For counters that one thread at a time writes: cheaper.
  static void AddUnshared(Counter* counter, uint64_t n) {
    counter->store(counter->load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
};

/// Counts the CPU time of the thread from its making to its end.
class CpuSpan {
 public:
  explicit CpuSpan(Counters::Counter* counter) : counter_(counter), began_(os::ThreadCpuMicros()) {}
  CpuSpan(const CpuSpan&) = delete;
  CpuSpan& operator=(const CpuSpan&) = delete;
  ~CpuSpan() { Counters::Add(counter_, os::ThreadCpuMicros() - began_); }

 private:
  Counters::Counter* const counter_;
  const uint64_t began_;
};

}  // namespace lava
