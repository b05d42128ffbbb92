// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "os/clock.h"

namespace lava {

/// The counters of an instance; DBStatistics explains most of them.
/// Threads:    any. Each counter is changed and read on its own, so a reader may see a newer value
///             of one counter than of another.
struct Counters {
  using Counter = std::atomic<uint64_t>;
  Counter flushes{0}, compactions{0}, trivial_moves{0};
  Counter flush_bytes_written{0}, compaction_bytes_read{0}, compaction_bytes_written{0};
  Counter memtable_killed_bytes{0};  // of sealed memtables
  Counter user_bytes_written{0}, reads{0}, writes{0}, scans{0};
  Counter value_bytes_written{0};  // by flushes and compactions
  Counter values_logged{0};
  Counter external_values{0}, entry_bytes{0};
  Counter scan_value_bytes{0};    // raw bytes of values that scans fetched from value files
  Counter merged_value_bytes{0};  // raw bytes of values that compactions rewrote
  // Raw bytes of values that compactions were planned to rewrite, by reason.
  Counter merged_for_garbage_bytes{0}, merged_for_order_bytes{0}, merged_down_bytes{0};
  Counter value_files_expired{0};  // dropped as a whole, without being read
  Counter collections{0}, collection_bytes_read{0}, collection_input_bytes{0},
      collection_bytes_written{0}, collection_values_dead{0};
  Counter flush_cpu_us{0}, compaction_cpu_us{0}, collection_cpu_us{0};
  Counter versions_installed{0}, install_cpu_us{0}, publish_cpu_us{0}, files_installed{0};
  Counter stall_us{0}, background_errors{0}, records_expired{0};
  Counter flush_stall_us{0}, compaction_stall_us{0}, space_stall_us{0};  // parts of stall_us
  Counter snapshots_given_up{0};
  Counter records_stepped_over{0};

  static void Add(Counter* counter, uint64_t n) {
    counter->fetch_add(n, std::memory_order_relaxed);
  }
  /// Cheaper than Add(), for counters that only one thread at a time changes.
  static void AddUnshared(Counter* counter, uint64_t n) {
    counter->store(counter->load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
};

/// Adds the CPU time that its thread uses during its lifetime to a counter. Units: microseconds.
/// Threads: one.
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
