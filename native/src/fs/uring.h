// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace lava::fs {

/// A read or write of one descriptor; the caller aligns offset, length and address.
struct UringCall {
  int descriptor = -1;
  uint64_t offset = 0;
  uint32_t length = 0;
  char* memory = nullptr;
  int result = 0;  // bytes done, or -errno; -ECANCELED: never started
};

/// One of the few io_uring rings of the process.
/// Threads:    one thread at a time.
/// Ownership:  the caller's until destruction, which gives the ring back to the process.
class Uring {
 public:
  enum class Outcome {
    kDone,  // every call has its result
    kLost,  // the kernel may still use the memory, which must never be freed
  };

  /// Null when the process cannot use io_uring; a permanent refusal is remembered.
  static std::unique_ptr<Uring> Take();
  virtual ~Uring() = default;
  /// Counts of all rings of this process; the kernel's own counters of a process leave them out.
  struct Totals {
    uint64_t reads = 0, bytes_read = 0;
    uint64_t writes = 0, bytes_written = 0;
  };
  static Totals TotalsNow();
  /// Begins reads, which run in parallel with the caller. Complete() must follow before any other
  /// call; the calls and their memory must stay in place until then. If there are very many reads,
  /// Complete() begins the rest.
  virtual void Start(std::span<UringCall> reads) = 0;
  virtual Outcome Complete() = 0;
  /// Begins a write, which runs in parallel with the caller. Finish() must follow before any other
  /// call; the call and its memory must stay in place until then. False: the write was not begun.
  virtual bool Begin(UringCall* write) = 0;
  virtual Outcome Finish(UringCall* write) = 0;
};

}  // namespace lava::fs
