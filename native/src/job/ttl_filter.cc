#include "job/ttl_filter.h"

#include "base/coding.h"
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
  if (record->kind != RecordKind::kPut && record->kind != RecordKind::kAppend && !is_reference)
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
      return ApplyList(record, options->ttl_ms);
    case TtlLayout::kValue:
    case TtlLayout::kMap:
      break;
  }
  const size_t offset = options->ttl_layout == TtlLayout::kMap ? 1 : 0;
  if (!IsExpired(record->value, offset, options->ttl_ms)) return Verdict::kKeep;
  ++expired_count_;
  return Verdict::kExpired;
}

TtlFilter::Verdict TtlFilter::ApplyList(Record* record, int64_t ttl_ms) {
  left_.clear();
  uint64_t expired = 0;
  for (Slice rest = record->value; !rest.empty();) {
    ListSegment kind;
    Slice bytes;
    if (!NextListSegment(&rest, &kind, &bytes).ok()) return Verdict::kKeep;
    // Joined elements have no known boundaries: who wants them to expire writes them one by one.
    if (kind == ListSegment::kElement && IsExpired(bytes, 0, ttl_ms)) {
      ++expired;
    } else {
      AppendListSegment(kind, bytes, &left_);
    }
  }
  if (expired == 0) return Verdict::kKeep;
  expired_count_ += expired;
  if (left_.empty()) return Verdict::kExpired;
  record->value = left_;
  return Verdict::kChanged;
}

}  // namespace lava
