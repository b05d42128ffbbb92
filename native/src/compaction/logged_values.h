#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/list_parts.h"
#include "base/record.h"
#include "job/value_output.h"
#include "value_log/log_segment.h"

namespace lava {

/// Places the logged values of a memtable during its flush. A segment of the value log becomes a
/// value file as it is. If too much of it is dead, or it cannot be ended, its live values are
/// rewritten in key order.
/// Threads:    one.
class LoggedValues {
 public:
  explicit LoggedValues(const std::vector<std::shared_ptr<LogSegment>>& segments);

  /// Step 1: call for each live record, to count the live bytes of each segment.
  void Weigh(const Record& record);
  /// Step 2: chooses the segments to keep. Their indexes are written as records are placed.
  void Choose(ValueOutput* output);
  /// Step 3: replaces a logged reference by a reference to a file or by the value; also in the
  /// parts of a list. *record is valid until the next call.
  Status Place(ValueOutput* output, Record* record);

 private:
  struct Segment {
    std::shared_ptr<LogSegment> log;
    uint64_t live_bytes = 0;
    bool kept = false, ended = false;
  };
  Segment* Of(const ValueReference& reference);
  void WeighPart(const ValueReference& reference);
  Result<Segment*> SegmentOf(const ValueReference& reference);
  Status PlaceList(ValueOutput* output, Record* record);

  std::map<FileId, Segment> segments_;
  std::string value_, reference_;
  std::vector<ListPart> parts_;
};

}  // namespace lava
