#include "job/ttl_filter.h"

#include "base/coding.h"
#include "base/list_parts.h"
#include "base/value_reference.h"
#include "lava/list_format.h"

namespace lava {

bool HasExpired(int64_t written_ms, int64_t ttl_ms, int64_t now_ms) {
  int64_t expiry_ms;
  if (__builtin_add_overflow(written_ms, ttl_ms, &expiry_ms)) return false;
  return expiry_ms <= now_ms;
}

bool HasExpired(const TableOptions* table, std::optional<uint64_t> written_ms, int64_t now_ms) {
  return table != nullptr && table->ttl_layout != TtlLayout::kNone && table->ttl_ms > 0 &&
         written_ms && HasExpired(static_cast<int64_t>(*written_ms), table->ttl_ms, now_ms);
}

TtlFilter::TtlFilter(const std::map<uint64_t, TableOptions>& tables, uint32_t partition_bytes,
                     int64_t now_ms)
    : tables_(tables, partition_bytes), now_ms_(now_ms) {
  for (const auto& [id, options] : tables)
    active_ |= options.ttl_layout != TtlLayout::kNone && options.ttl_ms > 0;
}

bool TtlFilter::IsExpired(Slice value, size_t offset, int64_t ttl_ms) const {
  if (value.size() < offset + 8) return false;
  return HasExpired(static_cast<int64_t>(DecodeBigEndian(value.data() + offset, 8)), ttl_ms,
                    now_ms_);
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
    if (!DecodeReference(record->value, &reference) ||
        !HasExpired(options, reference.timestamp, now_ms_))
      return Verdict::kKeep;
    ++expired_count_;
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
  if (!IsExpired(record->value, offset, options->ttl_ms)) return Verdict::kKeep;
  ++expired_count_;
  return Verdict::kExpired;
}

// False when the bytes are no segments; *expired counts elements, and the others go to left_.
bool TtlFilter::KeepLiving(Slice segments, int64_t ttl_ms, uint64_t* expired) {
  while (!segments.empty()) {
    ListSegment kind;
    Slice bytes;
    if (!NextListSegment(&segments, &kind, &bytes).ok()) return false;
    // Joined elements have no known boundaries: who wants them to expire writes them one by one.
    if (kind == ListSegment::kElement && IsExpired(bytes, 0, ttl_ms)) {
      ++*expired;
    } else {
      AppendListSegment(kind, bytes, &left_);
    }
  }
  return true;
}

TtlFilter::Verdict TtlFilter::ApplyList(Record* record, int64_t ttl_ms) {
  left_.clear();
  uint64_t expired = 0;
  if (!KeepLiving(record->value, ttl_ms, &expired)) return Verdict::kKeep;
  return LeaveLiving(record, expired);
}

// Of what value files hold, a part goes when all of its elements have expired.
TtlFilter::Verdict TtlFilter::ApplyParts(const TableOptions& options, Record* record) {
  if (!SplitList(record->value, &parts_).ok()) return Verdict::kKeep;
  left_.clear();
  uint64_t expired = 0;
  bool parts_left = false;
  for (const ListPart& part : parts_) {
    ValueReference reference;
    if (!part.is_reference) {
      if (!KeepLiving(part.bytes, options.ttl_ms, &expired)) return Verdict::kKeep;
    } else if (!ReferenceOf(part, &reference).ok()) {
      return Verdict::kKeep;
    } else if (HasExpired(&options, reference.timestamp, now_ms_)) {
      ++expired;
    } else {
      AppendListPart(part, &left_);
      parts_left = true;
    }
  }
  const Verdict verdict = LeaveLiving(record, expired);
  if (verdict == Verdict::kChanged && !parts_left) record->kind = WithoutParts(record->kind);
  return verdict;
}

TtlFilter::Verdict TtlFilter::LeaveLiving(Record* record, uint64_t expired) {
  if (expired == 0) return Verdict::kKeep;
  expired_count_ += expired;
  if (left_.empty()) return Verdict::kExpired;
  record->value = left_;
  return Verdict::kChanged;
}

}  // namespace lava
