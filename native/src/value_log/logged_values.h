// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/list_parts.h"
#include "base/record.h"
#include "value_log/changelog_segment.h"
#include "value_log/value_log_segment.h"

namespace lava {

/// What a flush makes of the log segments of its memtables.
/// Threads:    one.
class SegmentOutput {
 public:
  /// Makes a segment of the value log one of the flush's files.
  virtual void Keep(std::unique_ptr<ValueLogWriter> writer) = 0;
  /// As above, for a segment that has ended. The segment must outlive this object.
  virtual void Keep(const ChangelogSegment& segment) = 0;
  /// Adds a live value of a kept segment to the segment's index. Keys must ascend.
  virtual Status AddLogged(Slice key, const ValueReference& reference) = 0;

 protected:
  ~SegmentOutput() = default;
};

/// Places the logged values of a memtable during its flush. A segment of the value log becomes a
/// value file as it is. If too much of it is dead, or it cannot be ended, its live values are
/// rewritten in key order.
/// Threads:    one.
class LoggedValues {
 public:
  explicit LoggedValues(const std::vector<std::shared_ptr<ValueLogSegment>>& segments);

  /// Step 1: call for each live record, to count the live bytes of each segment.
  void Weigh(const Record& record);
  /// Step 2: chooses the segments to keep. Their indexes are written as records are placed.
  void Choose(SegmentOutput* output);
  /// Step 3: replaces a logged reference by a reference to a file or by the value; also in the
  /// parts of a list. *record is valid until the next call.
  Status Place(SegmentOutput* output, Record* record);

 private:
  struct LoggedSegment {
    std::shared_ptr<ValueLogSegment> log;
    uint64_t live_bytes = 0;
    bool kept = false, ended = false;
  };
  LoggedSegment* Of(const ValueReference& reference);
  void WeighPart(const ValueReference& reference);
  Result<LoggedSegment*> LogSegmentOf(const ValueReference& reference);
  Status PlaceList(SegmentOutput* output, Record* record);

  std::map<FileId, LoggedSegment> segments_;
  std::string value_, reference_;
  std::vector<ListPart> parts_;
};

}  // namespace lava
