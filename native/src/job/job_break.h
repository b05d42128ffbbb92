#pragma once

#include <atomic>
#include <cstdint>

#include "lava/status.h"
#include "os/pacer.h"

namespace lava {

/// Where a job looks up from its work, as often as once a record: whether to give up, and from time
/// to time whether it is ahead of the CPU time that it may use.
/// Threads:    one.
class JobBreak {
 public:
  /// Both may be null, and must outlive it.
  JobBreak(const std::atomic<bool>* cancelled, os::Pacer* pacer)
      : cancelled_(cancelled), pacer_(pacer) {}

  /// After work on so many bytes. May sleep: the caller holds no lock.
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
  // Some milliseconds of merging; a record costs as much as so many bytes, however small it is.
  static constexpr uint64_t kPacedBytes = 256 << 10, kRecordBytes = 100;

  const std::atomic<bool>* const cancelled_;
  os::Pacer* const pacer_;
  uint64_t unpaced_bytes_ = 0;
};

}  // namespace lava
