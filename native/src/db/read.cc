#include <optional>

#include "base/lookup.h"
#include "db/db_impl.h"
#include "job/list_layout.h"
#include "job/version_lookup.h"

namespace lava {
namespace {

// A value beyond this is charged for as long as it is on its way to the caller.
constexpr uint64_t kChargedBytesMin = 64 << 10;

// Keeps a large value, or what holds it, and is charged with it: to the lease, since a caller may
// let go of it after the instance has gone.
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

}  // namespace

Result<ViewRef> DBImpl::ViewOf(Snapshot* snapshot) const {
  if (snapshot != nullptr) {
    auto* impl = static_cast<SnapshotImpl*>(snapshot);
    if (impl->db() != this) return Status::InvalidArgument("the snapshot is of another instance");
    return impl->View();
  }
  ViewRef view = view_.Get();
  if (!view) return Status::Closed("the instance was closed");
  return view;
}

// Newest to oldest, until the lookup knows enough.
Status DBImpl::LookUp(const ReadView& view, Lookup* lookup) const {
  if (view.active != nullptr) view.active->Get(lookup);
  for (size_t i = 0; i < view.sealed.size() && !lookup->done(); ++i)
    view.sealed[i]->memtable->Get(lookup);
  if (lookup->done()) return Status::OK();
  return LookUpInFiles(*view.version, lookup);
}

// Whether the newest record is a reference to a value that expired.
bool DBImpl::HasExpired(const ReadView& view, const TableImpl& table, const Lookup& lookup) {
  return lookup.reference() != nullptr &&
         lava::HasExpired(*view.version, table.id(), *lookup.reference());
}

// Fetches a value that is in a value file.
Status DBImpl::ResolveReference(const ReadView& view, Lookup* lookup, ValueSink* sink) const {
  if (lookup->reference() == nullptr) return Status::OK();
  if (lookup->malformed())
    return Status::Corruption(
        "a list stands on a reference to a value file: restore from a "
        "checkpoint");
  const ValueReference reference = *lookup->reference();
  if (!reference.is_logged()) return ResolveInFile(view, reference, lookup, sink);
  if (GoesInPieces(reference.raw_bytes, sink)) return AddInPieces(view, reference, lookup, sink);
  const auto copy = NewCharged(options_.lease, reference.raw_bytes);
  LAVA_RETURN_IF_ERROR(ReadLoggedValue(view, lookup->key(), reference, &copy->bytes));
  lookup->Resolve(copy->bytes, copy);
  return Status::OK();
}

Status DBImpl::ResolveInFile(const ReadView& view, const ValueReference& reference, Lookup* lookup,
                             ValueSink* sink) const {
  Slice value;
  std::shared_ptr<const void> pin;
  if (reference.raw_bytes < kChargedBytesMin) [[likely]] {
    LAVA_RETURN_IF_ERROR(ReadValue(*view.version, lookup->key(), reference, true, &value, &pin));
    lookup->Resolve(value, std::move(pin));
    return Status::OK();
  }
  // Before its file is known to have so much nothing is charged for it.
  LAVA_RETURN_IF_ERROR(ValueFetch(*view.version).CheckSize(reference));
  if (GoesInPieces(reference.raw_bytes, sink)) return AddInPieces(view, reference, lookup, sink);
  const auto held = NewCharged(options_.lease, reference.raw_bytes);
  LAVA_RETURN_IF_ERROR(
      ReadValue(*view.version, lookup->key(), reference, true, &value, &held->pin));
  lookup->Resolve(value, held);
  return Status::OK();
}

// Puts what a list has in value files into its place.
Status DBImpl::ResolveList(const ReadView& view, Lookup* lookup, ValueSink* sink) const {
  if (!lookup->has_parts()) return Status::OK();
  ListLayout list;
  LAVA_RETURN_IF_ERROR(list.Read(lookup->value()));
  if (const ValueReference* const only = list.only_in_file(); only != nullptr)
    return ResolveInFile(view, *only, lookup, sink);
  if (GoesInPieces(list.bytes(), sink)) return AddInPieces(view, list, lookup, sink);
  const auto whole = NewCharged(options_.lease, list.bytes());
  LAVA_RETURN_IF_ERROR(ReadList(view, lookup->key(), list, &whole->bytes));
  lookup->Resolve(whole->bytes, whole);
  return Status::OK();
}

Status DBImpl::GetTo(Table* table, KeyRef key, PinnedValue* value, ValueSink* sink,
                     Snapshot* snapshot) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(tables_.Check(table, &impl));
  LAVA_RETURN_IF_ERROR(CheckKey(*impl, key));
  LAVA_ASSIGN_OR_RETURN(const ViewRef view, ViewOf(snapshot));
  Counters::Add(&counters_.reads, 1);
  value->Reset();
  const InternalKey internal(options_.partition_bytes, impl->id_bytes(), key.key);
  Lookup lookup(internal.slice(), InternalPrefix(key.prefix_bytes), value->storage());
  LAVA_RETURN_IF_ERROR(LookUp(*view, &lookup));
  if (HasExpired(*view, *impl, lookup)) return Status::NotFound();
  LAVA_RETURN_IF_ERROR(ResolveReference(*view, &lookup, sink));
  lookup.Finish();
  if (!lookup.found()) return Status::NotFound();
  LAVA_RETURN_IF_ERROR(ResolveList(*view, &lookup, sink));
  value->Pin(lookup.value(), lookup.pin());
  return Status::OK();
}

Status DBImpl::Contains(Table* table, KeyRef key, Snapshot* snapshot) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(tables_.Check(table, &impl));
  LAVA_RETURN_IF_ERROR(CheckKey(*impl, key));
  LAVA_ASSIGN_OR_RETURN(const ViewRef view, ViewOf(snapshot));
  Counters::Add(&counters_.reads, 1);
  const InternalKey internal(options_.partition_bytes, impl->id_bytes(), key.key);
  Lookup lookup(internal.slice(), InternalPrefix(key.prefix_bytes));
  lookup.existence_only = true;
  LAVA_RETURN_IF_ERROR(LookUp(*view, &lookup));
  if (HasExpired(*view, *impl, lookup)) return Status::NotFound();
  lookup.Finish();
  return lookup.found() ? Status::OK() : Status::NotFound();
}

Status DBImpl::MultiGet(Table* table, std::span<const KeyRef> keys, std::span<PinnedValue> values,
                        std::span<bool> found, Snapshot* snapshot) {
  if (values.size() != keys.size() || found.size() != keys.size())
    return Status::InvalidArgument("multi-get: " + std::to_string(keys.size()) + " keys, " +
                                   std::to_string(values.size()) + " values, " +
                                   std::to_string(found.size()) + " flags");
  for (size_t i = 0; i < keys.size(); ++i) {
    const Status status = Get(table, keys[i], &values[i], snapshot);
    if (!status.ok() && !status.IsNotFound()) return status;
    found[i] = status.ok();
  }
  return Status::OK();
}

}  // namespace lava
