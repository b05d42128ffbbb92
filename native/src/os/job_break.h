// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "lava/status.h"
#include "os/pacer.h"

namespace lava {

/// Called by a job about once per record: fails when the job is cancelled, and now and then sleeps
/// when the job is ahead of its share of CPU time.
/// Threads:    one.
class JobBreak {
 public:
  /// Both may be null, and must outlive this object.
  JobBreak(const std::atomic<bool>* cancelled, os::Pacer* pacer)
      : cancelled_(cancelled), pacer_(pacer) {}

  /// Call after work on this many bytes. May sleep, so the caller must hold no lock.
  /// Errors:     Aborted once the job is cancelled.
  Status Look(uint64_t bytes) {
    unpaced_bytes_ += bytes + kRecordBytes;
    if (unpaced_bytes_ >= kPacedBytes) [[unlikely]] {
      unpaced_bytes_ = 0;
      if (pacer_ != nullptr) pacer_->Pace(cancelled_);
    }
    if (cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed)) [[unlikely]]
      return Status::Aborted("the instance is closing");
    return Status::OK();
  }

 private:
  // A few milliseconds of merging. A record costs at least as much as kRecordBytes.
  static constexpr uint64_t kPacedBytes = 256 << 10, kRecordBytes = 100;

  const std::atomic<bool>* const cancelled_;
  os::Pacer* const pacer_;
  uint64_t unpaced_bytes_ = 0;
};

}  // namespace lava
