#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/mutex.h"
#include "lava/slice.h"

namespace lava {

/// Limits how much is rewritten only to put values into the order of scans. Scans pay for that: the
/// values that they read from value files earn credit, and the values that compactions rewrite for
/// order spend it. Without scans nothing is rewritten for order.
///
/// The budget also limits how often a plan looks for such work, because a plan looks at all files.
/// Threads:    any. The own mutex is a leaf and may be taken under those of the instance.
/// Ownership:  borrows the counter of scanned bytes.
/// Units:      raw bytes of values.
class OrderBudget {
 public:
  /// scanned: values that scans have read from value files. percent: credit for 100 scanned bytes.
  OrderBudget(const std::atomic<uint64_t>* scanned, uint32_t percent, uint64_t value_file_bytes);

  /// Bytes that may be rewritten now.
  uint64_t Credit() const;
  /// A compaction that rewrites these bytes for order has been started.
  void Spend(uint64_t bytes);
  /// That compaction ended without its effect.
  void GiveBack(uint64_t bytes);

  /// Whether a plan should look for files to put in order.
  bool IsPlanDue() const;
  /// A plan found nothing to do below this credit. The next plan is due at that credit, or one step
  /// above the current credit if that is more.
  void PlanAgainAt(uint64_t credit);

  /// Whether to put the key file at `lower`, whose values overlap that much, in order. Hot and cold
  /// values go to different files, so a file may overlap as much after it was put in order as
  /// before. The same work is therefore only repeated once scans have earned as much again as had
  /// been spent. Otherwise sets when the next plan is due.
  bool MayOrder(Slice lower, uint32_t overlap);
  /// The file is about to be put in order, which costs so much: see MayOrder().
  void NoteOrder(Slice lower, uint32_t overlap, uint64_t cost);

  /// After a scan, without a lock: whether so much was scanned since the last time this returned
  /// true that a plan may find something.
  bool IsLookDue();

 private:
  uint64_t CreditAfter(uint64_t spent) const;
  void SetPlanAgainAt(uint64_t credit) LAVA_REQUIRES(mutex_);

  const std::atomic<uint64_t>* const scanned_;
  const uint32_t percent_;
  const uint64_t step_;            // that is worth a look
  std::atomic<uint64_t> look_at_;  // scanned bytes

  mutable Mutex mutex_;
  uint64_t spent_ LAVA_GUARDED_BY(mutex_) = 0;
  uint64_t plan_at_ LAVA_GUARDED_BY(mutex_) = 0;  // credit
  // The last file that was put in order, and the credit from which it may be done again.
  std::string ordered_lower_ LAVA_GUARDED_BY(mutex_);
  uint32_t ordered_overlap_ LAVA_GUARDED_BY(mutex_) = 0;
  uint64_t repeat_at_ LAVA_GUARDED_BY(mutex_) = 0;
};

}  // namespace lava
