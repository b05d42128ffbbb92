// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value_log/active_log_segments.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "value_log/value_log_segment.h"

namespace lava {
namespace {

// The index of a segment is in memory as a whole until the segment ends, so its records are
// limited.
constexpr uint64_t kRecordsMax = 64 << 10;
// A value of this size begins a segment. Otherwise a flush would have to rewrite the value if many
// of the values before it in the segment have died.
constexpr uint64_t kOwnSegmentBytes = 4 << 20;

}  // namespace

bool ActiveLogSegments::TakesEntry() const {
  return changelog_ != nullptr && changelog_->sound() && changelog_->bytes() < value_file_bytes_ &&
         changelog_->records() < kRecordsMax;
}

void ActiveLogSegments::PrepareForValue(uint64_t bytes) {
  if (bytes >= kOwnSegmentBytes) EndValues();
}

void ActiveLogSegments::ValueAppended(uint64_t bytes_before) {
  LAVA_DCHECK(values_ != nullptr && values_->bytes() >= bytes_before);
  value_bytes_ += values_->bytes() - bytes_before;
  full_ =
      !values_->sound() || value_bytes_ >= value_file_bytes_ || values_->records() >= kRecordsMax;
}

void ActiveLogSegments::EntryAppended(uint64_t bytes_before) {
  LAVA_DCHECK(changelog_ != nullptr && changelog_->bytes() >= bytes_before);
  entry_bytes_ += changelog_->bytes() - bytes_before;
  // Without this bound values that were overwritten in the memtable would take space until other
  // writes fill it.
  if (entry_bytes_ >= entry_bytes_max_) full_ = true;
}

std::vector<std::shared_ptr<ValueLogSegment>> ActiveLogSegments::Seal() {
  EndValues();
  EndChangelog();
  LAVA_DCHECK(values_ == nullptr && changelog_ == nullptr);
  value_bytes_ = entry_bytes_ = 0;
  full_ = false;
  return std::exchange(all_, {});
}

}  // namespace lava
