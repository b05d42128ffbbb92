// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "read/ttl_filter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "base/coding.h"
#include "base/list_parts.h"
#include "base/record.h"
#include "base/value_reference.h"
#include "lava/list_format.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "policy/ttl_clock.h"

namespace lava {

bool HasExpired(int64_t written_ms, int64_t ttl_ms, int64_t now_ms) {
  int64_t expiry_ms;
  if (__builtin_add_overflow(written_ms, ttl_ms, &expiry_ms)) return false;
  return expiry_ms <= now_ms;
}

bool HasExpired(const TableOptions* table, std::optional<uint64_t> written_ms, int64_t now_ms) {
  return table != nullptr && Expires(*table) && written_ms &&
         HasExpired(static_cast<int64_t>(*written_ms), table->ttl_ms, now_ms);
}

TtlFilter::TtlFilter(const std::map<uint64_t, TableOptions>& tables, uint32_t partition_bytes,
                     const DropTime& time)
    : tables_(tables, partition_bytes), time_(time) {
  for (const auto& [id, options] : tables) active_ |= Expires(options);
}

bool TtlFilter::Drops(int64_t written_ms, int64_t ttl_ms) {
  if (!HasExpired(written_ms, ttl_ms, time_.For(written_ms))) return false;
  int64_t& latest = written_ms < time_.recent_from_ms ? dropped_.older_ms : dropped_.recent_ms;
  latest = std::max(latest, written_ms + ttl_ms);
  ++expired_count_;
  return true;
}

bool TtlFilter::Drops(Slice value, size_t offset, int64_t ttl_ms) {
  return value.size() >= offset + 8 &&
         Drops(static_cast<int64_t>(DecodeBigEndian(value.data() + offset, 8)), ttl_ms);
}

TtlFilter::Verdict TtlFilter::Apply(Record* record) {
  if (!active_) return Verdict::kKeep;
  const bool is_reference = record->kind == RecordKind::kPutReference;
  if (record->kind != RecordKind::kPut && !IsAppend(record->kind) && !HasParts(record->kind) &&
      !is_reference)
    return Verdict::kKeep;
  const TableOptions* options = tables_.OptionsOf(record->key);
  if (options == nullptr || options->ttl_layout == TtlLayout::kNone || options->ttl_ms <= 0)
    return Verdict::kKeep;
  if (is_reference) {
    ValueReference reference;
    if (!DecodeReference(record->value, &reference) || !reference.timestamp ||
        !Drops(static_cast<int64_t>(*reference.timestamp), options->ttl_ms))
      return Verdict::kKeep;
    return Verdict::kExpired;
  }
  switch (options->ttl_layout) {
    case TtlLayout::kNone:
      return Verdict::kKeep;
    case TtlLayout::kList:
      return HasParts(record->kind) ? ApplyParts(*options, record)
                                    : ApplyList(record, options->ttl_ms);
    case TtlLayout::kValue:
    case TtlLayout::kMap:
      break;
  }
  if (HasParts(record->kind)) return Verdict::kKeep;
  const size_t offset = options->ttl_layout == TtlLayout::kMap ? 1 : 0;
  return Drops(record->value, offset, options->ttl_ms) ? Verdict::kExpired : Verdict::kKeep;
}

// Copies elements that have not expired to left_. False if the bytes are not list segments.
bool TtlFilter::KeepLiving(Slice segments, int64_t ttl_ms) {
  while (!segments.empty()) {
    ListSegment kind;
    Slice bytes;
    if (!NextListSegment(&segments, &kind, &bytes).ok()) return false;
    // The boundaries of joined elements are unknown, so only elements written singly expire.
    if (kind != ListSegment::kElement || !Drops(bytes, 0, ttl_ms))
      AppendListSegment(kind, bytes, &left_);
  }
  return true;
}

TtlFilter::Verdict TtlFilter::ApplyList(Record* record, int64_t ttl_ms) {
  left_.clear();
  const uint64_t before = expired_count_;
  if (!KeepLiving(record->value, ttl_ms)) {
    expired_count_ = before;
    return Verdict::kKeep;
  }
  return LeaveLiving(record, before);
}

// A part in a value file is dropped when all of its elements have expired.
TtlFilter::Verdict TtlFilter::ApplyParts(const TableOptions& options, Record* record) {
  if (!SplitList(record->value, &parts_).ok()) return Verdict::kKeep;
  left_.clear();
  const uint64_t before = expired_count_;
  bool parts_left = false;
  for (const ListPart& part : parts_) {
    ValueReference reference;
    const bool sound = part.is_reference ? ReferenceOf(part, &reference).ok()
                                         : KeepLiving(part.bytes, options.ttl_ms);
    if (!sound) {
      expired_count_ = before;
      return Verdict::kKeep;
    }
    if (!part.is_reference) continue;
    if (reference.timestamp && Drops(static_cast<int64_t>(*reference.timestamp), options.ttl_ms))
      continue;
    AppendListPart(part, &left_);
    parts_left = true;
  }
  const Verdict verdict = LeaveLiving(record, before);
  if (verdict == Verdict::kChanged && !parts_left) record->kind = WithoutParts(record->kind);
  return verdict;
}

TtlFilter::Verdict TtlFilter::LeaveLiving(Record* record, uint64_t expired_before) {
  if (expired_count_ == expired_before) return Verdict::kKeep;
  if (left_.empty()) return Verdict::kExpired;
  record->value = left_;
  return Verdict::kChanged;
}

}  // namespace lava
