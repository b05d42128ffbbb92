#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/mutex.h"
#include "lava/status.h"

namespace lava {

/// The requests of CompactAll(). Each has a number, its ticket, and one is carried out at a time.
/// Requests that come meanwhile share the next ticket: the compaction of the current one may have
/// begun without their data.
/// Threads:    any. The own mutex is a leaf and may be taken under those of the instance.
/// Errors:     none of its own; keeps the message of a failure only if there is memory for it.
class ManualCompactions {
 public:
  /// The request that is carried out.
  struct Current {
    uint64_t sequence = 0;   // the newest sealed run that the compaction must take in
    bool compacted = false;  // its compaction has begun
  };

  /// Asks for a compaction of everything up to this sealed run. Returns the ticket.
  uint64_t Request(uint64_t sequence);
  /// Whether Request() has returned this ticket.
  bool IsKnown(uint64_t ticket) const;
  /// Waits until the request is done. Returns the status of the request that was done last, Busy
  /// after the deadline, or Closed.
  Status Await(uint64_t ticket, std::chrono::steady_clock::time_point deadline);
  /// Ends all waits, also those to come, whose requests are not done.
  void Close();

  /// Nothing if every request is done.
  std::optional<Current> current() const;
  /// The current request's compaction has begun, or did not take place after all.
  void SetCompacted(bool compacted);
  /// The current request is done. Without effect if there is none: FinishAll() may have come before
  /// its compaction's end.
  void Finish(const Status& status);
  /// No request can be carried out any more: all are done.
  void FinishAll(const Status& status);

 private:
  bool IsActive() const LAVA_REQUIRES(mutex_) { return finished_ < requested_; }
  void FinishCurrent(const Status& status) LAVA_REQUIRES(mutex_);

  mutable Mutex mutex_;
  CondVar changed_;                                     // finished_ or closed_
  uint64_t requested_ LAVA_GUARDED_BY(mutex_) = 0;      // the last ticket
  uint64_t finished_ LAVA_GUARDED_BY(mutex_) = 0;       // the last ticket that is done
  uint64_t next_sequence_ LAVA_GUARDED_BY(mutex_) = 0;  // of the request behind the current one
  Current current_ LAVA_GUARDED_BY(mutex_);
  Status status_ LAVA_GUARDED_BY(mutex_);  // of the request that was done last
  bool closed_ LAVA_GUARDED_BY(mutex_) = false;
};

}  // namespace lava
