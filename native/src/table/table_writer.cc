// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/table_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/block.h"
#include "base/checksum.h"
#include "base/coding.h"
#include "base/compression.h"
#include "base/hash.h"
#include "base/range_tombstones.h"
#include "base/record.h"
#include "base/value_reference.h"
#include "fs/file_system.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "table/blob_file_table.h"
#include "table/data_block.h"
#include "table/format.h"
#include "table/index_block.h"
#include "table/index_partition.h"
#include "table/properties.h"

namespace lava {
namespace {

using namespace ksst;  // NOLINT: this folder's own

/// The file's name without its directory. It is unique across all instances and stays the same when
/// the file is copied.
Slice NameOf(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? Slice(path) : Slice(path).substr(slash + 1);
}

class KeySstWriter final : public TableWriter {
 public:
  KeySstWriter(const TableWriterOptions& options, std::unique_ptr<fs::AppendFile> file,
               std::string path)
      : options_(options),
        file_(std::move(file)),
        path_(std::move(path)),
        compressor_(options.compression),
        table_prefix_bytes_(options.partition_bytes + kTableIdBytes),
        decoupled_kinds_(options.decouple_records ? kDecoupledKinds : 0),
        index_partition_(options.filter_bits_per_key) {
    footer_.unique_id = Hash64(NameOf(path_));
    properties_.partition_bytes = options.partition_bytes;
  }

  Status Add(const Record& record) override;
  Status AddRangeTombstones(const RangeTombstoneSet& tombstones) override {
    for (const RangeTombstone& range : tombstones.ranges()) tombstones_.Add(range.begin, range.end);
    return status_;
  }
  uint64_t estimated_bytes() const override {
    return offset_ + (block_.empty() ? 0 : block_.estimated_bytes()) +
           index_partition_.estimated_bytes() + top_.estimated_bytes();
  }
  Status Finish(TableProperties* properties) override;
  std::vector<std::string> TakeIndexPartitions() override { return std::exchange(kept_, {}); }

 private:
  Status CheckRecord(const Record& record) const;
  Status CheckOrder(const Record& record) const;
  Status AddChecked(const Record& record);
  Status AddReference(const Record& record);
  Status AddList(const Record& record);
  void Count(const Record& record);
  void AddHashes(const Record& record, uint64_t hash, size_t shared);
  /// Ends blocks that a record of this size does not fit into. key must differ from the last key.
  void EndFullBlocks(Slice key, bool decoupled, size_t bytes);
  /// key: the greatest key that the block or index partition is responsible for.
  void FlushBlock(const std::string& key);
  void FlushIndexPartition(const std::string& key);
  void FinishBounds();
  /// The oldest version that can hold the file, so that older libraries can read files without
  /// newer features.
  uint32_t VersionOf() const {
    if (!options_.decouple_records)
      return properties_.blob_files.empty() ? kFormatVersionOldest : kFormatVersionReferences;
    if (has_parts_) return kFormatVersion;
    const bool decoupled = properties_.deletes != 0 || properties_.prefix_deletes != 0 ||
                           !properties_.blob_files.empty();
    return decoupled ? kFormatVersionDecoupled : kFormatVersionOldest;
  }
  /// Compresses (if asked), seals and appends a block; returns its handle.
  BlockHandle WriteBlock(Slice raw, bool compress);
  void Append(Slice bytes);
  Status Invalid(const std::string& what) const {
    return Status::InvalidArgument(path_ + ": record " + std::to_string(records_added_) + ": " +
                                   what);
  }

  const TableWriterOptions options_;
  std::unique_ptr<fs::AppendFile> file_;
  const std::string path_;
  Compressor compressor_;
  const size_t table_prefix_bytes_;
  const RecordKinds decoupled_kinds_;

  Status status_;  // the first error
  bool finished_ = false;
  bool has_parts_ = false;
  uint64_t offset_ = 0;
  uint32_t crc_ = 0;
  uint64_t records_added_ = 0;
  Footer footer_;
  TableProperties properties_;
  RangeTombstoneSet tombstones_;

  DataBlockBuilder block_;
  IndexPartitionBuilder index_partition_;
  uint64_t index_partition_begin_ = 0;
  IndexBlockBuilder top_;
  std::string last_key_;
  // Leading bytes that all keys share since the last one in a data block, and since the last
  // decoupled one.
  size_t block_shared_ = 0, decoupled_shared_ = 0;
  RecordKind last_kind_ = RecordKind::kPut;
  uint32_t last_prefix_bytes_ = 0;  // of last_key_; the index partition has its hash
  std::string prefix_deletes_end_;  // greatest end of a prefix delete
  bool endless_ = false;            // a prefix delete has no end
  uint64_t table_id_ = 0;
  TableProperties::PerTable* table_ = nullptr;
  BlobFileTableBuilder blob_files_{&properties_.blob_files};
  std::string compressed_, sealed_, reference_;
  std::vector<std::string> kept_;  // all index partitions, or none
  uint64_t kept_bytes_ = 0;
};

Status KeySstWriter::CheckRecord(const Record& record) const {
  if (record.kind < RecordKind::kPut || record.kind > RecordKind::kAppendParts)
    return Invalid("its kind " + std::to_string(static_cast<int>(record.kind)) +
                   " is unknown or reserved");
  if (record.key.size() > kInternalKeyBytesMax)
    return Invalid("a key of " + std::to_string(record.key.size()) + " bytes, the limit is " +
                   std::to_string(kInternalKeyBytesMax));
  if (record.value.size() > options_.value_bytes_max)
    return Invalid("a value of " + std::to_string(record.value.size()) + " bytes, the limit is " +
                   std::to_string(options_.value_bytes_max));
  if (record.prefix_bytes > record.key.size()) return Invalid("its prefix is longer than its key");
  return Status::OK();
}

Status KeySstWriter::Add(const Record& record) {
  if (!status_.ok()) return status_;
  LAVA_RETURN_IF_ERROR(CheckRecord(record));
  if (HasParts(record.kind)) return AddList(record);
  return record.kind == RecordKind::kPutReference ? AddReference(record) : AddChecked(record);
}

Status KeySstWriter::AddList(const Record& record) {
  if (!options_.decouple_records) return Invalid("old versions have no lists with parts");
  if (record.key.size() < options_.partition_bytes) return Invalid("its key has no partition");
  LAVA_RETURN_IF_ERROR(CheckOrder(record));
  Record stored = record;
  reference_.clear();
  uint64_t raw_bytes = 0;
  const uint64_t partition = DecodeBigEndian(record.key.data(), options_.partition_bytes);
  if (Status added = blob_files_.AddList(partition, record.value, &reference_, &raw_bytes);
      !added.ok())
    return Invalid(std::string(added.message()));
  stored.value = reference_;
  has_parts_ = true;
  LAVA_RETURN_IF_ERROR(AddChecked(stored));
  if (table_ != nullptr) table_->bytes += raw_bytes;
  return Status::OK();
}

Status KeySstWriter::AddReference(const Record& record) {
  ValueReference reference;
  if (!DecodeReference(record.value, &reference)) return Invalid("its reference is malformed");
  if (record.key.size() < options_.partition_bytes) return Invalid("its key has no partition");
  LAVA_RETURN_IF_ERROR(CheckOrder(record));
  Record stored = record;
  reference_.clear();
  blob_files_.Add(DecodeBigEndian(record.key.data(), options_.partition_bytes), reference,
                  &reference_);
  stored.value = reference_;
  LAVA_RETURN_IF_ERROR(AddChecked(stored));
  // A table's bytes include those of its values in value files.
  if (table_ != nullptr) table_->bytes += reference.raw_bytes - reference_.size();
  return Status::OK();
}

// Called before a record's references are counted: a refused record must not count.
Status KeySstWriter::CheckOrder(const Record& record) const {
  if (records_added_ == 0) return Status::OK();
  const int order = record.key.compare(last_key_);
  if (order > 0 || (order == 0 && last_kind_ == RecordKind::kPrefixDelete &&
                    record.kind != RecordKind::kPrefixDelete))
    return Status::OK();
  return Invalid("it does not come behind the one before");
}

Status KeySstWriter::AddChecked(const Record& record) {
  size_t limit = std::min(record.key.size(), last_key_.size());
  size_t shared = static_cast<size_t>(
      std::mismatch(record.key.begin(), record.key.begin() + static_cast<ptrdiff_t>(limit),
                    last_key_.begin())
          .first -
      record.key.begin());
  bool same_key = false;
  if (records_added_ > 0) {
    int order = record.key.substr(shared).compare(Slice(last_key_).substr(shared));
    same_key = order == 0;
    if (order < 0 || (same_key && (last_kind_ != RecordKind::kPrefixDelete ||
                                   record.kind == RecordKind::kPrefixDelete)))
      return Invalid("it does not come behind the one before");
  }
  const bool decoupled = (KindBit(record.kind) & decoupled_kinds_) != 0;
  block_shared_ = std::min(block_shared_, shared);
  decoupled_shared_ = std::min(decoupled_shared_, shared);
  size_t& own_shared = decoupled ? decoupled_shared_ : block_shared_;
  // Both records of a key stand in one index partition, or one data block, so that a lookup reads
  // only one.
  if (!same_key)
    EndFullBlocks(record.key, decoupled, record.key.size() - own_shared + record.value.size() + 8);
  uint64_t hash = record.kind == RecordKind::kPrefixDelete ? PrefixDeleteHash(record.key)
                                                           : PointHash(record.key);
  if (decoupled) hash = DecoupledHash(hash);
  (decoupled ? index_partition_.decoupled : block_).Add(record, hash, own_shared);
  own_shared = SIZE_MAX;
  AddHashes(record, hash, shared);
  Count(record);
  last_key_.resize(shared);
  last_key_.append(record.key.substr(shared));
  last_kind_ = record.kind;
  ++records_added_;
  return status_;
}

void KeySstWriter::AddHashes(const Record& record, uint64_t hash, size_t shared) {
  if (options_.filter_bits_per_key == 0) return;
  uint32_t prefix_bytes = record.kind == RecordKind::kPrefixDelete ? 0 : record.prefix_bytes;
  std::vector<uint64_t>& hashes = index_partition_.hashes;
  bool known = !hashes.empty() && prefix_bytes == last_prefix_bytes_ && shared >= prefix_bytes;
  hashes.push_back(hash);
  if (prefix_bytes != 0 && !known) hashes.push_back(PrefixHash(record.key.substr(0, prefix_bytes)));
  last_prefix_bytes_ = prefix_bytes;
}

void KeySstWriter::Count(const Record& record) {
  if (records_added_ == 0) properties_.lower = record.key;
  ++properties_.records;
  properties_.raw_key_bytes += record.key.size();
  properties_.raw_value_bytes += record.value.size();
  if (record.kind == RecordKind::kDelete) ++properties_.deletes;
  if (IsAppend(record.kind)) ++properties_.appends;
  if (record.kind == RecordKind::kPrefixDelete) {
    ++properties_.prefix_deletes;
    std::string end = PrefixEnd(record.key);
    endless_ = endless_ || end.empty();
    prefix_deletes_end_ = std::max(prefix_deletes_end_, end);
  }
  if (record.key.size() < table_prefix_bytes_) {  // names no table
    table_ = nullptr;
    return;
  }
  uint64_t id = DecodeBigEndian(record.key.data() + options_.partition_bytes, kTableIdBytes);
  if (table_ == nullptr || id != table_id_) {
    table_ = &properties_.tables[id];
    table_id_ = id;
  }
  ++table_->records;
  table_->bytes += record.key.size() + record.value.size();
}

void KeySstWriter::Append(Slice bytes) {
  if (!status_.ok()) return;
  status_ = file_->Append(bytes);
  crc_ = Crc32c(bytes, crc_);
  offset_ += bytes.size();
}

BlockHandle KeySstWriter::WriteBlock(Slice raw, bool compress) {
  Compression codec = compress ? compressor_.Compress(raw, &compressed_) : Compression::kNone;
  Slice stored = codec == Compression::kNone ? raw : Slice(compressed_);
  BlockHandle handle{offset_, static_cast<uint32_t>(stored.size())};
  sealed_.assign(stored);
  SealBlock(footer_.unique_id, offset_, codec, static_cast<uint32_t>(raw.size()), &sealed_);
  Append(sealed_);
  return handle;
}

void KeySstWriter::EndFullBlocks(Slice key, bool decoupled, size_t bytes) {
  if (decoupled) {
    // Limits decoupled records to the size of a data block, which a lookup with a cold cache reads.
    const DataBlockBuilder& records = index_partition_.decoupled;
    if (!records.empty() &&
        (records.estimated_bytes() + bytes > options_.block_bytes ||
         index_partition_.estimated_bytes() + bytes > options_.index_partition_bytes))
      FlushIndexPartition(Separator(last_key_, key, table_prefix_bytes_));
  } else if (!block_.empty() && block_.estimated_bytes() + bytes > options_.block_bytes) {
    // `end` is behind the last key of either kind, because it may end the index partition, too.
    const std::string end = Separator(last_key_, key, table_prefix_bytes_);
    FlushBlock(end);
    if (index_partition_.estimated_bytes() >= options_.index_partition_bytes)
      FlushIndexPartition(end);
  }
}

void KeySstWriter::FlushBlock(const std::string& key) {
  BlockHandle handle = WriteBlock(block_.Finish(), true);
  block_.Reset();
  ++properties_.data_blocks;
  index_partition_.index.Add(key, handle.end() - handle.offset, handle.bytes);
}

void KeySstWriter::FlushIndexPartition(const std::string& key) {
  if (!block_.empty()) FlushBlock(key);
  std::string raw;
  index_partition_.Finish(&raw);
  last_prefix_bytes_ = 0;
  BlockHandle handle = WriteBlock(raw, true);
  ++properties_.index_partitions;
  kept_bytes_ += raw.size();
  if (kept_bytes_ <= options_.kept_index_partition_bytes)
    kept_.push_back(std::move(raw));
  else
    kept_.clear();
  top_.Add(key, handle.end() - index_partition_begin_, handle.bytes);
  index_partition_begin_ = handle.end();
}

void KeySstWriter::FinishBounds() {
  if (properties_.records > 0) properties_.upper = std::max(last_key_ + '\0', prefix_deletes_end_);
  const std::span<const RangeTombstone> ranges = tombstones_.ranges();
  properties_.range_tombstones = ranges.size();
  if (!ranges.empty()) {
    const std::string& begin = ranges.front().begin;
    const std::string& end = ranges.back().end;
    if (properties_.records == 0 || begin < properties_.lower) properties_.lower = begin;
    properties_.upper = std::max(properties_.upper, end);
  }
  if (endless_) properties_.upper.clear();
}

Status KeySstWriter::Finish(TableProperties* properties) {
  if (finished_) return Status::InvalidArgument(path_ + ": the key SST is finished already");
  finished_ = true;
  if (!block_.empty() || !index_partition_.empty()) FlushIndexPartition(last_key_);
  FinishBounds();
  std::string raw;
  if (!tombstones_.empty()) {
    EncodeTombstones(tombstones_, &raw);
    footer_.tombstones = WriteBlock(raw, true);
  }
  raw.clear();
  EncodeProperties(properties_, &raw);
  footer_.properties = WriteBlock(raw, true);
  raw.clear();
  top_.Finish(&raw);
  footer_.top_index = WriteBlock(raw, true);
  footer_.version = VersionOf();
  raw.clear();
  EncodeFooter(footer_, offset_, &raw);
  Append(raw);
  if (status_.ok()) status_ = options_.sync ? file_->Sync() : file_->Flush();
  if (status_.ok()) status_ = file_->Close();
  file_.reset();
  properties_.file_bytes = offset_;
  properties_.file_crc32c = crc_;
  if (status_.ok()) *properties = std::move(properties_);
  return status_;
}

}  // namespace

std::unique_ptr<TableWriter> TableWriter::Create(const TableWriterOptions& options,
                                                 std::unique_ptr<fs::AppendFile> file,
                                                 std::string path) {
  return std::make_unique<KeySstWriter>(options, std::move(file), std::move(path));
}

}  // namespace lava
