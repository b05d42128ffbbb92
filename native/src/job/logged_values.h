#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/list_parts.h"
#include "base/record.h"
#include "job/log_segment.h"
#include "job/value_output.h"

namespace lava {

/// What a flush makes of values that were logged as they were put: a segment becomes a value file
/// as it stands; where too much of it died, or it cannot be ended, what lives is written anew,
/// sorted. Threads:    one.
class LoggedValues {
 public:
  explicit LoggedValues(const std::vector<std::shared_ptr<LogSegment>>& segments);

  /// First each record that lives,
  void Weigh(const Record& record);
  /// then which segments are kept: their indexes are written as records are placed.
  void Choose(ValueOutput* output);
  /// Turns a logged reference into one to a file, or into the value itself, and those of a list
  /// that has parts; valid until the next call.
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
