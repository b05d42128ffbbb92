#include <algorithm>

#include "base/lookup.h"
#include "db/db_impl.h"
#include "job/value_output.h"
#include "value/entry_record.h"

namespace lava {
namespace {

// What a segment keeps in memory for its index.
constexpr uint64_t kEntrySegmentRecordsMax = 64 << 10;

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
  return FileId{origin_, segment}.ValueFileName();
}

// Holds write. A memtable has as many as it takes; what died in them goes with its flush.
Status DBImpl::MakeEntrySegment() {
  if (entries_ != nullptr && entries_->sound() && entries_->bytes() < options_.value_file_bytes &&
      entries_->records() < kEntrySegmentRecordsMax)
    return Status::OK();
  entries_.reset();
  const FileId id = NextFile();
  const ValueLogOptions options{.compression = options_.value_compression, .sync = syncs()};
  // Through the page cache: the other layer reads it soon.
  LAVA_ASSIGN_OR_RETURN(
      std::shared_ptr<EntrySegment> segment,
      EntrySegment::Create(FilesOf(options_, nullptr), path_ + "/" + id.ValueFileName(), id,
                           options, budget_.counter(MemoryPurpose::kMemtables)));
  if (options_.wal == WalMode::kWalSync) LAVA_RETURN_IF_ERROR(fs_->SyncDirectory(path_));
  Attach(segment);
  {
    std::lock_guard<std::mutex> state(state_mutex_);
    held_entries_[id.number] = segment;
  }
  entries_ = std::move(segment);
  return Status::OK();
}

// Holds write.
Status DBImpl::LogEntry(Slice entry, EntrySegment::Value* value, EntryLocation* location,
                        ValueReference* reference) {
  LAVA_RETURN_IF_ERROR(MakeEntrySegment());
  Slice head = entry;
  if (value != nullptr) head.remove_suffix(value->bytes.size() - value->inline_bytes);
  const uint64_t before = entries_->bytes();
  LoggedRecord logged;
  LAVA_RETURN_IF_ERROR(
      entries_->AppendEntry(head, value, options_.wal == WalMode::kWalSync, &logged, reference));
  *location = {entries_->id().number, logged.offset, logged.bytes};
  entry_bytes_ += entries_->bytes() - before;
  // Else values that are overwritten here would take space for as long as nothing else fills it.
  if (entry_bytes_ >= EntryBytesMax()) segment_full_ = true;
  Counters::AddUnshared(&counters_.entry_bytes, entry.size());
  if (value != nullptr) Counters::AddUnshared(&counters_.external_values, 1);
  return Status::OK();
}

Status DBImpl::AppendEntry(Slice entry, EntryLocation* location) {
  if (entry.size() > kValueBytesMax)
    return Status::InvalidArgument("an entry has " + std::to_string(entry.size()) +
                                   " bytes, the limit is " + std::to_string(kValueBytesMax));
  WriteLock lock(write_mutex_);
  LAVA_RETURN_IF_ERROR(MakeRoom(&lock, 0));
  return LogEntry(entry, nullptr, location, nullptr);
}

Status DBImpl::PutExternal(Table* table, KeyRef key, Slice value, Slice entry,
                           EntryLocation* location) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(CheckTable(table, &impl));
  LAVA_RETURN_IF_ERROR(CheckKey(*impl, key));
  LAVA_RETURN_IF_ERROR(CheckValue(*impl, value));
  if (impl->kind() == TableKind::kList)
    return Status::InvalidArgument("table '" + impl->name() +
                                   "' is a list: only values of others may end an entry");
  const size_t inline_bytes = InlineBytesOf(value, entry);
  if (inline_bytes > kInlineBytesMax || entry.size() > kValueBytesMax)
    return Status::InvalidArgument("an entry of " + std::to_string(entry.size()) +
                                   " bytes does not end with its value of " +
                                   std::to_string(value.size()) + ", or is too long");
  const InternalKey internal(options_.partition_bytes, impl->id_bytes(), key.key);
  const uint32_t prefix_bytes = InternalPrefix(key.prefix_bytes);
  WriteLock lock(write_mutex_);
  LAVA_RETURN_IF_ERROR(MakeRoom(&lock, key.key.size() + 2 * kLoggedBytesMax));
  EntrySegment::Value logged{internal.slice(), value, static_cast<uint32_t>(inline_bytes),
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
  active_->PutReference(internal.slice(), prefix_bytes, reference_);
  Wrote(key.key.size() + value.size());
  return Status::OK();
}

// With a write-ahead log the put's record there has the value, so nothing more is logged.
Status DBImpl::BindExternal(Slice entry, EntryLocation* location) {
  WriteLock lock(write_mutex_);
  if (closed_.load()) return Status::Closed("the instance was closed");
  binds_ = true;
  TableImpl* const table = std::exchange(last_put_table_, nullptr);
  if (table == nullptr || entry.size() > kValueBytesMax) return Status::NotFound();
  Lookup lookup(last_put_, last_put_prefix_bytes_);
  active_->Get(&lookup);
  lookup.Finish();
  if (!lookup.found() || lookup.reference() != nullptr) return Status::NotFound();
  const size_t inline_bytes = InlineBytesOf(lookup.value(), entry);
  if (inline_bytes > kInlineBytesMax) return Status::NotFound();
  EntrySegment::Value logged{last_put_, lookup.value(), static_cast<uint32_t>(inline_bytes),
                             table->id(), TimestampOf(table->options(), lookup.value())};
  ValueReference reference;
  LAVA_RETURN_IF_ERROR(LogEntry(entry, &logged, location, &reference));
  reference_.clear();
  EncodeReference(reference, &reference_);
  active_->PutReference(last_put_, last_put_prefix_bytes_, reference_);
  active_bytes_.store(active_->arena_bytes(), std::memory_order_relaxed);
  return Status::OK();
}

std::shared_ptr<EntrySegment> DBImpl::HeldEntries(uint64_t segment) const {
  std::lock_guard<std::mutex> state(state_mutex_);
  const auto held = held_entries_.find(segment);
  return held == held_entries_.end() ? nullptr : held->second;
}

Status DBImpl::GetExternal(Table* table, KeyRef key, EntryLocation* location) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(CheckTable(table, &impl));
  LAVA_RETURN_IF_ERROR(CheckKey(*impl, key));
  LAVA_ASSIGN_OR_RETURN(const ViewRef view, ViewOf(nullptr));
  const InternalKey internal(options_.partition_bytes, impl->id_bytes(), key.key);
  Lookup lookup(internal.slice(), InternalPrefix(key.prefix_bytes));
  LAVA_RETURN_IF_ERROR(LookUp(*view, &lookup));
  const ValueReference* const reference = lookup.reference();
  if (reference == nullptr || HasExpired(*view, *impl, lookup) ||
      reference->birth.origin != origin_ || HeldEntries(reference->birth.number) == nullptr)
    return Status::NotFound();
  *location = {reference->birth.number, reference->logged_offset, reference->logged_bytes};
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
  WriteLock lock(write_mutex_);
  if (closed_.load()) return Status::Closed("the instance was closed");
  entries_.reset();
  return Status::OK();
}

Status DBImpl::FinishEntries(uint64_t segment) {
  const Gate::Visit visit(gate_.get());
  if (!visit) return Status::Closed("the instance was closed");
  {
    WriteLock lock(write_mutex_);
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
  std::vector<std::shared_ptr<EntrySegment>> released;  // go without the mutex
  {
    std::lock_guard<std::mutex> state(state_mutex_);
    const auto end = held_entries_.upper_bound(through);
    for (auto held = held_entries_.begin(); held != end; ++held)
      released.push_back(std::move(held->second));
    held_entries_.erase(held_entries_.begin(), end);
  }
  released.clear();
  RemoveObsoleteFiles();
  return Status::OK();
}

}  // namespace lava
