// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/table_reader.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "base/lookup.h"
#include "base/range_tombstones.h"
#include "base/record.h"
#include "base/value_reference.h"
#include "cache/block_cache.h"
#include "fs/file_system.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "memory/memory_counter.h"
#include "table/blob_file_table.h"
#include "table/block_loader.h"
#include "table/bloom.h"
#include "table/data_block.h"
#include "table/format.h"
#include "table/index_partition.h"
#include "table/index_partition_slots.h"
#include "table/table_iterator.h"
#include "table/table_writer.h"

namespace lava {
namespace {

using namespace ksst;  // NOLINT: this folder's own

/// Charged for each reader, beside the parts that depend on the file.
constexpr size_t kReaderOverheadBytes = 1024;

class KeySstReader final : public TableReader {
 public:
  KeySstReader(TableHead head, BlockCache* cache, MemoryCounter* counter, ReadCounters* counters)
      : head_(std::move(head)),
        blocks_{head_.loader.get(), cache, cache->NewFileId(), counters},
        slots_(head_.top.count()),
        decoupled_(head_.footer.version >= kFormatVersionDecoupled),
        counter_(counter) {
    charged_ = kReaderOverheadBytes + head_.top_memory_bytes +
               head_.top.count() * sizeof(IndexPartitionSlot) + head_.properties.lower.size() +
               head_.properties.upper.size() + head_.properties.tables.size() * 96;
    for (const TableProperties::NamedBlobFile& named : head_.properties.blob_files)
      charged_ += sizeof(named) + named.partitions.size() * sizeof(named.partitions[0]);
    for (const RangeTombstone& range : head_.tombstones.ranges())
      charged_ += sizeof(range) + range.begin.size() + range.end.size();
    if (counter_ != nullptr) counter_->Charge(charged_);
  }
  ~KeySstReader() override {
    blocks_.cache->EraseFile(blocks_.file_id);
    if (counter_ != nullptr) counter_->Release(charged_);
  }

  Status Get(Lookup* lookup) const override;
  void Prefetch(const Lookup& lookup) const override {
    const uint32_t at = head_.top.Find(lookup.key());
    if (at < head_.top.count()) slots_.Prefetch(at, lookup.key_hash());
  }
  Result<bool> MayHavePrefix(Slice prefix) const override;
  Result<bool> HasPrefixDelete(Slice prefix) const override {
    if (head_.properties.prefix_deletes == 0) return false;
    Position position;
    bool found = false;
    LAVA_RETURN_IF_ERROR(FindPrefixDelete(&position, prefix, &found));
    return found;
  }
  std::unique_ptr<RecordIterator> NewIterator(const IterateOptions& options) const override {
    return NewTableIterator(head_, blocks_, slots_, options);
  }
  void Warm(std::span<const std::string> index_partitions) const override {
    if (index_partitions.size() != head_.top.count()) return;
    for (uint32_t i = 0; i < head_.top.count(); ++i)
      blocks_.AddIndexPartition(head_.top, i, index_partitions[i], head_.footer.version);
  }
  const TableProperties& properties() const override { return head_.properties; }
  const RangeTombstoneSet& range_tombstones() const override { return head_.tombstones; }
  const std::string& path() const override { return head_.loader->path(); }

 private:
  /// Where a lookup is: an index partition, and one of its data blocks.
  struct Position {
    static constexpr uint32_t kNone = UINT32_MAX;
    uint32_t index_partition_index = kNone;
    uint32_t block_index = kNone;
    std::shared_ptr<const CachedIndexPartition> index_partition;
    std::shared_ptr<const CachedDataBlock> block;
  };

  using Answer = IndexPartitionSlots::Answer;
  /// Moves to the index partition at index. kNo: its filter holds neither hash; position may have
  /// no index partition then.
  Status AskIndexPartition(uint32_t index, uint64_t hash, uint64_t other_hash, Position* position,
                           Answer* answer) const;
  /// Finds the record of exactly key. *found: *entry is set, and borrows from position's index
  /// index partition or block.
  Status Find(Position* position, Slice key, uint64_t hash, bool prefix_delete, bool* found,
              DataBlockEntry* entry) const;
  Status FindInBlock(Position* position, Slice key, uint64_t hash, bool prefix_delete, bool* found,
                     DataBlockEntry* entry) const;
  Status FindPrefixDelete(Position* position, Slice prefix, bool* found) const {
    DataBlockEntry entry;
    return Find(position, prefix, PrefixDeleteHash(prefix), true, found, &entry);
  }
  /// The hash of a prefix delete in this file.
  uint64_t StoredPrefixDeleteHash(Slice prefix) const {
    const uint64_t hash = PrefixDeleteHash(prefix);
    return decoupled_ ? DecoupledHash(hash) : hash;
  }
  /// Offset of the block that holds the reference found by Find().
  uint64_t ReferenceOffset(const Position& position) const {
    return decoupled_ ? BlockAt(head_.top, position.index_partition_index).offset
                      : BlockAt(position.index_partition->index, position.block_index).offset;
  }
  bool TombstoneOverlaps(Slice prefix) const;

  TableHead head_;
  BlockAccess blocks_;
  IndexPartitionSlots slots_;
  const bool decoupled_;  // index partitions of this file may hold records
  MemoryCounter* counter_;
  uint64_t charged_ = 0;
};

Status KeySstReader::AskIndexPartition(uint32_t index, uint64_t hash, uint64_t other_hash,
                                       Position* position, Answer* answer) const {
  if (position->index_partition_index != index) {
    position->index_partition_index = Position::kNone;
    position->block_index = Position::kNone;
    *answer = slots_.Ask(index, hash, other_hash, &position->index_partition);
    if (*answer == Answer::kNo) {
      blocks_.CountFilterUseful();
      return Status::OK();
    }
    if (*answer != Answer::kUnknown) {
      position->index_partition_index = index;
      return Status::OK();
    }
    bool cached = false;
    LAVA_RETURN_IF_ERROR(
        blocks_.IndexPartition(head_.top, index, &position->index_partition, &cached));
    // Only an index partition that the cache holds may be kept, since the cache counts its memory.
    if (cached) slots_.Keep(index, position->index_partition);
    position->index_partition_index = index;
  }
  const BloomView& filter = position->index_partition->filter;
  *answer = Answer::kMaybe;
  if (!filter.MayHold(hash)) {
    const bool other = other_hash != hash && filter.MayHold(other_hash);
    *answer = other ? Answer::kMaybeOther : Answer::kNo;
    if (!other) blocks_.CountFilterUseful();
  }
  return Status::OK();
}

Status KeySstReader::Find(Position* position, Slice key, uint64_t hash, bool prefix_delete,
                          bool* found, DataBlockEntry* entry) const {
  *found = false;
  uint32_t at = head_.top.Find(key);
  if (at == head_.top.count()) return Status::OK();
  const uint64_t decoupled_hash = decoupled_ ? DecoupledHash(hash) : hash;
  const bool only_decoupled = decoupled_ && prefix_delete;
  Answer answer = Answer::kNo;
  LAVA_RETURN_IF_ERROR(AskIndexPartition(at, only_decoupled ? decoupled_hash : hash, decoupled_hash,
                                         position, &answer));
  if (answer == Answer::kNo) return Status::OK();
  if (decoupled_) {
    // kMaybe does not say whether the record is decoupled; the same line of the filter does.
    const CachedIndexPartition& index_partition = *position->index_partition;
    if (only_decoupled || answer == Answer::kMaybeOther ||
        index_partition.filter.MayHold(decoupled_hash))
      *found = index_partition.decoupled.Find(key, decoupled_hash, prefix_delete, entry);
    if (*found || only_decoupled || answer == Answer::kMaybeOther) return Status::OK();
  }
  return FindInBlock(position, key, hash, prefix_delete, found, entry);
}

Status KeySstReader::FindInBlock(Position* position, Slice key, uint64_t hash, bool prefix_delete,
                                 bool* found, DataBlockEntry* entry) const {
  const CachedIndexPartition& index_partition = *position->index_partition;
  uint32_t block_index = index_partition.index.Find(key);
  if (block_index == index_partition.index.count()) return Status::OK();
  if (position->block_index != block_index || position->block == nullptr) {
    position->block_index = Position::kNone;
    LAVA_RETURN_IF_ERROR(
        blocks_.Data(BlockAt(index_partition.index, block_index), &position->block));
    position->block_index = block_index;
  }
  *found = position->block->block.Find(key, hash, prefix_delete, entry);
  return Status::OK();
}

Status KeySstReader::Get(Lookup* lookup) const {
  Position position;
  Slice key = lookup->key();
  bool found = false;
  DataBlockEntry entry;
  LAVA_RETURN_IF_ERROR(Find(&position, key, lookup->key_hash(), false, &found, &entry));
  if (found && entry.kind == RecordKind::kPutReference) {
    ValueReference reference;
    if (!DecodeFileReference(entry.value(), head_.properties.blob_files, &reference))
      return head_.loader->Malformed(ReferenceOffset(position),
                                     "a reference to a value is malformed");
    lookup->TellReference(reference);
    return Status::OK();
  }
  if (found) {
    bool has_value = entry.kind != RecordKind::kDelete && !lookup->existence_only;
    std::shared_ptr<const void> pin;
    Slice value = has_value ? entry.value() : Slice();
    if (has_value && HasParts(entry.kind)) {
      auto list = std::make_shared<std::string>();
      if (!DecodeFileList(value, head_.properties.blob_files, list.get()))
        return head_.loader->Malformed(
            BlockAt(position.index_partition->index, position.block_index).offset,
            "a list with parts in value files is malformed");
      value = *list;
      pin = std::move(list);
    } else if (has_value) {
      pin = std::move(position.block);
    }
    lookup->Tell(entry.kind, value, std::move(pin));
    if (lookup->done()) return Status::OK();
  }
  if (head_.properties.prefix_deletes != 0 && lookup->has_prefix()) {
    LAVA_RETURN_IF_ERROR(FindPrefixDelete(&position, lookup->prefix(), &found));
    if (found) {
      lookup->Hide();
      return Status::OK();
    }
  }
  if (!head_.tombstones.empty() && head_.tombstones.Covers(key)) lookup->Hide();
  return Status::OK();
}

bool KeySstReader::TombstoneOverlaps(Slice prefix) const {
  if (head_.tombstones.empty()) return false;
  std::string end = PrefixEnd(prefix);
  return end.empty() ? !head_.tombstones.Clip(prefix, {}).empty()
                     : head_.tombstones.Overlaps(prefix, end);
}

Result<bool> KeySstReader::MayHavePrefix(Slice prefix) const {
  if (TombstoneOverlaps(prefix)) return true;
  uint64_t hash = PrefixHash(prefix);
  uint64_t delete_hash =
      head_.properties.prefix_deletes != 0 ? StoredPrefixDeleteHash(prefix) : hash;
  Position position;
  for (uint32_t at = head_.top.Find(prefix); at < head_.top.count(); ++at) {
    Answer answer = Answer::kNo;
    LAVA_RETURN_IF_ERROR(AskIndexPartition(at, hash, delete_hash, &position, &answer));
    if (answer != Answer::kNo) return true;
    // The next index partition matters only if the greatest key of this one starts with the prefix.
    if (!head_.top.KeyStartsWith(at, prefix)) break;
  }
  return false;
}

}  // namespace

Result<std::shared_ptr<TableReader>> TableReader::Open(std::unique_ptr<fs::RandomFile> file,
                                                       BlockCache* cache, MemoryCounter* counter,
                                                       ReadCounters* counters) {
  TableHead head;
  LAVA_RETURN_IF_ERROR(ReadTableHead(std::move(file), &head));
  return std::shared_ptr<TableReader>(
      std::make_shared<KeySstReader>(std::move(head), cache, counter, counters));
}

}  // namespace lava
