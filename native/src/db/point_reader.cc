// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/point_reader.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/internal_key.h"
#include "base/lookup.h"
#include "db/counters.h"
#include "db/read_logged.h"
#include "db/read_view.h"
#include "db/table_impl.h"
#include "lava/db.h"
#include "lava/host.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "lava/value_pieces.h"
#include "manifest/version.h"
#include "memory/memory_budget.h"
#include "memory/memory_counter.h"
#include "read/list_layout.h"
#include "read/value_fetch.h"
#include "read/version_lookup.h"
#include "value/record_pieces.h"
#include "value_log/value_log_segment.h"

namespace lava {
namespace {

// Larger values are charged until the caller has released them.
constexpr uint64_t kChargedBytesMin = 64 << 10;

// Keeps a large value, or the block that holds it, and its charge. The lease is charged, because a
// caller may release the value after the instance was destroyed.
struct ChargedValue {
  std::shared_ptr<Lease> lease;
  std::optional<ScopedCharge> charge;
  std::string bytes;
  std::shared_ptr<const void> pin;
};

std::shared_ptr<ChargedValue> NewCharged(const std::shared_ptr<Lease>& lease, uint64_t bytes) {
  auto value = std::make_shared<ChargedValue>();
  if (bytes < kChargedBytesMin) return value;
  value->lease = lease;
  MemoryBudget* const slot = static_cast<LeaseImpl*>(lease.get())->budget();
  value->charge.emplace(slot->counter(MemoryPurpose::kScans), bytes);
  return value;
}

// Passes values of value files to a sink. If a value is stored uncompressed, at most one piece of
// it is in memory.
class PiecewiseReader {
 public:
  // counter: charged with the bytes that are in memory at one time.
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
    const std::shared_ptr<const ValueLogSegment> segment = LogSegmentOf(view_, reference.blob_file);
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

  // Adds consecutive small parts. Parts that are close to each other in a file are read together.
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

Status LookUpIn(const ReadView& view, Lookup* lookup) {
  if (view.active != nullptr) view.active->Get(lookup);
  for (size_t i = 0; i < view.sealed.size() && !lookup->done(); ++i)
    view.sealed[i]->memtable->Get(lookup);
  if (lookup->done()) return Status::OK();
  return LookUpInFiles(*view.version, lookup);
}

bool HasExpired(const ReadView& view, const TableImpl& table, const Lookup& lookup) {
  return lookup.reference() != nullptr &&
         HasExpired(*view.version, table.id(), *lookup.reference());
}

Status PointReader::ResolveReference(const ReadView& view, Lookup* lookup, ValueSink* sink) const {
  if (lookup->reference() == nullptr) return Status::OK();
  if (lookup->malformed())
    return Status::Corruption(
        "a list stands on a reference to a value file: restore from a checkpoint");
  const ValueReference reference = *lookup->reference();
  if (!reference.is_logged()) return ResolveInFile(view, reference, lookup, sink);
  if (GoesInPieces(reference.raw_bytes, sink)) return AddInPieces(view, reference, lookup, sink);
  const auto copy = NewCharged(context_.lease, reference.raw_bytes);
  LAVA_RETURN_IF_ERROR(ReadLoggedValue(view, lookup->key(), reference, &copy->bytes));
  lookup->Resolve(copy->bytes, copy);
  return Status::OK();
}

Status PointReader::ResolveInFile(const ReadView& view, const ValueReference& reference,
                                  Lookup* lookup, ValueSink* sink) const {
  Slice value;
  std::shared_ptr<const void> pin;
  if (reference.raw_bytes < kChargedBytesMin) [[likely]] {
    LAVA_RETURN_IF_ERROR(ReadValue(*view.version, lookup->key(), reference, true, &value, &pin));
    lookup->Resolve(value, std::move(pin));
    return Status::OK();
  }
  // The size is checked before it is charged, because a damaged reference may contain any size.
  LAVA_RETURN_IF_ERROR(ValueFetch(*view.version).CheckSize(reference));
  if (GoesInPieces(reference.raw_bytes, sink)) return AddInPieces(view, reference, lookup, sink);
  const auto held = NewCharged(context_.lease, reference.raw_bytes);
  LAVA_RETURN_IF_ERROR(
      ReadValue(*view.version, lookup->key(), reference, true, &value, &held->pin));
  lookup->Resolve(value, held);
  return Status::OK();
}

Status PointReader::ResolveList(const ReadView& view, Lookup* lookup, ValueSink* sink) const {
  if (!lookup->has_parts()) return Status::OK();
  ListLayout list;
  LAVA_RETURN_IF_ERROR(list.Read(lookup->value()));
  if (const ValueReference* const only = list.only_in_file(); only != nullptr)
    return ResolveInFile(view, *only, lookup, sink);
  if (GoesInPieces(list.bytes(), sink)) return AddInPieces(view, list, lookup, sink);
  const auto whole = NewCharged(context_.lease, list.bytes());
  LAVA_RETURN_IF_ERROR(ReadList(view, lookup->key(), list, &whole->bytes));
  lookup->Resolve(whole->bytes, whole);
  return Status::OK();
}

Status PointReader::Get(Table* table, KeyRef key, PinnedValue* value, ValueSink* sink,
                        Snapshot* snapshot) const {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(context_.tables->Check(table, &impl));
  LAVA_RETURN_IF_ERROR(context_.partitions->CheckKey(*impl, key));
  LAVA_ASSIGN_OR_RETURN(const ViewRef view, context_.ViewOf(snapshot));
  Counters::Add(&context_.counters->reads, 1);
  value->Reset();
  const InternalKey internal(context_.partitions->bytes(), impl->id_bytes(), key.key);
  Lookup lookup(internal.slice(), PartitionRange::InternalPrefix(key.prefix_bytes),
                value->storage());
  LAVA_RETURN_IF_ERROR(LookUpIn(*view, &lookup));
  if (HasExpired(*view, *impl, lookup)) return Status::NotFound();
  LAVA_RETURN_IF_ERROR(ResolveReference(*view, &lookup, sink));
  lookup.Finish();
  if (!lookup.found()) return Status::NotFound();
  LAVA_RETURN_IF_ERROR(ResolveList(*view, &lookup, sink));
  value->Pin(lookup.value(), lookup.pin());
  return Status::OK();
}

Status PointReader::Contains(Table* table, KeyRef key, Snapshot* snapshot) const {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(context_.tables->Check(table, &impl));
  LAVA_RETURN_IF_ERROR(context_.partitions->CheckKey(*impl, key));
  LAVA_ASSIGN_OR_RETURN(const ViewRef view, context_.ViewOf(snapshot));
  Counters::Add(&context_.counters->reads, 1);
  const InternalKey internal(context_.partitions->bytes(), impl->id_bytes(), key.key);
  Lookup lookup(internal.slice(), PartitionRange::InternalPrefix(key.prefix_bytes));
  lookup.existence_only = true;
  LAVA_RETURN_IF_ERROR(LookUpIn(*view, &lookup));
  if (HasExpired(*view, *impl, lookup)) return Status::NotFound();
  lookup.Finish();
  return lookup.found() ? Status::OK() : Status::NotFound();
}

Status PointReader::AddInPieces(const ReadView& view, const ValueReference& reference,
                                Lookup* lookup, ValueSink* sink) const {
  const ValueReference wanted = reference;  // a copy: the lookup may own the original
  lookup->Resolve({}, nullptr);
  if (!sink->Begin(wanted.raw_bytes)) return Status::OK();
  return PiecewiseReader(view, lookup->key(), context_.memory, sink).Add(wanted);
}

Status PointReader::AddInPieces(const ReadView& view, const ListLayout& list, Lookup* lookup,
                                ValueSink* sink) const {
  // The sizes are checked before the sink reserves memory, because a damaged reference may contain
  // any size.
  const ValueFetch fetch(*view.version);
  for (const ListLayout::Part& part : list.parts())
    if (part.reference) LAVA_RETURN_IF_ERROR(fetch.CheckSize(*part.reference));
  if (sink->Begin(list.bytes())) {
    LAVA_RETURN_IF_ERROR(PiecewiseReader(view, lookup->key(), context_.memory, sink).Add(list));
  }
  lookup->Resolve({}, nullptr);
  return Status::OK();
}

}  // namespace lava
