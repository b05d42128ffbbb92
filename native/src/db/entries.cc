#include <algorithm>

#include "base/list_parts.h"
#include "base/lookup.h"
#include "db/db_impl.h"
#include "job/value_output.h"
#include "lava/list_format.h"
#include "value/entry_record.h"

namespace lava {
namespace {

// What a segment keeps in memory for its index.
constexpr uint64_t kEntrySegmentRecordsMax = 64 << 10;
static_assert(DB::kAppendedMax == kLogBirthsMax);

// How many bytes of the value's front the entry lacks, if its end is the value's; else more than
// may be.
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

std::string DBImpl::EntrySegmentName(uint64_t segment) const {
  return FileId{versions_.origin(), segment}.ValueFileName();
}

// A memtable has as many as it takes; what died in them goes with its flush.
Status DBImpl::MakeEntrySegment() {
  if (entries_ != nullptr && entries_->sound() && entries_->bytes() < options_.value_file_bytes &&
      entries_->records() < kEntrySegmentRecordsMax)
    return Status::OK();
  EndEntryRun();
  const FileId id = versions_.NewFileId(kLogBirthsMax);
  const ValueLogOptions options{.compression = options_.value_compression, .sync = syncs()};
  // Through the page cache: the other layer reads it soon.
  LAVA_ASSIGN_OR_RETURN(
      std::shared_ptr<EntrySegment> segment,
      EntrySegment::Create(FilesOf(options_, nullptr), path_ + "/" + id.ValueFileName(), id,
                           options, budget_.counter(MemoryPurpose::kMemtables)));
  if (options_.wal == WalMode::kWalSync) LAVA_RETURN_IF_ERROR(fs_->SyncDirectory(path_));
  Attach(segment);
  {
    // Together: who drops what was released must not take it for one that has ended without
    // entries.
    MutexLock state(&state_mutex_);
    current_entries_ = id.number;
    held_entries_[next_entry_] = {id.ValueFileName(), segment, next_entry_ - skipped_};
  }
  entries_ = std::move(segment);
  return Status::OK();
}

// Entries do not go to their segment any more.
void DBImpl::EndEntryRun() {
  entries_.reset();
  current_entries_ = 0;
}

Status DBImpl::LogEntry(Slice entry, const EntrySegment::Value* value, EntryLocation* location,
                        ValueReference* reference) {
  LAVA_RETURN_IF_ERROR(MakeEntrySegment());
  Slice head = entry;
  if (value != nullptr) head.remove_suffix(value->bytes.size() - value->inline_bytes);
  const uint64_t before = entries_->bytes();
  LoggedRecord logged;
  // A failed one may be there, so its sequence is not used again.
  location->sequence = next_entry_++;
  ++skipped_;
  LAVA_RETURN_IF_ERROR(entries_->AppendEntry(location->sequence, skipped_ - 1, head, value,
                                             options_.wal == WalMode::kWalSync, &logged,
                                             reference));
  skipped_ = 0;
  location->segment = entries_->id().number;
  location->offset = logged.offset;
  location->bytes = logged.bytes;
  entry_bytes_ += entries_->bytes() - before;
  // Else values that are overwritten here would take space for as long as nothing else fills it.
  if (entry_bytes_ >= EntryBytesMax()) segment_full_ = true;
  Counters::AddUnshared(&counters_.entry_bytes, entry.size());
  if (value != nullptr) Counters::AddUnshared(&counters_.external_values, 1);
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
  LAVA_RETURN_IF_ERROR(partitions_.CheckKey(*impl, key));
  LAVA_RETURN_IF_ERROR(CheckValue(*impl, value));
  if (impl->kind() == TableKind::kList)
    return Status::InvalidArgument("table '" + impl->name() +
                                   "' is a list: only values of others may end an entry");
  const size_t inline_bytes = InlineBytesOf(value, entry);
  if (inline_bytes > kInlineBytesMax || entry.size() > kEntryBytesMax)
    return Status::InvalidArgument("an entry of " + std::to_string(entry.size()) +
                                   " bytes does not end with its value of " +
                                   std::to_string(value.size()) + ", or is too long");
  const InternalKey internal(options_.partition_bytes, impl->id_bytes(), key.key);
  const uint32_t prefix_bytes = PartitionRange::InternalPrefix(key.prefix_bytes);
  MutexLock lock(&write_mutex_);
  LAVA_RETURN_IF_ERROR(MakeRoom(key.key.size() + 2 * kLoggedBytesMax));
  const EntrySegment::Value logged{internal.slice(), value, static_cast<uint32_t>(inline_bytes),
                                   impl->id(), TimestampOf(impl->options(), value)};
  ValueReference reference;
  LAVA_RETURN_IF_ERROR(LogEntry(entry, &logged, location, &reference));
  reference_.clear();
  EncodeReference(reference, &reference_);
  if (wal_ != nullptr) {
    Status status = LogReference(internal.slice(), prefix_bytes, reference_);
    if (!status.ok()) {
      entries_->Withdraw();
      return status;
    }
  }
  const LiveNote note(impl->dead(), internal.slice());
  active_->PutReference(internal.slice(), prefix_bytes, reference_);
  Wrote(key.key.size() + value.size());
  return Status::OK();
}

// With a write-ahead log the write's record there has the value, so nothing more is logged.
Status DBImpl::BindExternal(Slice entry, EntryLocation* location) {
  MutexLock lock(&write_mutex_);
  if (closed_.load()) return Status::Closed("the instance was closed");
  binds_ = true;
  const TableImpl* const table = std::exchange(last_write_table_, nullptr);
  if (table == nullptr || entry.size() > kEntryBytesMax) return Status::NotFound();
  LAVA_RETURN_IF_ERROR(last_write_appended_ == 0 ? BindPut(*table, entry, location)
                                                 : BindAppend(*table, entry, location));
  active_bytes_.store(active_->arena_bytes(), std::memory_order_relaxed);
  return Status::OK();
}

Status DBImpl::BindPut(const TableImpl& table, Slice entry, EntryLocation* location) {
  Lookup lookup(last_write_, last_write_prefix_bytes_);
  active_->Get(&lookup);
  lookup.Finish();
  if (!lookup.found() || lookup.reference() != nullptr) return Status::NotFound();
  const size_t inline_bytes = InlineBytesOf(lookup.value(), entry);
  if (inline_bytes > kInlineBytesMax) return Status::NotFound();
  const EntrySegment::Value logged{last_write_, lookup.value(), static_cast<uint32_t>(inline_bytes),
                                   table.id(), TimestampOf(table.options(), lookup.value())};
  ValueReference reference;
  LAVA_RETURN_IF_ERROR(LogEntry(entry, &logged, location, &reference));
  reference_.clear();
  EncodeReference(reference, &reference_);
  active_->PutReference(last_write_, last_write_prefix_bytes_, reference_);
  return Status::OK();
}

// Of one element, whose head in the list is what the entry lacks.
Status DBImpl::BindAppend(const TableImpl& table, Slice entry, EntryLocation* location) {
  const Slice segment = active_->Tail(last_write_, last_write_appended_);
  Slice rest = segment, element;
  ListSegment kind;
  if (segment.empty() || !NextListSegment(&rest, &kind, &element).ok() || !rest.empty() ||
      kind != ListSegment::kElement || !entry.ends_with(element))
    return Status::NotFound();
  if (entries_ != nullptr && !entries_->HasBirthFor(last_write_)) return Status::NotFound();
  const EntrySegment::Value logged{
      last_write_,      segment,      static_cast<uint32_t>(segment.size() - element.size()),
      table.id(),       std::nullopt,
      /*appended=*/true};
  ValueReference reference;
  LAVA_RETURN_IF_ERROR(LogEntry(entry, &logged, location, &reference));
  reference_.clear();
  AppendListReference(reference, &reference_);
  active_->ReplaceTail(last_write_, last_write_appended_, reference_);
  return Status::OK();
}

std::shared_ptr<EntrySegment> DBImpl::HeldEntries(uint64_t segment) const {
  MutexLock state(&state_mutex_);
  for (const auto& [first, held] : held_entries_)
    if (held.segment != nullptr && held.segment->id().number == segment) return held.segment;
  return nullptr;
}

bool DBImpl::IsHeld(const std::string& name) const {
  return std::any_of(held_entries_.begin(), held_entries_.end(),
                     [&name](const auto& held) { return held.second.name == name; });
}

Status DBImpl::GetExternal(Table* table, KeyRef key, EntryLocation* location) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(tables_.Check(table, &impl));
  LAVA_RETURN_IF_ERROR(partitions_.CheckKey(*impl, key));
  LAVA_ASSIGN_OR_RETURN(const ViewRef view, read_context_.ViewOf(nullptr));
  const InternalKey internal(options_.partition_bytes, impl->id_bytes(), key.key);
  Lookup lookup(internal.slice(), PartitionRange::InternalPrefix(key.prefix_bytes));
  LAVA_RETURN_IF_ERROR(LookUpIn(*view, &lookup));
  const ValueReference* const reference = lookup.reference();
  if (reference == nullptr || HasExpired(*view, *impl, lookup) ||
      reference->birth.origin != versions_.origin() ||
      HeldEntries(reference->birth.number) == nullptr)
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

// What was released may still be there.
Status DBImpl::ReadHeld(const EntryLocation& location, std::string* bytes) const {
  const std::string path = path_ + "/" + EntrySegmentName(location.segment);
  Result<std::unique_ptr<fs::RandomFile>> file = fs_->OpenRandom(path);
  if (!file.ok() && file.status().IsNotFound())
    return Status::NotFound("segment " + path + " of entries was released, and is gone");
  LAVA_RETURN_IF_ERROR(file.status());
  if (location.offset > (*file)->size() || location.bytes > (*file)->size() - location.offset)
    return Status::InvalidArgument(path + " has " + std::to_string((*file)->size()) +
                                   " bytes, none at offset " + std::to_string(location.offset) +
                                   " and " + std::to_string(location.bytes) + " more");
  bytes->resize(location.bytes);
  return (*file)->Read(location.offset, bytes->size(), bytes->data());
}

Status DBImpl::ReadEntry(const EntryLocation& location, std::string* entry) {
  std::string bytes;
  LAVA_RETURN_IF_ERROR(ReadHeld(location, &bytes));
  vsst::EntryReader reader(path_ + "/" + EntrySegmentName(location.segment), location.offset,
                           bytes);
  return reader.Next(entry);
}

Status DBImpl::ReadEntryValue(const EntryLocation& location, std::string* value) {
  std::string bytes;
  LAVA_RETURN_IF_ERROR(ReadHeld(location, &bytes));
  return vsst::EntryReader::ReadValue(path_ + "/" + EntrySegmentName(location.segment),
                                      location.offset, bytes, value);
}

Status DBImpl::RollEntries() {
  MutexLock lock(&write_mutex_);
  if (closed_.load()) return Status::Closed("the instance was closed");
  EndEntryRun();
  return Status::OK();
}

Status DBImpl::FinishEntries(uint64_t segment) {
  const Gate::Visit visit(gate_.get());
  if (!visit) return Status::Closed("the instance was closed");
  {
    MutexLock lock(&write_mutex_);
    if (entries_ != nullptr && entries_->id().number == segment)
      return Status::InvalidArgument("entries still go to segment " + EntrySegmentName(segment));
  }
  const std::shared_ptr<EntrySegment> held = HeldEntries(segment);
  if (held == nullptr)
    return Status::InvalidArgument("no segment " + EntrySegmentName(segment) +
                                   " of entries is held");
  return held->End();
}

Status DBImpl::ReleaseEntries(uint64_t through) {
  const Gate::Visit visit(gate_.get());
  if (!visit) return Status::Closed("the instance was closed");
  {
    MutexLock install(versions_.install_mutex());
    through = std::min(through, next_entry_ - 1);
    LAVA_RETURN_IF_ERROR(LogReleased(through));
    {
      MutexLock state(&state_mutex_);
      released_to_ = std::max(released_to_, through);
      DropReleased();
    }
    if (wal_ != nullptr) RemoveReplayedSegments();
  }
  RemoveObsoleteFiles();
  notifier_->Deliver();
  return Status::OK();
}

// Before a segment goes: else the next opening would miss its entries.
Status DBImpl::LogReleased(uint64_t through) {
  if (wal_ == nullptr || through <= versions_.state().entries_released.value_or(0))
    return Status::OK();
  VersionEdit edit;
  edit.entries_released = through;
  {
    MutexLock state(&state_mutex_);
    AdoptLeft();
  }
  LAVA_RETURN_IF_ERROR(Log(edit));
  MutexLock state(&state_mutex_);
  Adopt();
  return Status::OK();
}

// The segment that entries still go to waits for its memtable's flush.
void DBImpl::DropReleased() {
  while (!held_entries_.empty()) {
    const auto held = held_entries_.begin();
    const auto behind = std::next(held);
    HeldSegment& segment = held->second;
    // Read first: where entries do not go any more, all of them count in what follows.
    const uint64_t current = current_entries_;
    // The first entry that is not the segment's.
    const uint64_t end = behind == held_entries_.end() ? next_entry_.load() : behind->first;
    if (end - 1 > released_to_) return;
    if (segment.segment != nullptr && segment.segment->id().number == current) return;
    // What the write-ahead log may refer to goes once that is flushed.
    if (segment.segment == nullptr && !IsOfTree(segment.name))
      replayed_segments_.push_back(segment.name);
    held_entries_.erase(held);
  }
}

// Holds state: whether versions name the file, or did and somebody may read it still.
bool DBImpl::IsOfTree(const std::string& name) const {
  return versions_.obsolete_files().Contains(name) ||
         std::any_of(version_->value_files.begin(), version_->value_files.end(),
                     [&name](const auto& file) { return file.first.ValueFileName() == name; });
}

// Holds install, before anybody has the instance. In `none` no entry outlives the process.
Status DBImpl::FindEntries() {
  if (wal_ == nullptr) return Status::OK();
  std::map<uint64_t, HeldSegment> held;
  LAVA_ASSIGN_OR_RETURN(const std::vector<std::string> names, fs_->List(path_));
  for (const std::string& name : names) {
    if (!name.ends_with(".vsst") || !versions_.IsOwn(name)) continue;
    Result<std::unique_ptr<fs::RandomFile>> file = fs_->OpenRandom(path_ + "/" + name);
    if (!file.ok() && file.status().IsNotFound()) continue;
    LAVA_RETURN_IF_ERROR(file.status());
    vsst::EntryFileReader reader(file->get(), (*file)->size());
    LAVA_ASSIGN_OR_RETURN(const bool holds_entries, reader.HoldsEntries());
    if (!holds_entries) continue;
    std::string entry;
    const Status status = reader.Next(&entry);
    if (status.ok())
      held[reader.sequence()] = {name, nullptr, reader.sequence() - reader.skipped()};
    else
      LAVA_RETURN_IF_ERROR(JudgeEnd(reader, status));
  }
  const uint64_t released = versions_.state().entries_released.value_or(0);
  // What was released is there for the tree alone.
  while (held.size() > 1 && std::next(held.begin())->first <= released + 1)
    held.erase(held.begin());
  uint64_t end = released + 1, seen = released;
  LAVA_RETURN_IF_ERROR(
      WalkEntries(held, &end, &seen, [](uint64_t, Slice) { return Status::OK(); }));
  if (seen == released) held.clear();
  MutexLock write(&write_mutex_);
  MutexLock state(&state_mutex_);
  held_entries_ = std::move(held);
  released_to_ = released;
  next_entry_ = seen + 1;
  // So that what is behind a loss is not found again before what comes now.
  skipped_ = next_entry_ - end;
  return Status::OK();
}

// Whether a segment ends with what cannot be read: the entry that a crash tore was not
// acknowledged.
Status DBImpl::JudgeEnd(const vsst::EntryFileReader& reader, const Status& unsound) const {
  if (!unsound.IsCorruption()) return unsound;
  // A power cut takes what it likes of what was not synced.
  if (options_.wal != WalMode::kWalSync) return Status::OK();
  LAVA_ASSIGN_OR_RETURN(const bool damaged, reader.AnySoundBehind());
  return damaged ? unsound : Status::OK();
}

// Reads the segments of earlier runs in their order, past what is behind a loss. *end: the sequence
// from which on entries must be there; then behind the last that was read. *seen: the last that is
// used.
Status DBImpl::WalkEntries(const std::map<uint64_t, HeldSegment>& segments, uint64_t* end,
                           uint64_t* seen,
                           const std::function<Status(uint64_t, Slice)>& entry) const {
  const bool synced = options_.wal == WalMode::kWalSync;
  if (!segments.empty()) *end = std::min(*end, segments.begin()->second.follows);
  for (auto segment = segments.begin(); segment != segments.end(); ++segment) {
    const auto& [first, held] = *segment;
    const bool behind_loss = held.follows > *end;
    if (behind_loss && synced)
      return Status::Corruption(path_ + "/" + held.name + " begins with entry " +
                                std::to_string(first) + ", those from " + std::to_string(*end) +
                                " on are missing");
    const auto next = std::next(segment);
    const uint64_t limit = next == segments.end() ? UINT64_MAX : next->second.follows;
    LAVA_ASSIGN_OR_RETURN(const std::unique_ptr<fs::RandomFile> file,
                          fs_->OpenRandom(path_ + "/" + held.name));
    vsst::EntryFileReader reader(file.get(), file->size());
    std::string bytes;
    uint64_t expected = held.follows;
    Status unsound;
    while (!reader.done() && expected < limit) {
      unsound = reader.Next(&bytes);
      if (!unsound.ok() || reader.sequence() - reader.skipped() != expected) break;
      expected = reader.sequence() + 1;
      *seen = std::max(*seen, reader.sequence());
      if (!behind_loss) LAVA_RETURN_IF_ERROR(entry(reader.sequence(), bytes));
    }
    if (!behind_loss) *end = expected;
    // What the next segment follows must be there, unless a power cut may have taken it.
    if (synced && limit != UINT64_MAX && expected < limit)
      return Status::Corruption(file->path() + " ends with entry " + std::to_string(expected - 1) +
                                ", those up to " + std::to_string(limit - 1) + " are missing");
    if (!unsound.ok() && limit == UINT64_MAX) LAVA_RETURN_IF_ERROR(JudgeEnd(reader, unsound));
  }
  return Status::OK();
}

Status DBImpl::RecoverEntries(uint64_t after, const std::function<Status(uint64_t, Slice)>& entry) {
  const Gate::Visit visit(gate_.get());
  if (!visit) return Status::Closed("the instance was closed");
  std::map<uint64_t, HeldSegment> segments;  // by their first entries
  uint64_t from = after;
  {
    MutexLock state(&state_mutex_);
    from = std::max(from, released_to_);
    for (const auto& [first, held] : held_entries_)
      if (held.segment == nullptr) segments[first] = held;
  }
  uint64_t end = from + 1, seen = 0;
  return WalkEntries(segments, &end, &seen, [&](uint64_t sequence, Slice bytes) {
    return sequence <= from ? Status::OK() : entry(sequence, bytes);
  });
}

}  // namespace lava
