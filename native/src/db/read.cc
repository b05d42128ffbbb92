#include "base/lookup.h"
#include "db/db_impl.h"
#include "db/version_search.h"

namespace lava {

Result<ViewRef> DBImpl::ViewOf(Snapshot* snapshot) const {
  ViewRef view;
  if (snapshot == nullptr) {
    view = view_.Get();
  } else {
    auto* impl = static_cast<SnapshotImpl*>(snapshot);
    if (impl->db() != this) return Status::InvalidArgument("the snapshot is of another instance");
    view = impl->view();
  }
  if (!view) return Status::Closed("the instance was closed");
  return view;
}

namespace {

// The waits for the memory of all filters overlap; most runs then have nothing to say.
void PrefetchFiles(const Version& version, const Lookup& lookup) {
  const Slice key = lookup.key();
  for (const FileEntry& entry : version.levels[0])
    if (key >= entry.lower && key < entry.upper) ReaderOf(entry)->Prefetch(lookup);
  for (uint32_t n = 1; n < kLevelCountMax; ++n) {
    if (version.levels[n].empty()) continue;
    const FileEntry* entry = FindEntry(version.levels[n], key);
    if (entry != nullptr) ReaderOf(*entry)->Prefetch(lookup);
  }
}

}  // namespace

// Newest to oldest, until the lookup knows enough.
Status DBImpl::LookUp(const ReadView& view, Lookup* lookup) const {
  if (view.active != nullptr) view.active->Get(lookup);
  for (size_t i = 0; i < view.sealed.size() && !lookup->done(); ++i)
    view.sealed[i]->memtable->Get(lookup);
  if (lookup->done()) return Status::OK();
  const Slice key = lookup->key();
  PrefetchFiles(*view.version, *lookup);
  for (const FileEntry& entry : view.version->levels[0]) {
    if (key < entry.lower || key >= entry.upper) continue;
    LAVA_RETURN_IF_ERROR(ReaderOf(entry)->Get(lookup));
    if (lookup->done()) return Status::OK();
  }
  for (uint32_t n = 1; n < kLevelCountMax; ++n) {
    if (view.version->levels[n].empty()) continue;
    const FileEntry* entry = FindEntry(view.version->levels[n], key);
    if (entry == nullptr) continue;
    LAVA_RETURN_IF_ERROR(ReaderOf(*entry)->Get(lookup));
    if (lookup->done()) return Status::OK();
  }
  return Status::OK();
}

Status DBImpl::Get(Table* table, KeyRef key, PinnedValue* value, Snapshot* snapshot) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(CheckTable(table, &impl));
  LAVA_RETURN_IF_ERROR(CheckKey(*impl, key));
  LAVA_ASSIGN_OR_RETURN(const ViewRef view, ViewOf(snapshot));
  Counters::Add(&counters_.reads, 1);
  value->Reset();
  const InternalKey internal(options_.partition_bytes, impl->id_bytes(), key.key);
  Lookup lookup(internal.slice(), InternalPrefix(key.prefix_bytes), value->storage());
  LAVA_RETURN_IF_ERROR(LookUp(*view, &lookup));
  lookup.Finish();
  if (!lookup.found()) return Status::NotFound();
  value->Pin(lookup.value(), lookup.pin());
  return Status::OK();
}

Status DBImpl::Contains(Table* table, KeyRef key, Snapshot* snapshot) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(CheckTable(table, &impl));
  LAVA_RETURN_IF_ERROR(CheckKey(*impl, key));
  LAVA_ASSIGN_OR_RETURN(const ViewRef view, ViewOf(snapshot));
  Counters::Add(&counters_.reads, 1);
  const InternalKey internal(options_.partition_bytes, impl->id_bytes(), key.key);
  Lookup lookup(internal.slice(), InternalPrefix(key.prefix_bytes));
  lookup.existence_only = true;
  LAVA_RETURN_IF_ERROR(LookUp(*view, &lookup));
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
