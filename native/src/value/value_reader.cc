#include "value/value_reader.h"

#include <algorithm>
#include <utility>

#include "value/key_iterator.h"
#include "value/value_head.h"
#include "value/verify.h"

namespace lava {
namespace {

using namespace vsst;  // NOLINT: this folder's own

constexpr size_t kReaderOverheadBytes = 1024;
/// Of key and raw value, and of a record as it is stored: greater values are not cached.
constexpr uint64_t kCachedBytesMax = 64 << 10;
constexpr uint64_t kCachedRecordBytesMax = kCachedBytesMax + kRecordOverheadBytesMax;

struct CachedPartition final : CachedBlock {
  size_t charge() const override { return sizeof(*this) + payload.capacity(); }
  std::string payload;
  PartitionView view;
};

/// A value with what it stands under: the memory holds key and value, or whole records.
struct CachedValue final : CachedBlock {
  explicit CachedValue(uint64_t memory_bytes)
      : memory(std::make_unique_for_overwrite<char[]>(memory_bytes)), bytes(memory_bytes) {}
  size_t charge() const override { return sizeof(*this) + bytes; }
  std::unique_ptr<char[]> memory;
  uint64_t bytes;
  Slice key, value;
  uint32_t birth = 0;
};

/// Where all records of one key stand.
struct Group {
  uint64_t offset = 0, bytes = 0;
};

class ValueSstReader final : public ValueReader {
 public:
  ValueSstReader(std::unique_ptr<ValueHead> head, BlockCache* cache, MemoryCounter* counter,
                 ReadCounters* counters)
      : head_(std::move(head)),
        cache_(cache),
        cache_file_(cache->NewFileId()),
        counter_(counter),
        counters_(counters) {
    const ValueFileProperties& p = head_->properties;
    charged_ = kReaderOverheadBytes + head_->top.memory_bytes() + p.lower.size() + p.upper.size() +
               p.births.size() * (sizeof(BirthShare) + sizeof(FileId));
    if (head_->dictionary != nullptr) charged_ += head_->dictionary->memory_bytes();
    if (counter_ != nullptr) counter_->Charge(charged_);
  }
  ~ValueSstReader() override {
    cache_->EraseFile(cache_file_);
    if (counter_ != nullptr) counter_->Release(charged_);
  }

  Status Get(Slice key, const FileId& birth, bool fill_cache, Slice* value,
             std::shared_ptr<const void>* pin) const override;
  std::unique_ptr<ValueScanner> NewScanner() const override;
  std::unique_ptr<ValueKeyIterator> NewKeyIterator() const override {
    return std::make_unique<KeyIterator>(head_.get());
  }
  Status ReadStored(const ValueKeyIterator& at, std::string* buffer, Compression* codec,
                    uint32_t* raw_bytes, Slice* stored) const override;
  Status DecodeStored(const ValueKeyIterator& at, Compression codec, uint32_t raw_bytes,
                      Slice stored, std::string* raw) const override {
    raw->resize(raw_bytes);
    return head_->DecompressValue(at.record_offset(), {codec, raw_bytes, stored}, raw->data());
  }
  std::unique_ptr<StoredValueReader> NewStoredReader() const override;
  Status VerifyAll() const override { return VerifyValueFile(*head_); }
  const ValueFileProperties& properties() const override { return head_->properties; }
  const std::string& path() const override { return head_->file->path(); }

  // For the readers below.
  /// InvalidArgument when the iterator stands at no record of this file.
  Status CheckPlace(const ValueKeyIterator& at) const;
  /// Checks the record that the iterator stands at, and gives its value undecoded.
  Status TakeStored(const ValueKeyIterator& at, Slice record_bytes, Compression* codec,
                    uint32_t* raw_bytes, Slice* stored) const;
  bool InBounds(Slice key, const FileId& birth) const;
  /// NotFound by the index, or the only records that may be of key.
  Status FindGroup(Slice key, Group* group) const;
  const ValueHead& head() const { return *head_; }
  /// Reads and counts it.
  Status ReadRecords(uint64_t offset, uint64_t bytes, char* to) const;

 private:
  using ValuePtr = std::shared_ptr<const CachedValue>;

  Status LoadPartition(const TopIndex::Partition& partition,
                       std::shared_ptr<const CachedPartition>* out) const;
  /// Finds (key, birth) in the group's records. *alone: no other record is in the group.
  Status ReadGroup(const Group& group, Slice key, const FileId& birth, ValuePtr* out,
                   bool* alone) const;
  /// records: what record borrows from; kept if the value need not be decompressed.
  Status Decode(uint64_t offset, const RecordView& record, std::shared_ptr<CachedValue> records,
                ValuePtr* out) const;
  void Count(std::atomic<uint64_t> ReadCounters::*counter, uint64_t n = 1) const {
    if (counters_ != nullptr) (counters_->*counter).fetch_add(n, std::memory_order_relaxed);
  }

  const std::unique_ptr<const ValueHead> head_;
  BlockCache* const cache_;
  const uint64_t cache_file_;
  MemoryCounter* const counter_;
  ReadCounters* const counters_;
  uint64_t charged_ = 0;
};

bool ValueSstReader::InBounds(Slice key, const FileId& birth) const {
  const ValueFileProperties& p = head_->properties;
  if (key < p.lower || key >= p.upper) return false;
  auto at = std::lower_bound(
      p.births.begin(), p.births.end(), birth,
      [](const BirthShare& share, const FileId& target) { return share.birth < target; });
  return at != p.births.end() && at->birth == birth;
}

Status ValueSstReader::LoadPartition(const TopIndex::Partition& partition,
                                     std::shared_ptr<const CachedPartition>* out) const {
  CacheKey cache_key{cache_file_, partition.block.offset};
  BlockCache::Ref ref = cache_->Lookup(cache_key);
  if (ref == nullptr) {
    Count(&ReadCounters::index_reads);
    auto loaded = std::make_shared<CachedPartition>();
    LAVA_RETURN_IF_ERROR(head_->LoadBlock(partition.block, &loaded->payload));
    const char* error =
        loaded->view.Load(loaded->payload, partition.records_end - partition.records_begin);
    if (error != nullptr) return head_->Malformed(partition.block.offset, error);
    ref = cache_->Insert(cache_key, BlockCache::Segment::kIndex, std::move(loaded));
  }
  *out = std::static_pointer_cast<const CachedPartition>(std::move(ref));
  return Status::OK();
}

Status ValueSstReader::FindGroup(Slice key, Group* group) const {
  const TopIndex::Partition& partition = head_->top.Find(key);
  std::shared_ptr<const CachedPartition> cached;
  LAVA_RETURN_IF_ERROR(LoadPartition(partition, &cached));
  const PartitionView& view = cached->view;
  uint32_t candidate = view.Candidate(key);
  if (view.fingerprint(candidate) != FingerprintOf(KeyHash(key))) return Status::NotFound();
  PartitionView::Group within = view.group(candidate);
  *group = {partition.records_begin + within.begin, within.end - within.begin};
  return Status::OK();
}

Status ValueSstReader::ReadRecords(uint64_t offset, uint64_t bytes, char* to) const {
  Count(&ReadCounters::value_reads);
  Count(&ReadCounters::value_bytes_read, bytes);
  return head_->file->Read(offset, bytes, to);
}

Status ValueSstReader::Decode(uint64_t offset, const RecordView& record,
                              std::shared_ptr<CachedValue> records, ValuePtr* out) const {
  const StoredValue& stored = record.value;
  std::shared_ptr<CachedValue> decoded = std::move(records);
  if (stored.codec == Compression::kNone) {
    decoded->key = record.key;
    decoded->value = stored.bytes;
  } else {
    // record borrows from the records, which decoded holds until it is replaced.
    auto made = std::make_shared<CachedValue>(record.key.size() + uint64_t{stored.raw_bytes});
    char* to = made->memory.get();
    std::copy(record.key.begin(), record.key.end(), to);
    made->key = Slice(to, record.key.size());
    to += record.key.size();
    LAVA_RETURN_IF_ERROR(head_->DecompressValue(offset, stored, to));
    made->value = Slice(to, stored.raw_bytes);
    decoded = std::move(made);
  }
  decoded->birth = record.birth;
  *out = std::move(decoded);
  return Status::OK();
}

Status ValueSstReader::ReadGroup(const Group& group, Slice key, const FileId& birth, ValuePtr* out,
                                 bool* alone) const {
  auto records = std::make_shared<CachedValue>(group.bytes);
  LAVA_RETURN_IF_ERROR(ReadRecords(group.offset, group.bytes, records->memory.get()));
  Slice rest(records->memory.get(), group.bytes);
  for (uint64_t offset = group.offset; !rest.empty();) {
    RecordView record;
    LAVA_RETURN_IF_ERROR(DecodeRecord(head_->source(), offset, rest, &record));
    if (record.key != key) return Status::NotFound();  // another key has its fingerprint
    *alone = record.bytes == group.bytes;
    if (head_->births[record.birth] == birth)
      return Decode(offset, record, std::move(records), out);
    rest.remove_prefix(record.bytes);
    offset += record.bytes;
  }
  return Status::NotFound();
}

Status ValueSstReader::Get(Slice key, const FileId& birth, bool fill_cache, Slice* value,
                           std::shared_ptr<const void>* pin) const {
  if (!InBounds(key, birth)) return Status::NotFound();
  Group group;
  LAVA_RETURN_IF_ERROR(FindGroup(key, &group));
  ValuePtr found;
  CacheKey cache_key{cache_file_, group.offset};
  bool may_be_cached = group.bytes <= kCachedRecordBytesMax;
  BlockCache::Ref ref = may_be_cached ? cache_->Lookup(cache_key) : nullptr;
  if (ref != nullptr) {
    Count(&ReadCounters::value_cache_hits);
    found = std::static_pointer_cast<const CachedValue>(std::move(ref));
    // What is cached is alone in its group.
    if (found->key != key || head_->births[found->birth] != birth) return Status::NotFound();
  } else {
    bool alone = false;
    LAVA_RETURN_IF_ERROR(ReadGroup(group, key, birth, &found, &alone));
    bool small = may_be_cached && found->key.size() + found->value.size() <= kCachedBytesMax;
    if (fill_cache && alone && small) {
      found = std::static_pointer_cast<const CachedValue>(
          cache_->Insert(cache_key, BlockCache::Segment::kData, std::move(found)));
    }
  }
  *value = found->value;
  *pin = std::move(found);
  return Status::OK();
}

class Scanner final : public ValueScanner {
 public:
  explicit Scanner(const ValueSstReader* reader) : reader_(*reader) {}

  Status Get(Slice key, const FileId& birth, Slice* value,
             std::shared_ptr<const void>* pin) override {
    // What iterates over a few entries again and again lives by the cache.
    if (calls_ < kCallsByTheCache) {
      ++calls_;
      return reader_.Get(key, birth, true, value, pin);
    }
    if (!reader_.InBounds(key, birth)) return Status::NotFound();
    RecordView record;
    for (uint32_t step = 0; step < kStepsMax && DecodeNext(&record); ++step) {
      if (record.key > key) break;  // maybe behind a place that was asked for already
      at_ += record.bytes;
      if (record.key == key && reader_.head().births[record.birth] == birth)
        return Show(at_ - record.bytes, record, value);
    }
    Group group;
    LAVA_RETURN_IF_ERROR(reader_.FindGroup(key, &group));
    LAVA_RETURN_IF_ERROR(Fill(group));
    while (at_ < group.offset + group.bytes) {
      LAVA_RETURN_IF_ERROR(DecodeRecord(reader_.head().source(), at_, Rest(), &record));
      if (record.key != key) return Status::NotFound();
      at_ += record.bytes;
      if (reader_.head().births[record.birth] == birth)
        return Show(at_ - record.bytes, record, value);
    }
    return Status::NotFound();
  }

 private:
  static constexpr uint32_t kCallsByTheCache = 4;
  static constexpr uint32_t kStepsMax = 8;
  static constexpr uint64_t kPieceBytesMax = 64 << 10;

  Slice Rest() const { return Slice(window_).substr(at_ - begin_); }
  // What is cut off or damaged is looked at again by way of the index.
  bool DecodeNext(RecordView* record) const {
    return at_ - begin_ < window_.size() &&
           DecodeRecord(reader_.head().source(), at_, Rest(), record).ok();
  }
  // Moves to a group, which is read with what follows when the walk goes on from where it was.
  Status Fill(const Group& group) {
    const uint64_t end = begin_ + window_.size();
    const bool inside = group.offset >= begin_ && group.offset + group.bytes <= end;
    if (!inside) {
      const bool goes_on = group.offset >= begin_ && group.offset - begin_ < 2 * kPieceBytesMax;
      piece_ = goes_on ? std::min(kPieceBytesMax, std::max(2 * piece_, 4 * group.bytes)) : 0;
      const uint64_t bytes =
          std::min(std::max(group.bytes, piece_), reader_.head().top.records_end() - group.offset);
      window_.resize(bytes);
      begin_ = at_ = group.offset;
      const Status status = reader_.ReadRecords(group.offset, bytes, window_.data());
      if (!status.ok()) window_.clear();
      return status;
    }
    at_ = group.offset;
    return Status::OK();
  }
  Status Show(uint64_t offset, const RecordView& record, Slice* value) {
    *value = record.value.bytes;
    if (record.value.codec == Compression::kNone) return Status::OK();
    raw_.resize(record.value.raw_bytes);
    LAVA_RETURN_IF_ERROR(reader_.head().DecompressValue(offset, record.value, raw_.data()));
    *value = raw_;
    return Status::OK();
  }

  const ValueSstReader& reader_;
  uint32_t calls_ = 0;
  std::string window_;  // records from begin_ on
  uint64_t begin_ = 0;  // offset in the file
  uint64_t at_ = 0;     // the record behind the last one shown
  uint64_t piece_ = 0;  // bytes to read at once
  std::string raw_;
};

std::unique_ptr<ValueScanner> ValueSstReader::NewScanner() const {
  return std::make_unique<Scanner>(this);
}

Status ValueSstReader::CheckPlace(const ValueKeyIterator& at) const {
  uint64_t offset = at.record_offset(), bytes = at.record_bytes(), end = head_->top.records_end();
  if (!at.Valid() || offset > end || bytes > end - offset)
    return Status::InvalidArgument(path() + ": the iterator stands at no record of this file");
  return Status::OK();
}

Status ValueSstReader::TakeStored(const ValueKeyIterator& at, Slice record_bytes,
                                  Compression* codec, uint32_t* raw_bytes, Slice* stored) const {
  const uint64_t offset = at.record_offset();
  RecordView record;
  LAVA_RETURN_IF_ERROR(DecodeRecord(head_->source(), offset, record_bytes, &record));
  if (record.bytes != record_bytes.size() || record.key != at.key() ||
      head_->births[record.birth] != at.birth() || record.value.raw_bytes != at.raw_bytes())
    return head_->Malformed(offset, "the dense key index is not that of the record");
  *codec = record.value.codec;
  *raw_bytes = record.value.raw_bytes;
  *stored = record.value.bytes;
  return Status::OK();
}

Status ValueSstReader::ReadStored(const ValueKeyIterator& at, std::string* buffer,
                                  Compression* codec, uint32_t* raw_bytes, Slice* stored) const {
  LAVA_RETURN_IF_ERROR(CheckPlace(at));
  buffer->resize(at.record_bytes());
  LAVA_RETURN_IF_ERROR(head_->file->Read(at.record_offset(), buffer->size(), buffer->data()));
  return TakeStored(at, *buffer, codec, raw_bytes, stored);
}

class StoredReader final : public StoredValueReader {
 public:
  explicit StoredReader(const ValueSstReader* reader) : reader_(*reader) {}

  Status Read(const ValueKeyIterator& at, Compression* codec, uint32_t* raw_bytes,
              Slice* stored) override {
    LAVA_RETURN_IF_ERROR(reader_.CheckPlace(at));
    const uint64_t offset = at.record_offset(), bytes = at.record_bytes();
    if (offset < begin_ || offset + bytes > begin_ + window_.size())
      LAVA_RETURN_IF_ERROR(Fill(offset, bytes));
    end_ = offset + bytes;
    const Slice record = Slice(window_).substr(offset - begin_, bytes);
    return reader_.TakeStored(at, record, codec, raw_bytes, stored);
  }
  uint64_t bytes_read() const override { return bytes_read_; }

 private:
  static constexpr uint64_t kBlockBytes = 4096;
  static constexpr uint64_t kPieceBytesMax = 256 << 10;

  Status Fill(uint64_t offset, uint64_t bytes) {
    const bool goes_on = bytes < kBlockBytes && offset >= end_ && offset - end_ < kBlockBytes;
    piece_ =
        goes_on && end_ > 0 ? std::min(kPieceBytesMax, std::max(2 * piece_, 4 * kBlockBytes)) : 0;
    const uint64_t wanted =
        std::min(std::max(bytes, piece_), reader_.head().top.records_end() - offset);
    window_.resize(wanted);
    begin_ = offset;
    bytes_read_ += wanted;
    const Status status = reader_.head().file->Read(offset, wanted, window_.data());
    if (!status.ok()) window_.clear();
    return status;
  }

  const ValueSstReader& reader_;
  std::string window_;  // of the file, from begin_ on
  uint64_t begin_ = 0;
  uint64_t end_ = 0;    // of the last record
  uint64_t piece_ = 0;  // bytes to read at once; 0: a record
  uint64_t bytes_read_ = 0;
};

std::unique_ptr<StoredValueReader> ValueSstReader::NewStoredReader() const {
  return std::make_unique<StoredReader>(this);
}

}  // namespace

Result<std::shared_ptr<ValueReader>> ValueReader::Open(std::unique_ptr<fs::RandomFile> file,
                                                       BlockCache* cache, MemoryCounter* counter,
                                                       ReadCounters* counters) {
  std::unique_ptr<ValueHead> head;
  LAVA_RETURN_IF_ERROR(ValueHead::Read(std::move(file), &head));
  return std::shared_ptr<ValueReader>(
      std::make_shared<ValueSstReader>(std::move(head), cache, counter, counters));
}

}  // namespace lava
