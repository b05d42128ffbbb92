// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/mutex.h"
#include "lava/status.h"

namespace lava {

/// The requests of CompactAll(). Each request has a number, its ticket. One request is carried out
/// at a time. Requests that arrive in the meantime share the next ticket, because the current
/// compaction may have begun without their data.
/// Threads:    any. The mutex of this class is a leaf and may be taken under the mutexes of the
///             instance.
/// Errors:     none of its own. The message of a failure is dropped if memory for it is refused.
class ManualCompactions {
 public:
  /// The request that is carried out.
  struct Current {
    uint64_t sequence = 0;   // the newest sealed run that the compaction must include
    bool compacted = false;  // its compaction has begun
  };

  /// Requests a compaction of all data up to this sealed run. Returns the ticket.
  uint64_t Request(uint64_t sequence);
  /// Whether Request() has returned this ticket.
  bool IsKnown(uint64_t ticket) const;
  /// Waits until the request is done. Returns the status of the request that was done last, Busy
  /// after the deadline, or Closed.
  Status Await(uint64_t ticket, std::chrono::steady_clock::time_point deadline);
  /// Ends all current and future waits for requests that are not done.
  void Close();

  /// The request that is carried out now. No value if every request is done.
  std::optional<Current> current() const;
  /// compacted: the compaction of the current request has begun. False takes this back, because the
  /// compaction had no effect.
  void SetCompacted(bool compacted);
  /// The current request is done. Ignored without a current request, because FinishAll() may
  /// precede the end of the request's compaction.
  void Finish(const Status& status);
  /// No request can be carried out any more: ends all requests with this status.
  void FinishAll(const Status& status);

 private:
  bool IsActive() const LAVA_REQUIRES(mutex_) { return finished_ < requested_; }
  void FinishCurrent(const Status& status) LAVA_REQUIRES(mutex_);

  mutable Mutex mutex_;
  CondVar changed_;                                     // finished_ or closed_ has changed
  uint64_t requested_ LAVA_GUARDED_BY(mutex_) = 0;      // the last ticket
  uint64_t finished_ LAVA_GUARDED_BY(mutex_) = 0;       // the last ticket that is done
  uint64_t next_sequence_ LAVA_GUARDED_BY(mutex_) = 0;  // the sequence of the next request
  Current current_ LAVA_GUARDED_BY(mutex_);
  Status status_ LAVA_GUARDED_BY(mutex_);  // of the last request that was done
  bool closed_ LAVA_GUARDED_BY(mutex_) = false;
};

}  // namespace lava
