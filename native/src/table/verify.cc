// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/verify.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/block.h"
#include "base/coding.h"
#include "base/file_id.h"
#include "base/record.h"
#include "base/value_reference.h"
#include "fs/file_system.h"
#include "lava/db.h"
#include "lava/options.h"
#include "lava/status.h"
#include "table/blob_file_table.h"
#include "table/block_loader.h"
#include "table/bloom.h"
#include "table/data_block.h"
#include "table/format.h"
#include "table/index_partition.h"
#include "table/table_writer.h"

namespace lava {
namespace {

using namespace ksst;  // NOLINT: this folder's own

class Verifier {
 public:
  explicit Verifier(std::span<const TableInfo> tables) : tables_(tables) {}

  Status Run(std::unique_ptr<fs::RandomFile> file) {
    LAVA_RETURN_IF_ERROR(ReadTableHead(std::move(file), &head_));
    std::string before;  // the greatest key that earlier index partitions may hold
    for (uint32_t i = 0; i < head_.top.count(); ++i) {
      std::string last = head_.top.key(i);
      LAVA_RETURN_IF_ERROR(VerifyIndexPartition(i, before, last));
      before = std::move(last);
    }
    return VerifyProperties();
  }

 private:
  /// A block of records. All of its keys are in (low, high]; low null: no lower bound.
  struct BoundedBlock {
    const CachedIndexPartition& index_partition;
    const DataBlock& block;
    uint64_t offset;
    const std::string* low;
    const std::string& high;
    bool decoupled;

    uint64_t HashOf(const Record& record) const {
      const uint64_t hash = record.kind == RecordKind::kPrefixDelete ? PrefixDeleteHash(record.key)
                                                                     : PointHash(record.key);
      return decoupled ? DecoupledHash(hash) : hash;
    }
  };

  Status VerifyIndexPartition(uint32_t i, const std::string& before, const std::string& last) {
    BlockHandle handle = BlockAt(head_.top, i);
    std::shared_ptr<const CachedIndexPartition> index_partition;
    const std::string* lowest = i == 0 ? nullptr : &before;
    Status status =
        head_.loader->LoadIndexPartitionAt(handle, head_.top.extent_begin(i), &index_partition);
    if (!status.ok()) return Name(std::move(status), lowest, last);
    ++found_.index_partitions;
    const BoundedBlock beside{
        *index_partition, index_partition->decoupled.block(), handle.offset, lowest, last, true};
    if (beside.block.count() != 0) decoupled_.SeekToFirst(beside.block);
    const IndexBlock& index = index_partition->index;
    std::string low = before;
    for (uint32_t j = 0; j < index.count(); ++j) {
      std::string high = index.key(j);
      BlockHandle block = BlockAt(index, j);
      const std::string* bound = i == 0 && j == 0 ? nullptr : &low;
      if (block.offset != index.extent_begin(j))
        return head_.loader->Malformed(index.extent_begin(j), "there are bytes before a block");
      status = VerifyBlock(block, bound, high, beside);
      if (!status.ok()) return Name(std::move(status), bound, high);
      low = std::move(high);
    }
    status = VerifyDecoupled(beside, nullptr);
    if (!status.ok()) return Name(std::move(status), lowest, last);
    // With decoupled records, the index may end before its index partition does.
    if (index.count() == 0 || (beside.block.count() != 0 && low < last)) return Status::OK();
    if (low != last)
      return head_.loader->Malformed(handle.offset,
                                     "a partition's last key is not the top index's");
    return Status::OK();
  }

  Status VerifyBlock(const BlockHandle& handle, const std::string* low, const std::string& high,
                     const BoundedBlock& beside) {
    stored_.resize(handle.bytes + kBlockTrailerBytes);
    LAVA_RETURN_IF_ERROR(head_.loader->file().Read(handle.offset, stored_.size(), stored_.data()));
    DataBlock block;
    LAVA_RETURN_IF_ERROR(head_.loader->ParseData(handle, stored_, &buffer_, &block));
    ++found_.data_blocks;
    const BoundedBlock bounded{beside.index_partition, block, handle.offset, low, high, false};
    DataBlockCursor cursor;
    for (cursor.SeekToFirst(block); cursor.Valid(); cursor.Next()) {
      LAVA_RETURN_IF_ERROR(VerifyDecoupled(beside, &cursor.record()));
      LAVA_RETURN_IF_ERROR(VerifyRecord(bounded, cursor.record()));
    }
    return Status::OK();
  }

  /// Verifies the decoupled records that come before next, a record of a data block; null: all that
  /// are left.
  Status VerifyDecoupled(const BoundedBlock& beside, const Record* next) {
    for (; decoupled_.Valid(); decoupled_.Next()) {
      if (next != nullptr && decoupled_.record().key > next->key) break;
      LAVA_RETURN_IF_ERROR(VerifyRecord(beside, decoupled_.record()));
    }
    return Status::OK();
  }

  Status VerifyRecord(const BoundedBlock& bounded, const Record& record) {
    const char* wrong = CheckRecord(record, bounded);
    if (wrong == nullptr) wrong = CheckFindable(record, bounded);
    if (wrong == nullptr && record.kind == RecordKind::kPutReference)
      wrong = CountReference(record);
    if (wrong == nullptr && HasParts(record.kind)) wrong = CountList(record);
    if (wrong != nullptr) return head_.loader->Malformed(bounded.offset, wrong);
    const bool reference = record.kind == RecordKind::kPutReference;
    Count(record, (reference ? 0 : record.value.size()) +
                      (reference || HasParts(record.kind) ? raw_bytes_ : 0));
    last_key_ = record.key;
    last_kind_ = record.kind;
    return Status::OK();
  }

  const char* CheckRecord(const Record& record, const BoundedBlock& bounded) const {
    bool prefix_delete = record.kind == RecordKind::kPrefixDelete;
    if (found_.records > 0) {
      int order = record.key.compare(last_key_);
      if (order < 0 || (order == 0 && (prefix_delete || last_kind_ != RecordKind::kPrefixDelete)))
        return "a record does not come behind the one before";
    }
    if ((bounded.low != nullptr && record.key <= *bounded.low) || record.key > bounded.high)
      return "a record stands outside the keys that the index gives its block";
    const TableProperties& p = head_.properties;
    if (record.key < p.lower || (!p.upper.empty() && record.key >= p.upper))
      return "a record stands outside the file's bounds";
    const BloomView& filter = bounded.index_partition.filter;
    if (!filter.MayHold(bounded.HashOf(record))) return "a record is missing in its filter";
    if (!prefix_delete && record.prefix_bytes != 0 &&
        !filter.MayHold(PrefixHash(record.key.substr(0, record.prefix_bytes))))
      return "a record's prefix is missing in its filter";
    return nullptr;
  }

  static const char* CheckFindable(const Record& record, const BoundedBlock& bounded) {
    bool prefix_delete = record.kind == RecordKind::kPrefixDelete;
    DataBlockEntry entry;
    bool found = bounded.block.Find(record.key, bounded.HashOf(record), prefix_delete, &entry) &&
                 entry.kind == record.kind && entry.value().data() == record.value.data();
    return found ? nullptr : "a record's fingerprint does not find it";
  }

  const char* CountReference(const Record& record) {
    ValueReference reference;
    if (record.key.size() < head_.properties.partition_bytes ||
        !DecodeFileReference(record.value, head_.properties.blob_files, &reference))
      return "a reference to a value is malformed";
    raw_bytes_ = 0;
    CountReferenced(record.key, reference);
    return nullptr;
  }
  const char* CountList(const Record& record) {
    std::string list;
    std::vector<ValueReference> references;
    if (record.key.size() < head_.properties.partition_bytes ||
        !DecodeFileList(record.value, head_.properties.blob_files, &list, &references) ||
        references.empty())
      return "a list with parts in value files is malformed";
    raw_bytes_ = 0;
    for (const ValueReference& reference : references) CountReferenced(record.key, reference);
    return nullptr;
  }
  void CountReferenced(Slice key, const ValueReference& reference) {
    auto& share = referenced_[reference.blob_file]
                             [DecodeBigEndian(key.data(), head_.properties.partition_bytes)];
    ++share.records;
    share.raw_bytes += reference.raw_bytes;
    raw_bytes_ += reference.raw_bytes;
  }

  bool BlobFilesAreThoseFound() const {
    size_t count = 0;
    for (const TableProperties::NamedBlobFile& named : head_.properties.blob_files) {
      const auto found = referenced_.find(named.blob_file);
      if (found == referenced_.end() ||
          !std::equal(named.partitions.begin(), named.partitions.end(), found->second.begin(),
                      found->second.end(), [](const auto& a, const auto& b) {
                        return a.partition == b.first && a.records == b.second.records &&
                               a.raw_bytes == b.second.raw_bytes;
                      }))
        return false;
      ++count;
    }
    return count == referenced_.size();
  }

  void Count(const Record& record, uint64_t table_bytes) {
    ++found_.records;
    found_.raw_key_bytes += record.key.size();
    found_.raw_value_bytes += record.value.size();
    if (record.kind == RecordKind::kDelete) ++found_.deletes;
    if (IsAppend(record.kind)) ++found_.appends;
    if (record.kind == RecordKind::kPrefixDelete) ++found_.prefix_deletes;
    if (std::optional<uint64_t> id = TableIdOf(record.key); id.has_value()) {
      TableProperties::PerTable& table = found_.tables[*id];
      ++table.records;
      table.bytes += record.key.size() + table_bytes;
    }
  }

  Status VerifyProperties() const {
    const TableProperties& p = head_.properties;
    bool equal =
        p.records == found_.records && p.deletes == found_.deletes && p.appends == found_.appends &&
        p.prefix_deletes == found_.prefix_deletes &&
        p.range_tombstones == head_.tombstones.ranges().size() &&
        p.raw_key_bytes == found_.raw_key_bytes && p.raw_value_bytes == found_.raw_value_bytes &&
        p.data_blocks == found_.data_blocks && p.index_partitions == found_.index_partitions &&
        std::equal(p.tables.begin(), p.tables.end(), found_.tables.begin(), found_.tables.end(),
                   [](const auto& a, const auto& b) {
                     return a.first == b.first && a.second.records == b.second.records &&
                            a.second.bytes == b.second.bytes;
                   });
    if (equal && BlobFilesAreThoseFound()) return Status::OK();
    return head_.loader->Malformed(head_.footer.properties.offset,
                                   "the properties' counts are not those of the file's records");
  }

  std::optional<uint64_t> TableIdOf(Slice key) const {
    size_t partition_bytes = head_.properties.partition_bytes;
    if (key.size() < partition_bytes + kTableIdBytes) return std::nullopt;
    return DecodeBigEndian(key.data() + partition_bytes, kTableIdBytes);
  }

  std::string NameOf(uint64_t id) const {
    for (const TableInfo& table : tables_) {
      if (table.id == id) return "'" + table.name + "'";
    }
    return "with id " + std::to_string(id);
  }

  /// Names the tables of the keys in (low, high] in a Corruption, as far as both bounds have one.
  Status Name(Status status, const std::string* low, const std::string& high) const {
    if (!status.IsCorruption()) return status;
    std::optional<uint64_t> to = TableIdOf(high);
    std::optional<uint64_t> from = TableIdOf(low == nullptr ? head_.properties.lower : *low);
    std::string message(status.message());
    if (to.has_value() && from.has_value() && *from != *to) {
      message += "; it may hit data of table " + NameOf(*from) + " up to table " + NameOf(*to);
    } else if (to.has_value()) {
      message += "; it hits data of table " + NameOf(*to);
    }
    return Status::Corruption(std::move(message));
  }

  std::span<const TableInfo> tables_;
  TableHead head_;
  TableProperties found_;
  uint64_t raw_bytes_ = 0;  // of the values that the last record refers to
  std::map<FileId, std::map<uint64_t, TableProperties::NamedBlobFile::Share>> referenced_;
  std::string last_key_;
  RecordKind last_kind_ = RecordKind::kPut;
  DataBlockCursor decoupled_;  // of the current index partition
  std::string stored_;
  BlockBuffer buffer_;
};

}  // namespace

Status VerifyTableFile(fs::FileSystem* file_system, const std::string& path,
                       std::span<const TableInfo> tables) {
  LAVA_ASSIGN_OR_RETURN(std::unique_ptr<fs::RandomFile> file, file_system->OpenRandom(path));
  return Verifier(tables).Run(std::move(file));
}

}  // namespace lava
