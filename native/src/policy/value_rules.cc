// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/value_rules.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lava/options.h"
#include "policy/collection_picker.h"
#include "policy/overlap_depth.h"

namespace lava {
namespace {

using MergeReasons = std::vector<ValueMergeReason>;
using Mergeables = std::vector<MergeableFile>;

// References outside the compaction keep their values alive; at most this percentage may remain.
constexpr uint64_t kLeftPercentMax = 10;
// A compaction reads and recompresses all live values; the collector looks up each key and copies.
// Above this average size of values, in bytes, the collector is cheaper.
constexpr uint64_t kMeanBytesMax = 1024;

bool HasGarbage(const MergeableFile& file, const ValueMergeOptions& options) {
  if (options.garbage_percent > 100 || file.garbage == 0) return false;
  const uint32_t worth = file.in_checkpoint ? options.checkpoint_percent : options.garbage_percent;
  return static_cast<double>(file.garbage) * 100 >= static_cast<double>(file.raw_bytes) * worth;
}

// Whether merging frees the file and costs less than a collection.
bool GoesWithInputs(const MergeableFile& file) {
  return file.raw_bytes / kMeanBytesMax <= file.records &&
         static_cast<double>(file.reached) * 100 >=
             static_cast<double>(file.referenced) * (100 - kLeftPercentMax);
}

double GarbageShare(const MergeableFile& file) {
  return static_cast<double>(file.garbage) / static_cast<double>(file.raw_bytes);
}

std::vector<uint32_t> OverlapsOf(const Mergeables& files) {
  std::vector<KeyRange> ranges;
  for (const MergeableFile& file : files) ranges.push_back(file.range);
  return OverlapCounts(ranges);
}

// Limits the bytes that a compaction rewrites. Spend() takes the files of one reason while the
// budget lasts, the highest measure first; the other files get a reason for being left.
class RewriteBudget {
 public:
  RewriteBudget(const Mergeables& files, const ValueMergeOptions& options, MergeReasons* reasons)
      : files_(files),
        left_(options.bytes_max),
        order_left_(options.order_bytes_max),
        upload_cost_percent_(options.upload_cost_percent),
        reasons_(*reasons) {}

  template <typename Measure>
  void Spend(ValueMergeReason reason, bool paid_by_scans, Measure measure) {
    std::vector<size_t> wanted;
    for (size_t i = 0; i < files_.size(); ++i)
      if (reasons_[i] == reason) wanted.push_back(i);
    std::stable_sort(wanted.begin(), wanted.end(),
                     [&](size_t a, size_t b) { return measure(a) > measure(b); });
    for (const size_t i : wanted) {
      const uint64_t bytes = files_[i].reached;
      const uint64_t cost = paid_by_scans ? OrderCost(files_[i], upload_cost_percent_) : 0;
      if (bytes > left_) {
        reasons_[i] = ValueMergeReason::kJobFull;
      } else if (cost > order_left_) {
        reasons_[i] = ValueMergeReason::kUnpaid;
      } else {
        left_ -= bytes;
        order_left_ -= cost;
      }
    }
  }

 private:
  const Mergeables& files_;
  uint64_t left_, order_left_;
  const uint32_t upload_cost_percent_;
  MergeReasons& reasons_;
};

// Reasons that hold under every policy; kOrdered if none applies.
ValueMergeReason FirstLook(const MergeableFile& file) {
  if (file.reached == 0) return ValueMergeReason::kUnreached;
  return file.busy ? ValueMergeReason::kBusy : ValueMergeReason::kOrdered;
}

class AutomaticRules final : public ValueRules {
 public:
  MergeReasons JudgeMerge(const Mergeables& files,
                          const ValueMergeOptions& options) const override {
    MergeReasons reasons;
    const std::vector<uint32_t> overlaps = OverlapsOf(files);
    for (size_t i = 0; i < files.size(); ++i) {
      ValueMergeReason reason = FirstLook(files[i]);
      if (reason == ValueMergeReason::kOrdered) {
        const bool dirty = HasGarbage(files[i], options);
        if (dirty && GoesWithInputs(files[i])) {
          reason = ValueMergeReason::kDirty;
        } else if (options.sorted_runs_max > 0 && overlaps[i] >= options.sorted_runs_max) {
          reason = options.low_enough ? ValueMergeReason::kOverlapping : ValueMergeReason::kTooHigh;
        } else if (dirty) {
          reason = ValueMergeReason::kCollection;
        }
      }
      reasons.push_back(reason);
    }
    RewriteBudget budget(files, options, &reasons);
    budget.Spend(ValueMergeReason::kDirty, false, [&](size_t i) { return GarbageShare(files[i]); });
    budget.Spend(ValueMergeReason::kOverlapping, true, [&](size_t i) { return overlaps[i]; });
    return reasons;
  }
  std::vector<size_t> PickCollection(const std::vector<CollectableFile>& files,
                                     const CollectionOptions& options) const override {
    return PickGarbage(files, options);
  }
};

class CollectRules : public ValueRules {
 public:
  MergeReasons JudgeMerge(const Mergeables& files,
                          const ValueMergeOptions& options) const override {
    MergeReasons reasons;
    for (const MergeableFile& file : files) {
      const ValueMergeReason reason = FirstLook(file);
      const bool dirty = reason == ValueMergeReason::kOrdered && HasGarbage(file, options);
      reasons.push_back(dirty ? ValueMergeReason::kCollection : reason);
    }
    return reasons;
  }
  std::vector<size_t> PickCollection(const std::vector<CollectableFile>& files,
                                     const CollectionOptions& options) const override {
    return PickGarbage(files, options);
  }
};

class GreedyRules final : public CollectRules {
 public:
  std::vector<size_t> PickCollection(const std::vector<CollectableFile>& files,
                                     const CollectionOptions& options) const override {
    // Ignores heat and uploads, and takes only one file.
    std::vector<CollectableFile> plain = files;
    for (CollectableFile& file : plain) file.hot = file.in_checkpoint = false;
    std::vector<size_t> picked = PickGarbage(plain, options);
    picked.resize(std::min<size_t>(picked.size(), 1));
    return picked;
  }
};

class MergeRules final : public ValueRules {
 public:
  MergeReasons JudgeMerge(const Mergeables& files,
                          const ValueMergeOptions& options) const override {
    MergeReasons reasons;
    const std::vector<uint32_t> overlaps = OverlapsOf(files);
    for (size_t i = 0; i < files.size(); ++i) {
      ValueMergeReason reason = FirstLook(files[i]);
      if (reason == ValueMergeReason::kOrdered) {
        if (!options.low_enough) {
          reason = ValueMergeReason::kTooHigh;
        } else if (files[i].level < options.output_level) {
          reason = ValueMergeReason::kMovesDown;
        } else if (HasGarbage(files[i], options)) {
          reason = ValueMergeReason::kDirty;
        } else if (options.sorted_runs_max > 0 && overlaps[i] >= options.sorted_runs_max) {
          reason = ValueMergeReason::kOverlapping;
        }
      }
      reasons.push_back(reason);
    }
    RewriteBudget budget(files, options, &reasons);
    budget.Spend(ValueMergeReason::kDirty, false, [&](size_t i) { return GarbageShare(files[i]); });
    budget.Spend(ValueMergeReason::kMovesDown, false, [&](size_t i) { return overlaps[i]; });
    budget.Spend(ValueMergeReason::kOverlapping, false, [&](size_t i) { return overlaps[i]; });
    return reasons;
  }
  std::vector<size_t> PickCollection(const std::vector<CollectableFile>& files,
                                     const CollectionOptions& options) const override {
    return options.last_resort ? PickGarbage(files, options) : std::vector<size_t>();
  }
};

}  // namespace

const char* NameOf(ValueMergeReason reason) {
  switch (reason) {
    case ValueMergeReason::kUnreached:
      return "left, nothing of it is reached";
    case ValueMergeReason::kBusy:
      return "left, another job has it";
    case ValueMergeReason::kOrdered:
      return "left, nothing is gained";
    case ValueMergeReason::kCollection:
      return "left to a collection";
    case ValueMergeReason::kTooHigh:
      return "left, the level is too high";
    case ValueMergeReason::kUnpaid:
      return "left, too few scans";
    case ValueMergeReason::kJobFull:
      return "left, the job is large enough";
    case ValueMergeReason::kDirty:
      return "merged, for its garbage";
    case ValueMergeReason::kOverlapping:
      return "merged, for its overlaps";
    case ValueMergeReason::kMovesDown:
      return "merged, its keys move down";
  }
  return "";
}

const ValueRules& RulesOf(ValuePolicy policy) {
  static const AutomaticRules automatic;
  static const CollectRules collect;
  static const MergeRules merge;
  static const GreedyRules greedy;
  switch (policy) {
    case ValuePolicy::kCollect:
      return collect;
    case ValuePolicy::kMerge:
      return merge;
    case ValuePolicy::kGreedy:
      return greedy;
    case ValuePolicy::kAutomatic:
      break;
  }
  return automatic;
}

}  // namespace lava
