// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/internal_key.h"
#include "base/lookup.h"
#include "base/mutex.h"
#include "base/value_reference.h"
#include "db/close_guard.h"
#include "db/db_impl.h"
#include "db/point_reader.h"
#include "db/read_view.h"
#include "db/table_impl.h"
#include "lava/db.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "manifest/version_edit.h"
#include "read/readers.h"
#include "value/changelog_entry.h"
#include "value/value_reader.h"

namespace lava {
Status DecodeEntries(const std::string& name, uint64_t offset, Slice bytes,
                     std::vector<std::string>* entries) {
  entries->clear();
  std::string entry;
  for (vsst::ChangelogEntryReader reader(name, offset, bytes); !reader.done();) {
    LAVA_RETURN_IF_ERROR(reader.Next(&entry));
    entries->push_back(std::move(entry));
  }
  return Status::OK();
}

std::string DBImpl::ChangelogSegmentName(uint64_t segment) const {
  return components_.changelog.NameOf(segment);
}

Status DBImpl::GetExternal(Table* table, KeyRef key, EntryLocation* location) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(components_.tables.Check(table, &impl));
  LAVA_RETURN_IF_ERROR(components_.instance.partitions.CheckKey(*impl, key));
  LAVA_ASSIGN_OR_RETURN(const ViewRef view, components_.reader.context().ViewOf(nullptr));
  const InternalKey internal(components_.instance.options.partition_bytes, impl->id_bytes(),
                             key.key);
  Lookup lookup(internal.slice(), PartitionRange::InternalPrefix(key.prefix_bytes));
  LAVA_RETURN_IF_ERROR(LookUpIn(*view, &lookup));
  const ValueReference* const reference = lookup.reference();
  if (reference == nullptr || HasExpired(*view, *impl, lookup) ||
      reference->blob_file.origin != components_.tree.versions.origin() ||
      !components_.changelog.Holds(reference->blob_file.ValueFileName()))
    return Status::NotFound();
  *location = {reference->blob_file.number, reference->logged_offset, reference->logged_bytes, 0};
  if (reference->is_logged()) return Status::OK();
  const auto file = view->version->value_files.find(reference->blob_file);
  if (file == view->version->value_files.end()) return Status::NotFound();  // collected
  ValueHandle handle;
  LAVA_ASSIGN_OR_RETURN(const ValueReader* const reader, RequireReader(*file->second.file));
  LAVA_RETURN_IF_ERROR(reader->Locate(internal.slice(), reference->blob_file, &handle));
  location->offset = handle.offset;
  location->bytes = handle.bytes;
  return Status::OK();
}

Status DBImpl::ReadEntry(const EntryLocation& location, std::string* entry) {
  return components_.changelog.Read(location, entry);
}

Status DBImpl::ReadEntryValue(const EntryLocation& location, std::string* value) {
  return components_.changelog.ReadValue(location, value);
}

Status DBImpl::FinishEntries(uint64_t segment) {
  const CloseGuard::Use use(components_.instance.close_guard.get());
  if (!use) return Status::Closed("the instance was closed");
  return components_.changelog.Finish(segment);
}

Status DBImpl::ReleaseEntries(uint64_t through) {
  const CloseGuard::Use use(components_.instance.close_guard.get());
  if (!use) return Status::Closed("the instance was closed");
  {
    MutexLock install(components_.tree.versions.install_mutex());
    through = std::min(through, components_.changelog.last_sequence());
    LAVA_RETURN_IF_ERROR(LogReleased(through));
    components_.changelog.Release(through);
    std::shared_ptr<const Version> version;
    {
      MutexLock state(components_.tree.mutex());
      version = components_.tree.version();
    }
    components_.remover.DropReleased(*version);
    if (components_.wal.enabled())
      components_.remover.RemoveReplayed(components_.tree.versions.state().wal_flushed.value_or(0));
  }
  components_.remover.RemoveObsolete();
  components_.instance.notifier->Deliver();
  return Status::OK();
}

// Logs the released position in the manifest before a changelog segment is removed. Otherwise the
// next opening would report the segment's entries as missing.
Status DBImpl::LogReleased(uint64_t through) {
  if (!components_.wal.enabled() ||
      through <= components_.tree.versions.state().entries_released.value_or(0))
    return Status::OK();
  VersionEdit edit;
  edit.entries_released = through;
  {
    MutexLock state(components_.tree.mutex());
    components_.tree.AdoptLeft();
  }
  LAVA_RETURN_IF_ERROR(components_.tree.Log(edit));
  MutexLock state(components_.tree.mutex());
  components_.tree.Adopt();
  return Status::OK();
}

Status DBImpl::RecoverEntries(uint64_t after, const std::function<Status(uint64_t, Slice)>& entry) {
  const CloseGuard::Use use(components_.instance.close_guard.get());
  if (!use) return Status::Closed("the instance was closed");
  return components_.changelog.ReadEarlierOpenings(after, entry);
}

}  // namespace lava
