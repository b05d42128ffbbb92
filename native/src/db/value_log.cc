#include <algorithm>

#include "base/check.h"
#include "db/db_impl.h"
#include "job/value_output.h"

namespace lava {
namespace {

// The index of a segment is in memory as a whole.
constexpr uint64_t kSegmentRecordsMax = 64 << 10;

}  // namespace

namespace {

std::shared_ptr<const LogSegment> SegmentOf(const MemTable& table, const FileId& birth) {
  const auto segments = std::static_pointer_cast<const LogSegments>(table.attachment());
  if (segments == nullptr) return nullptr;
  for (const std::shared_ptr<LogSegment>& segment : segments->all)
    if (segment->Holds(birth)) return segment;
  return nullptr;
}

}  // namespace

std::shared_ptr<const LogSegment> SegmentOf(const ReadView& view, const FileId& birth) {
  std::shared_ptr<const LogSegment> segment;
  if (view.active != nullptr) segment = SegmentOf(*view.active, birth);
  for (size_t i = 0; i < view.sealed.size() && segment == nullptr; ++i)
    segment = SegmentOf(*view.sealed[i]->memtable, birth);
  return segment;
}

Status ReadLoggedValue(const ReadView& view, Slice key, const ValueReference& reference,
                       std::string* value) {
  const std::shared_ptr<const LogSegment> segment = SegmentOf(view, reference.birth);
  if (segment == nullptr)
    return Status::Corruption("a value was logged in " + reference.birth.ValueFileName() +
                              ", which no memtable has");
  return segment->Read(key, reference, value);
}

Status ReadLoggedTo(const ReadView& view, Slice key, const ListLayout::Logged& logged, char* to) {
  std::string value;
  LAVA_RETURN_IF_ERROR(ReadLoggedValue(view, key, logged.reference, &value));
  std::copy(value.begin(), value.end(), to + logged.offset);
  return Status::OK();
}

Status ReadList(const ReadView& view, Slice key, const ListLayout& list, std::string* whole) {
  std::vector<ListLayout::Logged> logged;
  LAVA_RETURN_IF_ERROR(list.Fetch(*view.version, key, whole, &logged));
  for (const ListLayout::Logged& part : logged)
    LAVA_RETURN_IF_ERROR(ReadLoggedTo(view, key, part, whole->data()));
  return Status::OK();
}

// Holds write. One that is full or torn is sealed with its memtable by what makes room for a write.
Status DBImpl::MakeSegment() {
  if (segment_ != nullptr) return Status::OK();
  const FileId id = NextFile();
  const ValueLogOptions options{.compression = options_.value_compression, .sync = true};
  // Through the page cache: a value is written, and maybe read, at once.
  LAVA_ASSIGN_OR_RETURN(std::shared_ptr<LogSegment> segment,
                        LogSegment::Create(FilesOf(options_, nullptr),
                                           path_ + "/" + id.ValueFileName(), id, options));
  // A name that a power cut takes away would take acknowledged values with it.
  if (options_.wal == WalMode::kWalSync) LAVA_RETURN_IF_ERROR(fs_->SyncDirectory(path_));
  Attach(segment);
  segment_ = std::move(segment);
  return Status::OK();
}

// Holds write.
void DBImpl::Attach(std::shared_ptr<LogSegment> segment) {
  segments_.push_back(std::move(segment));
  auto attached = std::make_shared<LogSegments>();
  attached->all = segments_;
  active_->Attach(std::move(attached));
}

Status DBImpl::LogValue(const TableImpl& table, Slice internal_key, Slice value,
                        std::string* reference) {
  ValueReference logged;
  logged.timestamp = TimestampOf(table.options(), value);
  const Status status =
      segment_->Append(internal_key, value, options_.wal == WalMode::kWalSync, &logged);
  segment_full_ = !segment_->sound() || segment_->bytes() >= options_.value_file_bytes ||
                  segment_->records() >= kSegmentRecordsMax;
  LAVA_RETURN_IF_ERROR(status);
  reference->clear();
  EncodeReference(logged, reference);
  LAVA_DCHECK(reference->size() <= kLoggedBytesMax);
  Counters::AddUnshared(&counters_.values_logged, 1);
  return Status::OK();
}

// A log that is closed is synced, so what it refers to must be.
void DBImpl::SyncSegments() {
  if (options_.wal != WalMode::kWal) return;
  std::vector<std::shared_ptr<LogSegment>> segments;
  {
    std::lock_guard<std::mutex> write(write_mutex_);
    std::lock_guard<std::mutex> state(state_mutex_);
    segments = segments_;
    for (const std::shared_ptr<SealedRun>& run : sealed_)
      segments.insert(segments.end(), run->segments.begin(), run->segments.end());
  }
  // What fails is what a power cut may take.
  for (const std::shared_ptr<LogSegment>& segment : segments) static_cast<void>(segment->Sync());
  if (!segments.empty()) static_cast<void>(fs_->SyncDirectory(path_));
}

// Holds install. Once all that the log said when this run began is in files.
void DBImpl::RemoveReplayedSegments() {
  if (replayed_segments_.empty() || manifest_->state().wal_flushed.value_or(0) < replayed_to_)
    return;
  for (const std::string& name : std::exchange(replayed_segments_, {})) {
    // What stays is removed by the next open.
    const Status status = fs_->Remove(path_ + "/" + name);
    if (!status.ok() && !status.IsNotFound()) Counters::Add(&counters_.background_errors, 1);
  }
}

Status DBImpl::LogValues(const WriteBatch& batch, std::vector<std::string>* references) {
  if (!large_values_) return Status::OK();
  for (size_t i = 0; i < batch.count(); ++i) {
    const WriteBatch::Operation& operation = batch.operations()[i];
    auto& table = *static_cast<TableImpl*>(operation.table);
    const Slice value = batch.value(operation);
    if (operation.kind != WriteBatch::Kind::kPut || !IsApart(table, value)) continue;
    table.CountApart();
    if (!IsLarge(table, value)) continue;
    if (references->empty()) {
      // Once: a batch is in one memtable, and so in one segment.
      LAVA_RETURN_IF_ERROR(MakeSegment());
      references->resize(batch.count());
    }
    const InternalKey key(options_.partition_bytes, table.id_bytes(), batch.key(operation));
    LAVA_RETURN_IF_ERROR(LogValue(table, key.slice(), value, &(*references)[i]));
  }
  return Status::OK();
}

}  // namespace lava
