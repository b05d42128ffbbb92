// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "value_log/changelog_segment.h"
#include "value_log/value_log_segment.h"

namespace lava {

/// The segments that the active memtable refers to: those of the value log, which hold large
/// values, and changelog segments. At most one of each kind takes new records at a time.
///
/// Threads:    none of its own: the mutex of Writer guards it.
/// Ownership:  shares the segments with memtables and the changelog. Removes no file.
class ActiveLogSegments {
 public:
  /// Units: bytes. value_file_bytes: the intended size of a value file. entry_bytes_max: of all
  /// changelog segments of one memtable.
  ActiveLogSegments(uint64_t value_file_bytes, uint64_t entry_bytes_max)
      : value_file_bytes_(value_file_bytes), entry_bytes_max_(entry_bytes_max) {}

  /// The segment that large values go to; null: the next value needs a new one.
  ValueLogSegment* values() const { return values_.get(); }
  /// The changelog segment that entries go to; null: the next entry needs a new one.
  ChangelogSegment* changelog() const { return changelog_.get(); }
  /// Whether the changelog segment can take another entry.
  bool TakesEntry() const;
  /// Of both kinds, in the order in which they were added.
  const std::vector<std::shared_ptr<ValueLogSegment>>& all() const { return all_; }
  bool empty() const { return all_.empty(); }
  /// The memtable has to be sealed before the next write: its segments have reached their size, or
  /// one of the value log has failed.
  bool full() const { return full_; }

  /// The memtable may refer to this segment, too.
  void Add(std::shared_ptr<ValueLogSegment> segment) { all_.push_back(std::move(segment)); }
  /// Values go to this segment from now on, which was added.
  void BeginValues(std::shared_ptr<ValueLogSegment> segment) {
    LAVA_DCHECK(!all_.empty() && all_.back() == segment);
    values_ = std::move(segment);
  }
  /// Entries go to this segment from now on, which was added.
  void BeginChangelog(std::shared_ptr<ChangelogSegment> segment) {
    LAVA_DCHECK(!all_.empty() && all_.back() == segment);
    changelog_ = std::move(segment);
  }
  /// A value of this size is about to be written. If it is so large that it must not follow other
  /// values, it gets a new segment.
  void PrepareForValue(uint64_t bytes);
  /// A value was appended to values(), which had bytes_before until then, or that failed.
  void ValueAppended(uint64_t bytes_before);
  /// An entry was appended to changelog(), which had bytes_before until then.
  void EntryAppended(uint64_t bytes_before);
  /// The segment takes no more records but stays one of the memtable's.
  void EndValues() { values_.reset(); }
  void EndChangelog() { changelog_.reset(); }

  /// The memtable is sealed: returns its segments, and the next one has none.
  std::vector<std::shared_ptr<ValueLogSegment>> Seal();

 private:
  const uint64_t value_file_bytes_, entry_bytes_max_;
  std::vector<std::shared_ptr<ValueLogSegment>> all_;
  std::shared_ptr<ValueLogSegment> values_;
  std::shared_ptr<ChangelogSegment> changelog_;
  uint64_t value_bytes_ = 0, entry_bytes_ = 0;  // of all segments of the kind
  bool full_ = false;
};

}  // namespace lava
