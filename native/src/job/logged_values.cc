#include "job/logged_values.h"

#include <utility>

#include "job/entry_segment.h"

namespace lava {
namespace {

// Of a segment's bytes, so much must live: else the flush collects it at once, while what died in
// it is known and nothing refers to it yet.
constexpr uint64_t kLivePercentMin = 75;
// The same where another layer has brought it away or will: what is written anew has to be brought
// there once more.
constexpr uint64_t kSharedLivePercentMin = 50;

}  // namespace

LoggedValues::LoggedValues(const std::vector<std::shared_ptr<LogSegment>>& segments) {
  for (const std::shared_ptr<LogSegment>& segment : segments)
    segments_[segment->id()].log = segment;
}

LoggedValues::Segment* LoggedValues::Of(const ValueReference& reference) {
  const auto at = segments_.find(reference.birth);
  return at == segments_.end() ? nullptr : &at->second;
}

void LoggedValues::Weigh(const Record& record) {
  ValueReference reference;
  if (record.kind != RecordKind::kPutReference || !DecodeReference(record.value, &reference))
    return;
  if (Segment* const segment = Of(reference)) segment->live_bytes += reference.logged_bytes;
}

void LoggedValues::Choose(ValueOutput* output) {
  for (auto& [id, segment] : segments_) {
    auto* const shared = dynamic_cast<EntrySegment*>(segment.log.get());
    const uint64_t percent_min = shared != nullptr ? kSharedLivePercentMin : kLivePercentMin;
    if (segment.live_bytes * 100 < segment.log->bytes() * percent_min) continue;
    if (shared != nullptr) {
      segment.kept = segment.ended = segment.live_bytes > 0 && shared->End().ok();
      if (segment.kept) output->Keep(*shared);
      continue;
    }
    std::unique_ptr<ValueLogWriter> writer = segment.log->TakeWriter();
    if (writer == nullptr) continue;
    segment.kept = true;
    output->Keep(std::move(writer));
  }
}

Status LoggedValues::Place(ValueOutput* output, Record* record) {
  ValueReference reference;
  Segment* segment = nullptr;
  if (DecodeReference(record->value, &reference)) segment = Of(reference);
  if (segment == nullptr || !reference.is_logged())
    return Status::Corruption("a memtable refers to a segment of the value log that it has not");
  if (!segment->kept) {
    LAVA_RETURN_IF_ERROR(segment->log->Read(record->key, reference, &value_));
    record->kind = RecordKind::kPut;
    record->value = value_;
    return Status::OK();
  }
  // The index of one that has ended names it.
  if (!segment->ended) LAVA_RETURN_IF_ERROR(output->AddLogged(record->key, reference));
  reference.logged_offset = reference.logged_bytes = 0;
  reference_.clear();
  EncodeReference(reference, &reference_);
  record->value = reference_;
  return Status::OK();
}

}  // namespace lava
