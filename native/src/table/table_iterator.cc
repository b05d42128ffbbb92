// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/table_iterator.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/record.h"
#include "base/value_reference.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "memory/memory_counter.h"
#include "table/blob_file_table.h"
#include "table/block_access.h"
#include "table/block_loader.h"
#include "table/index_partition.h"
#include "table/index_partition_slots.h"
#include "table/table_reader.h"
#include "table/table_writer.h"

namespace lava::ksst {
namespace {

// Walks that may end soon begin with reads of this size, which double while the walk goes on.
constexpr uint32_t kFirstPieceBytes = 16 << 10;
// Expectations below this are too uncertain to be used.
constexpr uint64_t kExpectedBytesMin = 8 << 10;
// Readahead of a walk through the cache: its largest read, and the number of blocks missing in the
// cache that the walk reads one by one first.
constexpr uint32_t kAheadBytes = 128 << 10, kBlocksAlone = 2;

/// Reads stored blocks of one file in pieces, for walks that bypass the cache or read ahead.
/// Threads:    one thread.
class ReadWindow {
 public:
  ReadWindow(const BlockLoader* loader, uint64_t end, uint32_t piece_bytes, bool grows)
      : loader_(loader),
        end_(end),
        piece_bytes_max_(piece_bytes),
        first_piece_bytes_(grows ? std::min(kFirstPieceBytes, piece_bytes) : piece_bytes) {}

  bool FitsInAPiece(uint64_t bytes) const { return bytes <= piece_bytes_max_; }
  /// The walk that begins now will want about this many bytes; 0: unknown.
  void Expect(uint64_t bytes) { expected_bytes_ = bytes < kExpectedBytesMin ? 0 : bytes; }
  bool expects() const { return expected_bytes_ > 0; }
  /// Stored bytes of the file, valid until the next call.
  Status Read(uint64_t offset, uint64_t bytes, Slice* stored) {
    if (offset < begin_ || offset + bytes > begin_ + length_) {
      const bool goes_on = length_ != 0 && offset >= begin_ && offset <= begin_ + length_;
      ChoosePiece(goes_on);
      // All blocks of records end at or before end_, so the window never reads past the file.
      uint64_t length = std::min(std::max<uint64_t>(bytes, piece_bytes_), end_ - offset);
      char* memory = buffer_.Reserve(static_cast<size_t>(length));
      length_ = 0;
      LAVA_RETURN_IF_ERROR(loader_->file().Read(offset, static_cast<size_t>(length), memory));
      memory_ = memory;
      begin_ = offset;
      length_ = length;
    }
    *stored = Slice(memory_ + (offset - begin_), static_cast<size_t>(bytes));
    return Status::OK();
  }

 private:
  void ChoosePiece(bool goes_on) {
    if (expects()) {
      // The walk begins and ends in the middle of blocks, so it reads more than expected.
      const auto most = static_cast<uint64_t>(piece_bytes_max_);
      const uint64_t piece = std::clamp(std::min(expected_bytes_, most) + kExpectedBytesMin,
                                        static_cast<uint64_t>(first_piece_bytes_), most);
      expected_bytes_ -= std::min(expected_bytes_, piece);
      next_piece_bytes_ = first_piece_bytes_;
      piece_bytes_ = static_cast<uint32_t>(piece);
      return;
    }
    piece_bytes_ = goes_on ? next_piece_bytes_ : first_piece_bytes_;
    next_piece_bytes_ = std::min(2 * piece_bytes_, piece_bytes_max_);
  }

  const BlockLoader* loader_;
  const uint64_t end_;
  const uint32_t piece_bytes_max_;
  const uint32_t first_piece_bytes_;
  uint64_t expected_bytes_ = 0;
  uint32_t piece_bytes_ = 0, next_piece_bytes_ = 0;
  BlockBuffer buffer_;
  const char* memory_ = nullptr;
  uint64_t begin_ = 0;
  uint64_t length_ = 0;
};

class TableIterator final : public RecordIterator {
 public:
  TableIterator(const TableHead& head, const BlockAccess& blocks, const IndexPartitionSlots& slots,
                const TableReader::IterateOptions& options)
      : head_(head),
        blocks_(blocks),
        slots_(slots),
        cached_(options.fill_cache && options.readahead_bytes == 0),
        looks_in_cache_(!cached_ && options.look_in_cache),
        ahead_memory_(options.ahead_memory),
        blocks_alone_(options.goes_on ? 0 : kBlocksAlone),
        expected_bytes_(cached_ ? options.expected_bytes : 0),
        window_(blocks.loader, head.data_end, cached_ ? kAheadBytes : options.readahead_bytes,
                cached_ || looks_in_cache_) {}

  bool Valid() const override { return at_ != nullptr; }
  const Record& record() const override { return translated_ ? record_ : at_->record(); }
  Status status() const override { return status_; }

  void SeekToFirst() override {
    if (!Start() || !MoveToIndexPartition(0)) return;
    BeginIndexPartition();
    Choose();
    Translate();
  }

  void Seek(Slice target) override {
    if (!Start()) return;
    uint32_t index_partition = head_.top.Find(target);
    if (index_partition == head_.top.count() || !MoveToIndexPartition(index_partition)) return;
    if (index_partition_->decoupled.block().count() != 0)
      decoupled_.Seek(index_partition_->decoupled.block(), target);
    next_block_ = index_partition_->index.Find(target);
    if (next_block_ < index_partition_->index.count()) {
      if (!MoveBlock()) return;
      // A separator may be above the last key of its block. The record is then in the next block.
      data_.Seek(*block_, target);
    }
    Choose();
    Translate();
  }

  void Next() override {
    at_->Next();
    // Most index partitions, or their remaining parts, have records in one of the two places only.
    if (data_.Valid() && !decoupled_.Valid()) {
      at_ = &data_;
    } else if (decoupled_.Valid() && !data_.Valid() &&
               next_block_ == index_partition_->index.count()) {
      at_ = &decoupled_;
    } else {
      Choose();
    }
    Translate();
  }

 private:
  /// Resets error and position. Returns false if there are no records.
  bool Start() {
    status_ = Status::OK();
    blocks_read_ = 0;
    window_.Expect(expected_bytes_);
    Invalidate();
    return head_.top.count() != 0;
  }

  void Invalidate() {
    at_ = nullptr;
    data_.Invalidate();
    decoupled_.Invalidate();
  }

  // Replaces indexes into the file's table of blob files, which mean nothing outside of the file.
  void Translate() {
    const RecordKind kind = at_ == nullptr ? RecordKind::kPut : at_->record().kind;
    translated_ = kind == RecordKind::kPutReference || HasParts(kind);
    if (!translated_) return;
    record_ = at_->record();
    if (!TranslateValue()) {
      translated_ = false;
      const uint64_t offset = at_ == &data_
                                  ? BlockAt(index_partition_->index, next_block_ - 1).offset
                                  : BlockAt(head_.top, index_partition_index_).offset;
      static_cast<void>(
          Keep(blocks_.loader->Malformed(offset, "a reference to a value is malformed")));
    }
  }
  bool TranslateValue() {
    const std::vector<TableProperties::NamedBlobFile>& blob_files = head_.properties.blob_files;
    ValueReference reference;
    if (HasParts(record_.kind)) {
      if (!DecodeFileList(record_.value, blob_files, &reference_)) return false;
    } else {
      if (!DecodeFileReference(record_.value, blob_files, &reference)) return false;
      reference_.clear();
      EncodeReference(reference, &reference_);
    }
    record_.value = reference_;
    return true;
  }

  bool Keep(Status status) {
    bool ok = status.ok();
    if (!ok) {
      status_ = std::move(status);
      Invalidate();
    }
    return ok;
  }

  /// Moves to the record that comes first: that of one of the cursors, or one of a block behind
  /// them.
  void Choose() {
    for (;;) {
      if (!data_.Valid() && next_block_ < index_partition_->index.count() && !NextBlockIsBehind()) {
        if (!MoveBlock()) return;
        data_.SeekToFirst(*block_);
      }
      if (data_.Valid() || decoupled_.Valid()) break;
      at_ = nullptr;
      if (index_partition_index_ + 1 >= head_.top.count()) return;
      if (!MoveToIndexPartition(index_partition_index_ + 1)) return;
      BeginIndexPartition();
    }
    // If both have the same key, the decoupled record comes first: it is a prefix delete.
    const bool data_first =
        !decoupled_.Valid() || (data_.Valid() && data_.record().key < decoupled_.record().key);
    at_ = data_first ? &data_ : &decoupled_;
  }

  /// Whether the decoupled record comes before the whole next block, which need not be read yet.
  bool NextBlockIsBehind() const {
    return decoupled_.Valid() && next_block_ > 0 &&
           index_partition_->index.Reaches(next_block_ - 1, decoupled_.record().key);
  }

  void BeginIndexPartition() {
    data_.Invalidate();
    next_block_ = 0;
    if (index_partition_->decoupled.block().count() != 0)
      decoupled_.SeekToFirst(index_partition_->decoupled.block());
  }

  bool MoveToIndexPartition(uint32_t index) {
    if (index_partition_ != nullptr && index_partition_index_ == index) return true;
    index_partition_index_ = index;
    index_partition_ = slots_.Get(index);
    if (index_partition_ != nullptr) return true;
    if (cached_ || looks_in_cache_) {
      bool cached = false;
      if (!Keep(blocks_.IndexPartition(head_.top, index, &index_partition_, &cached))) return false;
      if (cached) slots_.Keep(index, index_partition_);
      return true;
    }
    return Keep(LoadIndexPartition(BlockAt(head_.top, index), head_.top.extent_begin(index)));
  }

  /// Bypasses the cache. A short index partition is read together with its data blocks, and those
  /// of the index partitions behind it.
  Status LoadIndexPartition(const BlockHandle& handle, uint64_t base) {
    const uint64_t extent_bytes = handle.end() - base;
    if (!window_.FitsInAPiece(extent_bytes))
      return blocks_.loader->LoadIndexPartitionAt(handle, base, &index_partition_);
    Slice extent;
    LAVA_RETURN_IF_ERROR(window_.Read(base, extent_bytes, &extent));
    return blocks_.loader->ParseIndexPartition(handle, base, extent.substr(handle.offset - base),
                                               &index_partition_);
  }

  bool MoveBlock() {
    BlockHandle handle = BlockAt(index_partition_->index, next_block_++);
    if (cached_) {
      cached_block_ = blocks_.FindData(handle);
      if (cached_block_ != nullptr) {
        window_.Expect(0);  // the cache may have more of the file
      } else if (!Keep(LoadBlock(handle))) {
        return false;
      }
      block_ = &cached_block_->block;
      return true;
    }
    if (looks_in_cache_) {
      cached_block_ = blocks_.PeekData(handle);
      if (cached_block_ != nullptr) {
        block_ = &cached_block_->block;
        return true;
      }
    }
    Slice stored;
    blocks_.CountBlockRead();
    if (!Keep(window_.Read(handle.offset, handle.end() - handle.offset, &stored))) return false;
    block_ = &own_block_;
    return Keep(blocks_.loader->ParseData(handle, stored, &own_bytes_, &own_block_));
  }

  /// Loads the block into the cache. Reads the blocks behind it as well once the walk has gone on
  /// for a while.
  Status LoadBlock(const BlockHandle& handle) {
    if (!ReadsAhead() || !window_.FitsInAPiece(handle.end() - handle.offset))
      return blocks_.LoadData(handle, &cached_block_);
    Slice stored;
    LAVA_RETURN_IF_ERROR(window_.Read(handle.offset, handle.end() - handle.offset, &stored));
    return blocks_.LoadDataFrom(handle, stored, &cached_block_);
  }
  bool ReadsAhead() {
    if (ahead_memory_ == nullptr) return false;
    if (window_.expects()) blocks_read_ = blocks_alone_;
    if (blocks_read_++ < blocks_alone_) return false;
    if (!ahead_ && !ahead_charge_.Try(ahead_memory_, kAheadBytes)) {
      ahead_memory_ = nullptr;  // refused: do not ask again
      return false;
    }
    return ahead_ = true;
  }

  const TableHead& head_;
  const BlockAccess blocks_;
  const IndexPartitionSlots& slots_;
  const bool cached_;
  const bool looks_in_cache_;
  MemoryCounter* ahead_memory_;  // null: no readahead through the cache
  const uint32_t blocks_alone_;  // read one by one after a seek
  const uint64_t expected_bytes_;
  ScopedCharge ahead_charge_;  // outlives the window
  bool ahead_ = false;         // ahead_charge_ holds memory
  uint32_t blocks_read_ = 0;   // blocks since the last seek that the cache did not have
  Status status_;
  DataBlockCursor data_, decoupled_;  // in block_ and in index_partition_
  DataBlockCursor* at_ = nullptr;     // the cursor whose record is shown; null: none
  bool translated_ = false;           // record_ is shown instead
  Record record_;
  std::string reference_;
  uint32_t index_partition_index_ = 0;
  uint32_t next_block_ = 0;  // index in the index partition of the block behind block_
  std::shared_ptr<const CachedIndexPartition> index_partition_;
  const DataBlock* block_ = nullptr;
  std::shared_ptr<const CachedDataBlock> cached_block_;  // cached_, or found by looks_in_cache_
  ReadWindow window_;                                    // for other blocks, and for readahead
  BlockBuffer own_bytes_;
  DataBlock own_block_;
};

}  // namespace

std::unique_ptr<RecordIterator> NewTableIterator(const TableHead& head, const BlockAccess& blocks,
                                                 const IndexPartitionSlots& slots,
                                                 const TableReader::IterateOptions& options) {
  return std::make_unique<TableIterator>(head, blocks, slots, options);
}

}  // namespace lava::ksst
