// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value_log/logged_values.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/list_parts.h"
#include "base/record.h"
#include "base/value_reference.h"
#include "lava/status.h"
#include "value/value_log_writer.h"
#include "value_log/changelog_segment.h"
#include "value_log/value_log_segment.h"

namespace lava {
namespace {

// Percentage of a log segment's bytes that must be live. Otherwise the flush collects the segment
// at once, while its dead values are known and no file refers to it yet.
constexpr uint64_t kLivePercentMin = 75;
// The limit for a changelog segment, which another layer uploads: rewritten values must be uploaded
// again.
constexpr uint64_t kSharedLivePercentMin = 50;

}  // namespace

LoggedValues::LoggedValues(const std::vector<std::shared_ptr<ValueLogSegment>>& segments) {
  for (const std::shared_ptr<ValueLogSegment>& segment : segments)
    segments_[segment->id()].log = segment;
  LAVA_DCHECK(segments_.size() == segments.size());
}

LoggedValues::LoggedSegment* LoggedValues::Of(const ValueReference& reference) {
  auto at = segments_.upper_bound(reference.blob_file);
  if (at == segments_.begin() || !(--at)->second.log->Holds(reference.blob_file)) return nullptr;
  return &at->second;
}

void LoggedValues::WeighPart(const ValueReference& reference) {
  if (LoggedSegment* const segment = Of(reference)) segment->live_bytes += reference.logged_bytes;
}

// Ignores malformed records; Place() reports them.
void LoggedValues::Weigh(const Record& record) {
  ValueReference reference;
  if (record.kind == RecordKind::kPutReference && DecodeReference(record.value, &reference))
    WeighPart(reference);
  if (!HasParts(record.kind) || !SplitList(record.value, &parts_).ok()) return;
  for (const ListPart& part : parts_)
    if (part.is_reference && ReferenceOf(part, &reference).ok()) WeighPart(reference);
}

void LoggedValues::Choose(SegmentOutput* output) {
  for (auto& [id, segment] : segments_) {
    LAVA_DCHECK(!segment.kept && !segment.ended);  // called once
    auto* const shared = dynamic_cast<ChangelogSegment*>(segment.log.get());
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

Result<LoggedValues::LoggedSegment*> LoggedValues::LogSegmentOf(const ValueReference& reference) {
  LoggedSegment* const segment = Of(reference);
  if (segment != nullptr && reference.is_logged()) return segment;
  return Status::Corruption("a memtable refers to a segment of the value log that it has not");
}

Status LoggedValues::PlaceList(SegmentOutput* output, Record* record) {
  LAVA_RETURN_IF_ERROR(SplitList(record->value, &parts_));
  reference_.clear();
  bool parts_left = false;
  for (const ListPart& part : parts_) {
    if (!part.is_reference) {
      AppendListPart(part, &reference_);
      continue;
    }
    ValueReference reference;
    LAVA_RETURN_IF_ERROR(ReferenceOf(part, &reference));
    LAVA_ASSIGN_OR_RETURN(const LoggedSegment* const segment, LogSegmentOf(reference));
    if (segment->kept) {
      parts_left = true;
      if (!segment->ended) {
        // The file must not expire with its elements, because the list refers to it.
        ValueReference stays = reference;
        stays.timestamp.reset();
        LAVA_RETURN_IF_ERROR(output->AddLogged(record->key, stays));
      }
      reference.logged_offset = reference.logged_bytes = 0;
      AppendListReference(reference, &reference_);
    } else {
      LAVA_RETURN_IF_ERROR(segment->log->Read(record->key, reference, &value_));
      reference_.append(value_);
    }
  }
  if (!parts_left) record->kind = WithoutParts(record->kind);
  record->value = reference_;
  return Status::OK();
}

Status LoggedValues::Place(SegmentOutput* output, Record* record) {
  if (HasParts(record->kind)) return PlaceList(output, record);
  if (record->kind != RecordKind::kPutReference) return Status::OK();
  ValueReference reference;
  if (!DecodeReference(record->value, &reference))
    return Status::Corruption("a memtable's reference is malformed");
  LAVA_ASSIGN_OR_RETURN(const LoggedSegment* const segment, LogSegmentOf(reference));
  if (!segment->kept) {
    LAVA_RETURN_IF_ERROR(segment->log->Read(record->key, reference, &value_));
    record->kind = RecordKind::kPut;
    record->value = value_;
    return Status::OK();
  }
  // The index of a segment that has ended already contains the record.
  if (!segment->ended) LAVA_RETURN_IF_ERROR(output->AddLogged(record->key, reference));
  reference.logged_offset = reference.logged_bytes = 0;
  reference_.clear();
  EncodeReference(reference, &reference_);
  record->value = reference_;
  return Status::OK();
}

}  // namespace lava
