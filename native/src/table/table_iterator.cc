#include "table/table_iterator.h"

#include <algorithm>

#include "table/birth_table.h"

namespace lava::ksst {
namespace {

/// Reads stored blocks of one file in pieces, for walks that go past the cache.
class ReadWindow {
 public:
  ReadWindow(const BlockLoader* loader, uint64_t end, uint32_t piece_bytes)
      : loader_(loader), end_(end), piece_bytes_(piece_bytes) {}

  /// The stored bytes of the block, valid until the next call.
  Status Read(const BlockHandle& handle, Slice* stored) {
    size_t bytes = handle.bytes + kBlockTrailerBytes;
    if (handle.offset < begin_ || handle.offset + bytes > begin_ + length_) {
      // end_ is behind every data block, so the window never asks past the file.
      uint64_t length = std::min(std::max<uint64_t>(bytes, piece_bytes_), end_ - handle.offset);
      char* memory = buffer_.Reserve(static_cast<size_t>(length));
      length_ = 0;
      LAVA_RETURN_IF_ERROR(
          loader_->file().Read(handle.offset, static_cast<size_t>(length), memory));
      memory_ = memory;
      begin_ = handle.offset;
      length_ = length;
    }
    *stored = Slice(memory_ + (handle.offset - begin_), bytes);
    return Status::OK();
  }

 private:
  const BlockLoader* loader_;
  const uint64_t end_;
  const uint32_t piece_bytes_;
  BlockBuffer buffer_;
  const char* memory_ = nullptr;
  uint64_t begin_ = 0;
  uint64_t length_ = 0;
};

class TableIterator final : public RecordIterator {
 public:
  TableIterator(const TableHead& head, const BlockAccess& blocks, const PartitionSlots& slots,
                const TableReader::IterateOptions& options)
      : head_(head),
        blocks_(blocks),
        slots_(slots),
        cached_(options.fill_cache && options.readahead_bytes == 0),
        window_(blocks.loader, head.data_end, options.readahead_bytes) {}

  bool Valid() const override { return cursor_.Valid(); }
  const Record& record() const override { return translated_ ? record_ : cursor_.record(); }
  Status status() const override { return status_; }

  void SeekToFirst() override {
    if (!Start() || !MovePartition(0) || !MoveBlock(0)) return;
    cursor_.SeekToFirst(*block_);
    Translate();
  }

  void Seek(Slice target) override {
    if (!Start()) return;
    uint32_t partition = head_.top.Find(target);
    if (partition == head_.top.count() || !MovePartition(partition)) return;
    uint32_t block = partition_->index.Find(target);
    if (block < partition_->index.count()) {
      if (!MoveBlock(block)) return;
      cursor_.Seek(*block_, target);
    } else {
      block_index_ = block;  // the target is above the partition's last block: only when damaged
    }
    // A separator may be above the last key of its block: then the record is the next block's.
    SkipToRecord();
    Translate();
  }

  void Next() override {
    cursor_.Next();
    if (!cursor_.Valid()) [[unlikely]]
      SkipToRecord();
    Translate();
  }

 private:
  /// Forgets the last error and place; false when there are no records.
  bool Start() {
    status_ = Status::OK();
    cursor_.Invalidate();
    return head_.top.count() != 0;
  }

  // Outside of the file an index into its table says nothing.
  void Translate() {
    translated_ = cursor_.Valid() && cursor_.record().kind == RecordKind::kPutReference;
    if (!translated_) return;
    record_ = cursor_.record();
    ValueReference reference;
    if (!DecodeFileReference(record_.value, head_.properties.births, &reference)) {
      translated_ = false;
      static_cast<void>(Keep(blocks_.loader->Malformed(partition_->index.extent_begin(block_index_),
                                                       "a reference to a value is malformed")));
      return;
    }
    reference_.clear();
    EncodeReference(reference, &reference_);
    record_.value = reference_;
  }

  bool Keep(Status status) {
    bool ok = status.ok();
    if (!ok) {
      status_ = std::move(status);
      cursor_.Invalidate();
    }
    return ok;
  }

  void SkipToRecord() {
    while (!cursor_.Valid()) {
      if (block_index_ + 1 < partition_->index.count()) {
        if (!MoveBlock(block_index_ + 1)) return;
      } else {
        if (partition_index_ + 1 >= head_.top.count()) return;
        if (!MovePartition(partition_index_ + 1) || !MoveBlock(0)) return;
      }
      cursor_.SeekToFirst(*block_);
    }
  }

  bool MovePartition(uint32_t index) {
    if (partition_ != nullptr && partition_index_ == index) return true;
    partition_index_ = index;
    partition_ = slots_.Get(index);
    if (partition_ != nullptr) return true;
    if (cached_) {
      bool cached = false;
      if (!Keep(blocks_.Partition(head_.top, index, &partition_, &cached))) return false;
      if (cached) slots_.Keep(index, partition_);
      return true;
    }
    return Keep(blocks_.loader->LoadPartitionAt(BlockAt(head_.top, index),
                                                head_.top.extent_begin(index), &partition_));
  }

  bool MoveBlock(uint32_t index) {
    block_index_ = index;
    BlockHandle handle = BlockAt(partition_->index, index);
    if (cached_) {
      if (!Keep(blocks_.Data(handle, &cached_block_))) return false;
      block_ = &cached_block_->block;
      return true;
    }
    Slice stored;
    blocks_.CountBlockRead();
    if (!Keep(window_.Read(handle, &stored))) return false;
    block_ = &own_block_;
    return Keep(blocks_.loader->ParseData(handle, stored, &own_bytes_, &own_block_));
  }

  const TableHead& head_;
  const BlockAccess blocks_;
  const PartitionSlots& slots_;
  const bool cached_;
  Status status_;
  DataBlockCursor cursor_;
  bool translated_ = false;  // record_ is shown in the cursor's place
  Record record_;
  std::string reference_;
  uint32_t partition_index_ = 0;
  uint32_t block_index_ = 0;
  std::shared_ptr<const CachedPartition> partition_;
  const DataBlock* block_ = nullptr;
  std::shared_ptr<const CachedDataBlock> cached_block_;  // cached_
  ReadWindow window_;                                    // else
  BlockBuffer own_bytes_;
  DataBlock own_block_;
};

}  // namespace

std::unique_ptr<RecordIterator> NewTableIterator(const TableHead& head, const BlockAccess& blocks,
                                                 const PartitionSlots& slots,
                                                 const TableReader::IterateOptions& options) {
  return std::make_unique<TableIterator>(head, blocks, slots, options);
}

}  // namespace lava::ksst
