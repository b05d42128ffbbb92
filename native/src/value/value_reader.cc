// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/value_reader.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/file_id.h"
#include "base/value_reference.h"
#include "cache/block_cache.h"
#include "fs/file_system.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "memory/large_memory.h"
#include "memory/memory_counter.h"
#include "value/crit_bit.h"
#include "value/format.h"
#include "value/key_iterator.h"
#include "value/log_index.h"
#include "value/record_pieces.h"
#include "value/value_file.h"
#include "value/value_head.h"
#include "value/verify.h"

namespace lava {
namespace {

using namespace vsst;  // NOLINT: this folder's own

constexpr size_t kReaderOverheadBytes = 1024;
/// Limits of cached values: of key and raw value together, and of the stored record.
constexpr uint64_t kCachedBytesMax = 64 << 10;
constexpr uint64_t kCachedRecordBytesMax = kCachedBytesMax + kRecordOverheadBytesMax;

struct CachedIndexPartition final : CachedBlock {
  size_t charge() const override { return sizeof(*this) + AllocatedBytes(payload.capacity() + 1); }
  std::string payload;
  IndexPartitionView view;
};

/// A value with its key and blob file. The memory holds either key and value, or the records that
/// contain them.
struct CachedValue final : CachedBlock {
  explicit CachedValue(uint64_t memory_bytes)
      : memory(std::make_unique_for_overwrite<char[]>(memory_bytes)), bytes(memory_bytes) {}
  size_t charge() const override { return sizeof(*this) + AllocatedBytes(bytes); }
  std::unique_ptr<char[]> memory;
  uint64_t bytes;
  Slice key, value;
  uint32_t blob_file_index = 0;
};

class ValueSstReader final : public ValueReader {
 public:
  ValueSstReader(std::unique_ptr<ValueHead> head, BlockCache* cache, MemoryCounter* counter,
                 ReadCounters* counters)
      : head_(std::move(head)),
        cache_(cache),
        cache_file_(cache->NewFileId()),
        counter_(counter),
        counters_(counters),
        ahead_(cache, cache_file_, head_->top.records_end(), use()) {
    const ValueFileProperties& p = head_->properties;
    charged_ = kReaderOverheadBytes + head_->top.memory_bytes() + p.lower.size() + p.upper.size() +
               p.blob_files.size() * (sizeof(BlobReference) + sizeof(FileId));
    if (head_->dictionary != nullptr) charged_ += head_->dictionary->memory_bytes();
    if (head_->log != nullptr) charged_ += head_->log->memory_bytes();
    if (counter_ != nullptr) counter_->Charge(charged_);
  }
  ~ValueSstReader() override {
    cache_->EraseFile(cache_file_);
    if (counter_ != nullptr) counter_->Release(charged_);
  }

  Status Get(Slice key, const FileId& blob_file, bool fill_cache, Slice* value,
             std::shared_ptr<const void>* pin) const override;
  Result<bool> GetInPieces(Slice key, const FileId& blob_file,
                           const PiecewiseRead& read) const override;
  std::unique_ptr<ValueScanner> NewScanner(uint64_t piece_bytes_max) const override;
  Status Locate(Slice key, const FileId& blob_file, ValueHandle* handle) const override {
    if (!InBounds(key, blob_file)) return Status::NotFound();
    return FindHandle(key, blob_file, handle);
  }
  Result<bool> CopyCached(const ValueHandle& handle, Slice key, const FileId& blob_file,
                          uint64_t raw_bytes, char* to) const override;
  Status CopyFrom(Slice records, const ValueHandle& handle, Slice key, const FileId& blob_file,
                  bool fill_cache, uint64_t raw_bytes, char* to) const override;
  const fs::RandomFile& file() const override { return *head_->file; }
  ScanAhead* ahead() const override { return head_->log == nullptr ? &ahead_ : nullptr; }
  void CountReads(uint64_t reads, uint64_t bytes) const override {
    Count(&ReadCounters::value_reads, reads);
    Count(&ReadCounters::value_bytes_read, bytes);
  }
  std::unique_ptr<ValueKeyIterator> NewKeyIterator() const override {
    if (head_->log != nullptr) return std::make_unique<LogKeyIterator>(head_.get());
    return std::make_unique<KeyIterator>(head_.get());
  }
  Status TakeStored(Slice key, const KeyIndexEntry& at, Slice record, Compression* codec,
                    Slice* stored) const override;
  Status DecodeStored(const KeyIndexEntry& at, Compression codec, Slice stored,
                      std::string* raw) const override {
    raw->resize(at.raw_bytes);
    const StoredValue value{codec, static_cast<uint32_t>(at.raw_bytes), stored};
    return head_->DecompressValue(at.handle.offset, value, raw->data());
  }
  Status VerifyAll() const override {
    return head_->log != nullptr ? VerifyValueLog(*head_) : VerifyValueFile(*head_);
  }
  const ValueFileProperties& properties() const override { return head_->properties; }
  const std::string& path() const override { return head_->file->path(); }

  // For the scanners below.
  bool InBounds(Slice key, const FileId& blob_file) const;
  /// Finds the only records that may be of key, or NotFound, by the index alone. blob_file must be
  /// one of the file's.
  Status FindHandle(Slice key, const FileId& blob_file, ValueHandle* handle) const;
  /// Finds (key, blob file) in the records of a handle.
  Status FindRecord(Slice records, const ValueHandle& handle, Slice key, const FileId& blob_file,
                    RecordView* record, uint64_t* offset) const;
  const ValueHead& head() const { return *head_; }
  /// Reads records, and counts the read.
  Status ReadRecords(uint64_t offset, uint64_t bytes, char* to) const;

 private:
  using ValuePtr = std::shared_ptr<const CachedValue>;

  Status LoadIndexPartition(const TopIndex::IndexPartition& index_partition,
                            std::shared_ptr<const CachedIndexPartition>* out) const;
  /// Looks the records up in the cache. *cached: whether the cache has its record. Returns null if
  /// it has not, or if the record is not of (key, blob file).
  ValuePtr FindCached(const ValueHandle& handle, Slice key, const FileId& blob_file,
                      bool* cached) const;
  Status ReadValue(const ValueHandle& handle, Slice key, const FileId& blob_file, ValuePtr* out,
                   bool* alone) const;
  /// records: the memory that record borrows from; kept unless the value is decompressed.
  Status Decode(uint64_t offset, const RecordView& record, std::shared_ptr<CachedValue> records,
                ValuePtr* out) const;
  static bool MayBeCached(const ValueHandle& handle, uint64_t bytes) {
    return handle.bytes <= kCachedRecordBytesMax && bytes <= kCachedBytesMax;
  }
  Status WrongSize(uint64_t offset, uint64_t bytes, uint64_t expected) const;
  CacheUse* use() const { return counters_ == nullptr ? nullptr : &counters_->cache; }
  void Count(std::atomic<uint64_t> ReadCounters::*counter, uint64_t n = 1) const {
    if (counters_ != nullptr) (counters_->*counter).fetch_add(n, std::memory_order_relaxed);
  }

  const std::unique_ptr<const ValueHead> head_;
  BlockCache* const cache_;
  const uint64_t cache_file_;
  MemoryCounter* const counter_;
  ReadCounters* const counters_;
  mutable ScanAhead ahead_;
  uint64_t charged_ = 0;
};

bool ValueSstReader::InBounds(Slice key, const FileId& blob_file) const {
  const ValueFileProperties& p = head_->properties;
  if (key < p.lower || key >= p.upper) return false;
  auto at = std::lower_bound(p.blob_files.begin(), p.blob_files.end(), blob_file,
                             [](const BlobReference& reference, const FileId& target) {
                               return reference.blob_file < target;
                             });
  return at != p.blob_files.end() && at->blob_file == blob_file;
}

Status ValueSstReader::LoadIndexPartition(const TopIndex::IndexPartition& index_partition,
                                          std::shared_ptr<const CachedIndexPartition>* out) const {
  CacheKey cache_key{cache_file_, index_partition.block.offset};
  BlockCache::Ref ref = cache_->Lookup(cache_key, BlockCache::Segment::kIndex, use());
  if (ref == nullptr) {
    Count(&ReadCounters::index_reads);
    auto loaded = std::make_shared<CachedIndexPartition>();
    LAVA_RETURN_IF_ERROR(head_->LoadBlock(index_partition.block, &loaded->payload));
    const char* error = loaded->view.Load(
        loaded->payload, index_partition.records_end - index_partition.records_begin);
    if (error != nullptr) return head_->Malformed(index_partition.block.offset, error);
    ref = cache_->Insert(cache_key, BlockCache::Segment::kIndex, std::move(loaded), use());
  }
  *out = std::static_pointer_cast<const CachedIndexPartition>(std::move(ref));
  return Status::OK();
}

Status ValueSstReader::FindHandle(Slice key, const FileId& blob_file, ValueHandle* handle) const {
  if (head_->log != nullptr) {
    const auto at = std::lower_bound(head_->blob_files.begin(), head_->blob_files.end(), blob_file);
    const LoggedRecord* const record =
        head_->log->Find(key, static_cast<uint32_t>(at - head_->blob_files.begin()));
    if (record == nullptr) return Status::NotFound();
    *handle = {record->offset, record->bytes};
    return Status::OK();
  }
  const TopIndex::IndexPartition& index_partition = head_->top.Find(key);
  std::shared_ptr<const CachedIndexPartition> cached;
  LAVA_RETURN_IF_ERROR(LoadIndexPartition(index_partition, &cached));
  const IndexPartitionView& view = cached->view;
  uint32_t candidate = view.Candidate(key);
  if (view.fingerprint(candidate) != FingerprintOf(KeyHash(key))) return Status::NotFound();
  IndexPartitionView::Group within = view.group(candidate);
  *handle = {index_partition.records_begin + within.begin, within.end - within.begin};
  return Status::OK();
}

Status ValueSstReader::ReadRecords(uint64_t offset, uint64_t bytes, char* to) const {
  CountReads(1, bytes);
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
    // record borrows from records, which decoded holds until it is replaced.
    auto made = std::make_shared<CachedValue>(record.key.size() + uint64_t{stored.raw_bytes});
    char* to = made->memory.get();
    std::copy(record.key.begin(), record.key.end(), to);
    made->key = Slice(to, record.key.size());
    to += record.key.size();
    LAVA_RETURN_IF_ERROR(head_->DecompressValue(offset, stored, to));
    made->value = Slice(to, stored.raw_bytes);
    decoded = std::move(made);
  }
  decoded->blob_file_index = record.blob_file_index;
  *out = std::move(decoded);
  return Status::OK();
}

Status ValueSstReader::FindRecord(Slice records, const ValueHandle& handle, Slice key,
                                  const FileId& blob_file, RecordView* record,
                                  uint64_t* offset) const {
  *offset = handle.offset;
  while (!records.empty()) {
    LAVA_RETURN_IF_ERROR(DecodeRecord(head_->source(), *offset, records, record));
    if (record->key != key) return Status::NotFound();  // another key with the same fingerprint
    if (head_->blob_files[record->blob_file_index] == blob_file) return Status::OK();
    records.remove_prefix(record->bytes);
    *offset += record->bytes;
  }
  return Status::NotFound();
}

Status ValueSstReader::ReadValue(const ValueHandle& handle, Slice key, const FileId& blob_file,
                                 ValuePtr* out, bool* alone) const {
  auto records = std::make_shared<CachedValue>(handle.bytes);
  LAVA_RETURN_IF_ERROR(ReadRecords(handle.offset, handle.bytes, records->memory.get()));
  RecordView record;
  uint64_t offset;
  const Slice bytes(records->memory.get(), handle.bytes);
  LAVA_RETURN_IF_ERROR(FindRecord(bytes, handle, key, blob_file, &record, &offset));
  *alone = record.bytes == handle.bytes;
  return Decode(offset, record, std::move(records), out);
}

ValueSstReader::ValuePtr ValueSstReader::FindCached(const ValueHandle& handle, Slice key,
                                                    const FileId& blob_file, bool* cached) const {
  BlockCache::Ref ref =
      handle.bytes <= kCachedRecordBytesMax
          ? cache_->Lookup(CacheKey{cache_file_, handle.offset}, BlockCache::Segment::kData, use())
          : nullptr;
  *cached = ref != nullptr;
  if (ref == nullptr) return nullptr;
  Count(&ReadCounters::value_cache_hits);
  ValuePtr found = std::static_pointer_cast<const CachedValue>(std::move(ref));
  // Only records that are alone at their handle are cached.
  if (found->key != key || head_->blob_files[found->blob_file_index] != blob_file) return nullptr;
  return found;
}

Status ValueSstReader::Get(Slice key, const FileId& blob_file, bool fill_cache, Slice* value,
                           std::shared_ptr<const void>* pin) const {
  ValueHandle handle;
  LAVA_RETURN_IF_ERROR(Locate(key, blob_file, &handle));
  bool cached = false;
  ValuePtr found = FindCached(handle, key, blob_file, &cached);
  if (cached && found == nullptr) return Status::NotFound();
  if (!cached) {
    bool alone = false;
    LAVA_RETURN_IF_ERROR(ReadValue(handle, key, blob_file, &found, &alone));
    if (fill_cache && alone && MayBeCached(handle, found->key.size() + found->value.size())) {
      found = std::static_pointer_cast<const CachedValue>(cache_->Insert(
          {cache_file_, handle.offset}, BlockCache::Segment::kData, std::move(found), use()));
    }
  }
  *value = found->value;
  *pin = std::move(found);
  return Status::OK();
}

Result<bool> ValueSstReader::GetInPieces(Slice key, const FileId& blob_file,
                                         const PiecewiseRead& read) const {
  ValueHandle handle;
  LAVA_RETURN_IF_ERROR(Locate(key, blob_file, &handle));
  const auto at = std::find(head_->blob_files.begin(), head_->blob_files.end(), blob_file);
  CountReads(1, handle.bytes);
  return ReadInPieces(*head_->file, head_->footer.unique_id, handle.offset, handle.bytes, key,
                      static_cast<uint32_t>(at - head_->blob_files.begin()), read);
}

Status ValueSstReader::WrongSize(uint64_t offset, uint64_t bytes, uint64_t expected) const {
  const std::string what = "a value has " + std::to_string(bytes) + " bytes, its reference says " +
                           std::to_string(expected);
  return head_->Malformed(offset, what.c_str());
}

Result<bool> ValueSstReader::CopyCached(const ValueHandle& handle, Slice key,
                                        const FileId& blob_file, uint64_t raw_bytes,
                                        char* to) const {
  bool cached = false;
  const ValuePtr found = FindCached(handle, key, blob_file, &cached);
  if (!cached) return false;
  if (found == nullptr) return Status::NotFound();
  if (found->value.size() != raw_bytes)
    return WrongSize(handle.offset, found->value.size(), raw_bytes);
  std::copy(found->value.begin(), found->value.end(), to);
  return true;
}

Status ValueSstReader::CopyFrom(Slice records, const ValueHandle& handle, Slice key,
                                const FileId& blob_file, bool fill_cache, uint64_t raw_bytes,
                                char* to) const {
  RecordView record;
  uint64_t offset;
  LAVA_RETURN_IF_ERROR(FindRecord(records, handle, key, blob_file, &record, &offset));
  if (record.value.raw_bytes != raw_bytes)
    return WrongSize(offset, record.value.raw_bytes, raw_bytes);
  if (record.value.codec == Compression::kNone)
    std::copy(record.value.bytes.begin(), record.value.bytes.end(), to);
  else
    LAVA_RETURN_IF_ERROR(head_->DecompressValue(offset, record.value, to));
  const bool alone = record.bytes == handle.bytes;
  if (!fill_cache || !alone || !MayBeCached(handle, key.size() + raw_bytes)) return Status::OK();
  auto kept = std::make_shared<CachedValue>(key.size() + raw_bytes);
  char* memory = std::copy(key.begin(), key.end(), kept->memory.get());
  std::copy(to, to + raw_bytes, memory);
  kept->key = Slice(kept->memory.get(), key.size());
  kept->value = Slice(memory, raw_bytes);
  kept->blob_file_index = record.blob_file_index;
  (void)cache_->Insert({cache_file_, handle.offset}, BlockCache::Segment::kData, std::move(kept),
                       use());
  return Status::OK();
}

Status DecodeInto(const ValueHead& head, uint64_t offset, const StoredValue& stored,
                  std::string* raw, Slice* value) {
  *value = stored.bytes;
  if (stored.codec == Compression::kNone) return Status::OK();
  raw->resize(stored.raw_bytes);
  LAVA_RETURN_IF_ERROR(head.DecompressValue(offset, stored, raw->data()));
  *value = *raw;
  return Status::OK();
}

class Scanner final : public ValueScanner {
 public:
  Scanner(const ValueSstReader* reader, uint64_t piece_bytes_max)
      : reader_(*reader), piece_bytes_max_(piece_bytes_max) {}

  Status GetStored(Slice key, const FileId& blob_file, StoredValue* stored) override {
    if (!reader_.InBounds(key, blob_file)) return Status::NotFound();
    RecordView record;
    for (uint32_t step = 0; step < kStepsMax && DecodeNext(&record); ++step) {
      if (record.key > key) break;  // the key may stand earlier in the file
      at_ += record.bytes;
      if (record.key == key && reader_.head().blob_files[record.blob_file_index] == blob_file)
        return Show(at_ - record.bytes, record, stored);
    }
    ValueHandle handle;
    LAVA_RETURN_IF_ERROR(reader_.FindHandle(key, blob_file, &handle));
    LAVA_RETURN_IF_ERROR(Fill(handle));
    uint64_t offset;
    LAVA_RETURN_IF_ERROR(reader_.FindRecord(Rest().substr(0, handle.bytes), handle, key, blob_file,
                                            &record, &offset));
    at_ = offset + record.bytes;
    return Show(offset, record, stored);
  }
  Status Decode(const StoredValue& stored, Slice* value) override {
    return DecodeInto(reader_.head(), shown_offset_, stored, &raw_, value);
  }

 private:
  static constexpr uint32_t kStepsMax = 8;

  Slice Rest() const { return Slice(window_).substr(at_ - begin_); }
  // False at the end of the window, and for a record that is cut off or damaged: GetStored() then
  // reads through the index, which reports the damage.
  bool DecodeNext(RecordView* record) const {
    return at_ - begin_ < window_.size() &&
           DecodeRecord(reader_.head().source(), at_, Rest(), record).ok();
  }
  // Moves to the records of a handle. Reads them if they are not in the window, and the bytes that
  // follow as well if the walk goes on from where it was.
  Status Fill(const ValueHandle& handle) {
    const uint64_t end = begin_ + window_.size();
    const bool inside = handle.offset >= begin_ && handle.offset + handle.bytes <= end;
    if (!inside) {
      const bool goes_on = handle.offset >= begin_ && handle.offset - begin_ < 2 * piece_bytes_max_;
      piece_ = goes_on ? std::min(piece_bytes_max_, std::max(2 * piece_, 4 * handle.bytes)) : 0;
      const uint64_t bytes = std::min(std::max(handle.bytes, piece_),
                                      reader_.head().top.records_end() - handle.offset);
      window_.resize(bytes);
      begin_ = at_ = handle.offset;
      const Status status = reader_.ReadRecords(handle.offset, bytes, window_.data());
      if (!status.ok()) window_.clear();
      return status;
    }
    at_ = handle.offset;
    return Status::OK();
  }
  Status Show(uint64_t offset, const RecordView& record, StoredValue* stored) {
    shown_offset_ = offset;
    *stored = record.value;
    return Status::OK();
  }

  const ValueSstReader& reader_;
  const uint64_t piece_bytes_max_;
  std::string window_;  // records from begin_ on
  uint64_t begin_ = 0;  // offset in the file
  uint64_t at_ = 0;     // the record behind the last one shown
  uint64_t piece_ = 0;  // bytes to read at once
  uint64_t shown_offset_ = 0;
  std::string raw_;
};

/// Scanner of a value log. Its records are not in key order, so each is read by itself.
class LogScanner final : public ValueScanner {
 public:
  explicit LogScanner(const ValueSstReader* reader) : reader_(*reader) {}

  Status GetStored(Slice key, const FileId& blob_file, StoredValue* stored) override {
    ValueHandle handle;
    LAVA_RETURN_IF_ERROR(reader_.Locate(key, blob_file, &handle));
    bytes_.resize(handle.bytes);
    LAVA_RETURN_IF_ERROR(reader_.ReadRecords(handle.offset, handle.bytes, bytes_.data()));
    RecordView record;
    LAVA_RETURN_IF_ERROR(
        reader_.FindRecord(bytes_, handle, key, blob_file, &record, &shown_offset_));
    *stored = record.value;
    return Status::OK();
  }
  Status Decode(const StoredValue& stored, Slice* value) override {
    return DecodeInto(reader_.head(), shown_offset_, stored, &raw_, value);
  }

 private:
  const ValueSstReader& reader_;
  uint64_t shown_offset_ = 0;
  std::string bytes_, raw_;
};

std::unique_ptr<ValueScanner> ValueSstReader::NewScanner(uint64_t piece_bytes_max) const {
  if (head_->log != nullptr) return std::make_unique<LogScanner>(this);
  return std::make_unique<Scanner>(this, piece_bytes_max);
}

Status ValueSstReader::TakeStored(Slice key, const KeyIndexEntry& at, Slice bytes,
                                  Compression* codec, Slice* stored) const {
  const uint64_t offset = at.handle.offset;
  RecordView record;
  LAVA_RETURN_IF_ERROR(DecodeRecord(head_->source(), offset, bytes, &record));
  if (record.bytes != bytes.size() || record.key != key ||
      head_->blob_files[record.blob_file_index] != at.blob_file ||
      record.value.raw_bytes != at.raw_bytes)
    return head_->Malformed(offset, "the dense key index is not that of the record");
  *codec = record.value.codec;
  *stored = record.value.bytes;
  return Status::OK();
}

}  // namespace

Status ValueReader::ReadStored(const ValueKeyIterator& at, std::string* buffer, Compression* codec,
                               Slice* stored) const {
  if (!at.Valid())
    return Status::InvalidArgument(path() + ": the iterator stands at no record of this file");
  const KeyIndexEntry entry = at.index_entry();
  buffer->resize(entry.handle.bytes);
  LAVA_RETURN_IF_ERROR(file().Read(entry.handle.offset, buffer->size(), buffer->data()));
  return TakeStored(at.key(), entry, *buffer, codec, stored);
}

Result<std::shared_ptr<ValueReader>> ValueReader::Open(std::unique_ptr<fs::RandomFile> file,
                                                       BlockCache* cache, MemoryCounter* counter,
                                                       ReadCounters* counters) {
  std::unique_ptr<ValueHead> head;
  LAVA_RETURN_IF_ERROR(ValueHead::Read(std::move(file), &head));
  return std::shared_ptr<ValueReader>(
      std::make_shared<ValueSstReader>(std::move(head), cache, counter, counters));
}

}  // namespace lava
