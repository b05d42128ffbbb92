// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/mutex.h"
#include "lava/slice.h"

namespace lava {

/// Limits the values that are rewritten only to put them in key order. Scans earn credit with the
/// values that they read from value files, and compactions spend credit with the values that they
/// rewrite for order. Without scans nothing is rewritten for order.
///
/// The budget also limits the number of plans that look for such work, because a plan looks at all
/// files.
/// Threads:    any. The mutex of this class is a leaf and may be taken under the mutexes of the
///             instance.
/// Ownership:  borrows the counter of scanned bytes.
/// Units:      raw bytes of values.
class OrderBudget {
 public:
  /// scanned: bytes that scans have read from value files. percent: credit for 100 scanned bytes.
  OrderBudget(const std::atomic<uint64_t>* scanned, uint32_t percent, uint64_t value_file_bytes);

  /// The bytes that may be rewritten now.
  uint64_t Credit() const;
  /// A compaction that rewrites these bytes for order was started.
  void Spend(uint64_t bytes);
  /// A compaction ended without effect. bytes: as passed to Spend().
  void GiveBack(uint64_t bytes);

  /// Whether a plan should look for files to put in order.
  bool IsPlanDue() const;
  /// A plan found nothing to do below this credit. The next plan is due at this credit. If the
  /// current credit is not lower, the next plan is due one step above the current credit.
  void PlanAgainAt(uint64_t credit);

  /// Whether to put the values of the key file at `lower` in order. overlap: the overlap of its
  /// value files. Hot and cold values go to different files, so the overlap may be as high
  /// afterwards as before. The same work is therefore only repeated once scans have earned as much
  /// credit again as had been spent. If the result is false, sets the credit at which the next plan
  /// is due.
  bool MayOrder(Slice lower, uint32_t overlap);
  /// The values of the file are about to be put in order at this cost. See MayOrder().
  void NoteOrder(Slice lower, uint32_t overlap, uint64_t cost);

  /// Called after a scan, without a lock. Whether enough was scanned for a plan since the call last
  /// returned true.
  bool IsLookDue();

 private:
  uint64_t CreditAfter(uint64_t spent) const;
  void SetPlanAgainAt(uint64_t credit) LAVA_REQUIRES(mutex_);

  const std::atomic<uint64_t>* const scanned_;
  const uint32_t percent_;
  const uint64_t step_;            // scanned bytes between two looks
  std::atomic<uint64_t> look_at_;  // scanned bytes

  mutable Mutex mutex_;
  uint64_t spent_ LAVA_GUARDED_BY(mutex_) = 0;
  uint64_t plan_at_ LAVA_GUARDED_BY(mutex_) = 0;  // credit
  // The last file that was put in order, and the credit at which it may be put in order again.
  std::string ordered_lower_ LAVA_GUARDED_BY(mutex_);
  uint32_t ordered_overlap_ LAVA_GUARDED_BY(mutex_) = 0;
  uint64_t repeat_at_ LAVA_GUARDED_BY(mutex_) = 0;
};

}  // namespace lava
