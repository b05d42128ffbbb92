#include "lava/value_pieces.h"

#include <memory>
#include <string>
#include <vector>

#include "base/lookup.h"
#include "db/db_impl.h"
#include "job/version_lookup.h"

namespace lava {
namespace {

/// Hands a sink what value files have, with no more than a piece in memory where it is stored
/// uncompressed. Threads: one.
class PiecewiseReader {
 public:
  /// counter: charged with what is in memory at once.
  PiecewiseReader(const ReadView& view, Slice key, MemoryCounter* counter, ValueSink* sink)
      : view_(view),
        key_(key),
        counter_(counter),
        sink_(sink),
        charge_(counter, kPieceBytes),
        buffer_(std::make_unique_for_overwrite<char[]>(kPieceBytes)) {}

  Status Add(const ValueReference& reference) {
    const PiecewiseRead read{reference.raw_bytes, {buffer_.get(), kPieceBytes}, sink_};
    LAVA_ASSIGN_OR_RETURN(const bool done, AddPieces(reference, read));
    return done ? Status::OK() : AddWhole(reference);
  }

  Status Add(const ListLayout& list) {
    for (const ListLayout::Part& part : list.parts()) {
      if (group_bytes_ + part.raw_bytes() > kWholeBytesMax) LAVA_RETURN_IF_ERROR(AddGroup());
      if (part.raw_bytes() > kWholeBytesMax) {
        LAVA_RETURN_IF_ERROR(part.reference ? Add(*part.reference) : sink_->Add(part.bytes));
        continue;
      }
      group_.push_back(&part);
      group_bytes_ += part.raw_bytes();
    }
    return AddGroup();
  }

 private:
  Result<bool> AddPieces(const ValueReference& reference, const PiecewiseRead& read) const {
    if (!reference.is_logged()) return ReadValueInPieces(*view_.version, key_, reference, read);
    const std::shared_ptr<const LogSegment> segment = SegmentOf(view_, reference.birth);
    if (segment == nullptr) return false;
    return segment->ReadInPieces(key_, reference, read);
  }

  Status AddWhole(const ValueReference& reference) {
    const ScopedCharge charge(counter_, reference.raw_bytes);
    if (reference.is_logged()) {
      std::string value;
      LAVA_RETURN_IF_ERROR(ReadLoggedValue(view_, key_, reference, &value));
      return sink_->Add(value);
    }
    Slice value;
    std::shared_ptr<const void> pin;
    LAVA_RETURN_IF_ERROR(ReadValue(*view_.version, key_, reference, false, &value, &pin));
    return sink_->Add(value);
  }

  // Small parts that follow each other, of which those that stand near each other are read at once.
  Status AddGroup() {
    const ScopedCharge charge(counter_, group_bytes_);
    std::string bytes(group_bytes_, '\0');
    ValueFetch fetch(*view_.version, counter_);
    std::vector<ListLayout::Logged> logged;
    uint64_t offset = 0;
    for (const ListLayout::Part* part : group_) {
      ListLayout::Place(*part, key_, bytes.data(), offset, &fetch, &logged);
      offset += part->raw_bytes();
    }
    group_.clear();
    group_bytes_ = 0;
    LAVA_RETURN_IF_ERROR(fetch.Run(bytes.data()));
    for (const ListLayout::Logged& part : logged)
      LAVA_RETURN_IF_ERROR(ReadLoggedTo(view_, key_, part, bytes.data()));
    return bytes.empty() ? Status::OK() : sink_->Add(bytes);
  }

  const ReadView& view_;
  const Slice key_;
  MemoryCounter* const counter_;
  ValueSink* const sink_;
  const ScopedCharge charge_;
  const std::unique_ptr<char[]> buffer_;
  std::vector<const ListLayout::Part*> group_;
  uint64_t group_bytes_ = 0;
};

}  // namespace

// For what fits into a memtable, and for what a log's record must have as a whole.
template <typename Body>
Status DBImpl::WithWhole(ValueSource* value, const Body& write) {
  const ScopedCharge charge(budget_.counter(MemoryPurpose::kScans), value->size());
  const auto whole = std::make_unique_for_overwrite<char[]>(value->size());
  LAVA_RETURN_IF_ERROR(ReadWhole(value, whole.get()));
  return write(Slice(whole.get(), value->size()));
}

Status DBImpl::PutFrom(Table* table, KeyRef key, ValueSource* value) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(tables_.Check(table, &impl));
  LAVA_RETURN_IF_ERROR(CheckKey(*impl, key));
  LAVA_RETURN_IF_ERROR(CheckValueBytes(*impl, value->size()));
  if (!IsOversize(value->size()))
    return WithWhole(value, [&](Slice whole) { return Put(table, key, whole); });
  const InternalKey internal(options_.partition_bytes, impl->id_bytes(), key.key);
  const uint32_t prefix_bytes = InternalPrefix(key.prefix_bytes);
  MutexLock lock(&write_mutex_);
  LAVA_RETURN_IF_ERROR(MakeRoom(key.key.size() + 2 * kLoggedBytesMax));
  const LiveNote note(impl->dead(), internal.slice());
  if (large_values_ && IsApart(*impl, value->size())) impl->CountApart();
  LAVA_RETURN_IF_ERROR(LogFrom(*impl, internal.slice(), value, &reference_));
  if (wal_ != nullptr)
    LAVA_RETURN_IF_ERROR(LogReference(internal.slice(), prefix_bytes, reference_));
  PutLogged(*impl, internal.slice(), prefix_bytes, reference_);
  Wrote(key.key.size() + value->size());
  return Status::OK();
}

Status DBImpl::AppendFrom(Table* table, KeyRef key, ValueSource* segments) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(tables_.Check(table, &impl));
  LAVA_RETURN_IF_ERROR(CheckKey(*impl, key));
  LAVA_RETURN_IF_ERROR(CheckValueBytes(*impl, segments->size()));
  if (!IsOversize(segments->size()) || wal_ != nullptr || impl->kind() != TableKind::kList)
    return WithWhole(segments, [&](Slice whole) { return Append(table, key, whole); });
  const InternalKey internal(options_.partition_bytes, impl->id_bytes(), key.key);
  MutexLock lock(&write_mutex_);
  LAVA_RETURN_IF_ERROR(MakeRoom(key.key.size() + 2 * kLoggedBytesMax));
  segment_.reset();  // as LogAppended() does
  LAVA_RETURN_IF_ERROR(LogFrom(*impl, internal.slice(), segments, &reference_));
  const LiveNote note(impl->dead(), internal.slice());
  AppendLogged(internal.slice(), InternalPrefix(key.prefix_bytes), reference_);
  Wrote(key.key.size() + segments->size());
  return Status::OK();
}

Status DBImpl::AddInPieces(const ReadView& view, const ValueReference& reference, Lookup* lookup,
                           ValueSink* sink) const {
  const ValueReference wanted = reference;  // it may be the lookup's
  lookup->Resolve({}, nullptr);
  if (!sink->Begin(wanted.raw_bytes)) return Status::OK();
  MemoryCounter* const counter = budget_.counter(MemoryPurpose::kScans);
  return PiecewiseReader(view, lookup->key(), counter, sink).Add(wanted);
}

Status DBImpl::AddInPieces(const ReadView& view, const ListLayout& list, Lookup* lookup,
                           ValueSink* sink) const {
  // Before the sink makes room for what there cannot be.
  const ValueFetch fetch(*view.version);
  for (const ListLayout::Part& part : list.parts())
    if (part.reference) LAVA_RETURN_IF_ERROR(fetch.CheckSize(*part.reference));
  if (sink->Begin(list.bytes())) {
    MemoryCounter* const counter = budget_.counter(MemoryPurpose::kScans);
    LAVA_RETURN_IF_ERROR(PiecewiseReader(view, lookup->key(), counter, sink).Add(list));
  }
  lookup->Resolve({}, nullptr);
  return Status::OK();
}

}  // namespace lava
