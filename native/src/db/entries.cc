#include <algorithm>

#include "base/list_parts.h"
#include "base/lookup.h"
#include "db/db_impl.h"
#include "job/value_output.h"
#include "lava/list_format.h"
#include "read/readers.h"
#include "value/entry_record.h"

namespace lava {
namespace {

static_assert(DB::kAppendedMax == kLogBirthsMax);

// The number of leading bytes of the value that the entry lacks, if the entry ends with the rest of
// the value; otherwise more than kInlineBytesMax.
size_t InlineBytesOf(Slice value, Slice entry) {
  for (size_t inline_bytes = 0; inline_bytes <= std::min(DB::kInlineBytesMax, value.size());
       ++inline_bytes)
    if (entry.ends_with(value.substr(inline_bytes))) return inline_bytes;
  return DB::kInlineBytesMax + 1;
}

}  // namespace

Status DecodeEntries(const std::string& name, uint64_t offset, Slice bytes,
                     std::vector<std::string>* entries) {
  entries->clear();
  std::string entry;
  for (vsst::EntryReader reader(name, offset, bytes); !reader.done();) {
    LAVA_RETURN_IF_ERROR(reader.Next(&entry));
    entries->push_back(std::move(entry));
  }
  return Status::OK();
}

std::string DBImpl::EntrySegmentName(uint64_t segment) const { return changelog_.NameOf(segment); }

// One memtable may refer to several changelog segments. Its flush keeps a segment as a value file
// if enough of the segment lives, and otherwise copies the live values.
Status DBImpl::MakeChangelogSegment() {
  if (segments_.TakesEntry()) return Status::OK();
  EndChangelogSegment();
  const FileId id = tree_->versions.NewFileId(kLogBirthsMax);
  const ValueLogOptions options{.compression = instance_->options.value_compression,
                                .sync = instance_->syncs()};
  // Through the page cache, because the layer above reads the segment soon.
  LAVA_ASSIGN_OR_RETURN(
      std::shared_ptr<ChangelogSegment> segment,
      ChangelogSegment::Create(FilesOf(instance_->options, nullptr),
                               instance_->path + "/" + id.ValueFileName(), id, options,
                               instance_->budget.counter(MemoryPurpose::kMemtables)));
  LAVA_RETURN_IF_ERROR(instance_->SyncNameOfSegment());
  Attach(segment);
  changelog_.BeginSegment(segment);
  segments_.BeginChangelog(std::move(segment));
  return Status::OK();
}

// The next entry begins a new segment.
void DBImpl::EndChangelogSegment() {
  segments_.EndChangelog();
  changelog_.EndSegment();
}

Status DBImpl::LogEntry(Slice entry, const ChangelogSegment::Value* value, EntryLocation* location,
                        ValueReference* reference) {
  LAVA_RETURN_IF_ERROR(MakeChangelogSegment());
  Slice head = entry;
  if (value != nullptr) head.remove_suffix(value->bytes.size() - value->inline_bytes);
  ChangelogSegment* const segment = segments_.changelog();
  const uint64_t before = segment->bytes();
  LoggedRecord logged;
  const ChangelogLog::Sequence sequence = changelog_.TakeSequence();
  location->sequence = sequence.number;
  LAVA_RETURN_IF_ERROR(segment->AppendEntry(sequence.number, sequence.skipped, head, value,
                                            instance_->options.wal == WalMode::kWalSync, &logged,
                                            reference));
  changelog_.Logged();
  location->segment = segment->id().number;
  location->offset = logged.offset;
  location->bytes = logged.bytes;
  segments_.EntryAppended(before);
  Counters::AddUnshared(&instance_->counters.entry_bytes, entry.size());
  if (value != nullptr) Counters::AddUnshared(&instance_->counters.external_values, 1);
  return Status::OK();
}

Status DBImpl::AppendEntry(Slice entry, EntryLocation* location) {
  if (entry.size() > kEntryBytesMax)
    return Status::InvalidArgument("an entry has " + std::to_string(entry.size()) +
                                   " bytes, the limit is " + std::to_string(kEntryBytesMax));
  MutexLock lock(&write_mutex_);
  LAVA_RETURN_IF_ERROR(MakeRoom(0));
  return LogEntry(entry, nullptr, location, nullptr);
}

Status DBImpl::PutExternal(Table* table, KeyRef key, Slice value, Slice entry,
                           EntryLocation* location) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(tables_.Check(table, &impl));
  LAVA_RETURN_IF_ERROR(instance_->partitions.CheckKey(*impl, key));
  LAVA_RETURN_IF_ERROR(CheckValue(*impl, value));
  if (impl->kind() == TableKind::kList)
    return Status::InvalidArgument("table '" + impl->name() +
                                   "' is a list: only values of others may end an entry");
  const size_t inline_bytes = InlineBytesOf(value, entry);
  if (inline_bytes > kInlineBytesMax || entry.size() > kEntryBytesMax)
    return Status::InvalidArgument("an entry of " + std::to_string(entry.size()) +
                                   " bytes does not end with its value of " +
                                   std::to_string(value.size()) + ", or is too long");
  const InternalKey internal(instance_->options.partition_bytes, impl->id_bytes(), key.key);
  const uint32_t prefix_bytes = PartitionRange::InternalPrefix(key.prefix_bytes);
  MutexLock lock(&write_mutex_);
  LAVA_RETURN_IF_ERROR(MakeRoom(key.key.size() + 2 * kLoggedBytesMax));
  const ChangelogSegment::Value logged{internal.slice(), value, static_cast<uint32_t>(inline_bytes),
                                       impl->id(), TimestampOf(impl->options(), value)};
  ValueReference reference;
  LAVA_RETURN_IF_ERROR(LogEntry(entry, &logged, location, &reference));
  reference_.clear();
  EncodeReference(reference, &reference_);
  const Status appended = wal_.WriteReference(internal.slice(), prefix_bytes, reference_);
  if (!appended.ok()) {
    segments_.changelog()->Withdraw();
    return appended;
  }
  const LiveNote note(impl->dead(), internal.slice());
  active_->PutReference(internal.slice(), prefix_bytes, reference_);
  Wrote(key.key.size() + value.size());
  return Status::OK();
}

// With a write-ahead log the record of the write contains the value, so nothing is added to that
// log.
Status DBImpl::BindExternal(Slice entry, EntryLocation* location) {
  MutexLock lock(&write_mutex_);
  if (instance_->closed.load()) return Status::Closed("the instance was closed");
  last_write_.NoteFromNowOn();
  const TableImpl* const table = last_write_.Take();
  if (table == nullptr || entry.size() > kEntryBytesMax) return Status::NotFound();
  LAVA_RETURN_IF_ERROR(last_write_.appended_bytes() == 0 ? BindPut(*table, entry, location)
                                                         : BindAppend(*table, entry, location));
  active_bytes_.store(active_->arena_bytes(), std::memory_order_relaxed);
  return Status::OK();
}

Status DBImpl::BindPut(const TableImpl& table, Slice entry, EntryLocation* location) {
  Lookup lookup(last_write_.internal_key(), last_write_.prefix_bytes());
  active_->Get(&lookup);
  lookup.Finish();
  if (!lookup.found() || lookup.reference() != nullptr) return Status::NotFound();
  const size_t inline_bytes = InlineBytesOf(lookup.value(), entry);
  if (inline_bytes > kInlineBytesMax) return Status::NotFound();
  const ChangelogSegment::Value logged{last_write_.internal_key(), lookup.value(),
                                       static_cast<uint32_t>(inline_bytes), table.id(),
                                       TimestampOf(table.options(), lookup.value())};
  ValueReference reference;
  LAVA_RETURN_IF_ERROR(LogEntry(entry, &logged, location, &reference));
  reference_.clear();
  EncodeReference(reference, &reference_);
  active_->PutReference(last_write_.internal_key(), last_write_.prefix_bytes(), reference_);
  return Status::OK();
}

// Binds an append of one element. The entry lacks the element's head, which only the list has.
Status DBImpl::BindAppend(const TableImpl& table, Slice entry, EntryLocation* location) {
  const Slice segment = active_->Tail(last_write_.internal_key(), last_write_.appended_bytes());
  Slice rest = segment, element;
  ListSegment kind;
  if (segment.empty() || !NextListSegment(&rest, &kind, &element).ok() || !rest.empty() ||
      kind != ListSegment::kElement || !entry.ends_with(element))
    return Status::NotFound();
  const ChangelogSegment* const changelog = segments_.changelog();
  if (changelog != nullptr && !changelog->HasBirthFor(last_write_.internal_key()))
    return Status::NotFound();
  const ChangelogSegment::Value logged{last_write_.internal_key(),
                                       segment,
                                       static_cast<uint32_t>(segment.size() - element.size()),
                                       table.id(),
                                       std::nullopt,
                                       /*appended=*/true};
  ValueReference reference;
  LAVA_RETURN_IF_ERROR(LogEntry(entry, &logged, location, &reference));
  reference_.clear();
  AppendListReference(reference, &reference_);
  active_->ReplaceTail(last_write_.internal_key(), last_write_.appended_bytes(), reference_);
  return Status::OK();
}

Status DBImpl::GetExternal(Table* table, KeyRef key, EntryLocation* location) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(tables_.Check(table, &impl));
  LAVA_RETURN_IF_ERROR(instance_->partitions.CheckKey(*impl, key));
  LAVA_ASSIGN_OR_RETURN(const ViewRef view, read_context_.ViewOf(nullptr));
  const InternalKey internal(instance_->options.partition_bytes, impl->id_bytes(), key.key);
  Lookup lookup(internal.slice(), PartitionRange::InternalPrefix(key.prefix_bytes));
  LAVA_RETURN_IF_ERROR(LookUpIn(*view, &lookup));
  const ValueReference* const reference = lookup.reference();
  if (reference == nullptr || HasExpired(*view, *impl, lookup) ||
      reference->birth.origin != tree_->versions.origin() ||
      !changelog_.Holds(reference->birth.ValueFileName()))
    return Status::NotFound();
  *location = {reference->birth.number, reference->logged_offset, reference->logged_bytes, 0};
  if (reference->is_logged()) return Status::OK();
  const auto file = view->version->value_files.find(reference->birth);
  if (file == view->version->value_files.end()) return Status::NotFound();  // it was collected
  ValuePlace place;
  LAVA_RETURN_IF_ERROR(
      ReaderOf(*file->second.file)->Locate(internal.slice(), reference->birth, &place));
  location->offset = place.offset;
  location->bytes = place.bytes;
  return Status::OK();
}

Status DBImpl::ReadEntry(const EntryLocation& location, std::string* entry) {
  return changelog_.Read(location, entry);
}

Status DBImpl::ReadEntryValue(const EntryLocation& location, std::string* value) {
  return changelog_.ReadValue(location, value);
}

Status DBImpl::RollEntries() {
  MutexLock lock(&write_mutex_);
  if (instance_->closed.load()) return Status::Closed("the instance was closed");
  EndChangelogSegment();
  return Status::OK();
}

Status DBImpl::FinishEntries(uint64_t segment) {
  const Gate::Visit visit(instance_->gate.get());
  if (!visit) return Status::Closed("the instance was closed");
  return changelog_.Finish(segment);
}

Status DBImpl::ReleaseEntries(uint64_t through) {
  const Gate::Visit visit(instance_->gate.get());
  if (!visit) return Status::Closed("the instance was closed");
  {
    MutexLock install(tree_->versions.install_mutex());
    through = std::min(through, changelog_.last_sequence());
    LAVA_RETURN_IF_ERROR(LogReleased(through));
    changelog_.Release(through);
    std::shared_ptr<const Version> version;
    {
      MutexLock state(tree_->mutex());
      version = tree_->version();
    }
    remover_->DropReleased(*version);
    if (wal_.enabled()) remover_->RemoveReplayed(tree_->versions.state().wal_flushed.value_or(0));
  }
  remover_->RemoveObsolete();
  instance_->notifier->Deliver();
  return Status::OK();
}

// The manifest has the released position before a segment is removed. Otherwise the next opening
// would report the segment's entries as missing.
Status DBImpl::LogReleased(uint64_t through) {
  if (!wal_.enabled() || through <= tree_->versions.state().entries_released.value_or(0))
    return Status::OK();
  VersionEdit edit;
  edit.entries_released = through;
  {
    MutexLock state(tree_->mutex());
    tree_->AdoptLeft();
  }
  LAVA_RETURN_IF_ERROR(tree_->Log(edit));
  MutexLock state(tree_->mutex());
  tree_->Adopt();
  return Status::OK();
}

Status DBImpl::RecoverEntries(uint64_t after, const std::function<Status(uint64_t, Slice)>& entry) {
  const Gate::Visit visit(instance_->gate.get());
  if (!visit) return Status::Closed("the instance was closed");
  return changelog_.ReadEarlierRuns(after, entry);
}

}  // namespace lava
