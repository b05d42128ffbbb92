// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "fs/file_system.h"
#include "table/format.h"
#include "table/index_partition.h"
#include "table/table_writer.h"

namespace lava::ksst {

/// Memory for the bytes of a block, reused from block to block.
/// Threads:    one thread.
class BlockBuffer {
 public:
  BlockBuffer() = default;
  /// Uses the caller's memory as long as it is large enough.
  explicit BlockBuffer(std::span<char> memory) : memory_(memory.data()), capacity_(memory.size()) {}
  BlockBuffer(const BlockBuffer&) = delete;
  BlockBuffer& operator=(const BlockBuffer&) = delete;

  char* Reserve(size_t bytes) {
    if (bytes > capacity_) {
      own_ = std::make_unique_for_overwrite<char[]>(bytes);
      memory_ = own_.get();
      capacity_ = bytes;
    }
    return memory_;
  }

 private:
  std::unique_ptr<char[]> own_;
  char* memory_ = nullptr;
  size_t capacity_ = 0;
};

/// Reads blocks of one file from storage, and checks each before it is used. A handle must lie
/// within the file, whose size then bounds what is allocated.
/// Threads:    any thread; a buffer belongs to one caller.
/// Errors:     Corruption (path and offset); those of the file.
class BlockLoader {
 public:
  BlockLoader(std::unique_ptr<fs::RandomFile> file, uint64_t unique_id, uint32_t version)
      : file_(std::move(file)), unique_id_(unique_id), version_(version) {}

  const std::string& path() const { return file_->path(); }
  const fs::RandomFile& file() const { return *file_; }

  Status LoadData(const BlockHandle& handle, std::shared_ptr<const CachedDataBlock>* out) const;
  /// Like LoadData(), but from stored bytes that the caller has read: payload and trailer.
  Status LoadDataFrom(const BlockHandle& handle, Slice stored,
                      std::shared_ptr<const CachedDataBlock>* out) const;
  /// base: offset at which the index partition's first data block begins.
  Status LoadIndexPartitionAt(const BlockHandle& handle, uint64_t base,
                              std::shared_ptr<const CachedIndexPartition>* out) const;
  /// Loads a block whose payload the caller decodes.
  Status LoadRaw(const BlockHandle& handle, std::string* raw) const;

  /// Parses stored bytes into the caller's buffer; *block borrows from it.
  Status ParseData(const BlockHandle& handle, Slice stored, BlockBuffer* buffer,
                   DataBlock* block) const;
  Status ParseIndexPartition(const BlockHandle& handle, uint64_t base, Slice stored,
                             std::shared_ptr<const CachedIndexPartition>* out) const;
  /// Corruption: a decoder refused the block at offset.
  Status Malformed(uint64_t offset, const char* what) const {
    return CorruptionAt(path(), offset, what);
  }

 private:
  Status ReadStored(const BlockHandle& handle, BlockBuffer* buffer, Slice* stored) const;
  Status Check(const BlockHandle& handle, Slice stored, BlockTrailer* trailer,
               Slice* payload) const;

  std::unique_ptr<fs::RandomFile> file_;
  uint64_t unique_id_;
  uint32_t version_;  // of the file's format
};

/// The head of an open file: footer, properties, top index and range tombstones, all checked.
/// Ownership:  top borrows from top_memory.
struct TableHead {
  std::unique_ptr<BlockLoader> loader;
  Footer footer;
  TableProperties properties;
  RangeTombstoneSet tombstones;
  std::unique_ptr<uint64_t[]> top_memory;
  size_t top_memory_bytes = 0;
  IndexBlock top;         // count() == 0: no records
  uint64_t data_end = 0;  // where the last index partition ends
};
Status ReadTableHead(std::unique_ptr<fs::RandomFile> file, TableHead* head);

/// The block of entry i: an index partition of the top index, or a data block of an index
/// index partition's index.
inline BlockHandle BlockAt(const IndexBlock& index, uint32_t i) {
  return {index.extent_end(i) - kBlockTrailerBytes - index.block_bytes(i), index.block_bytes(i)};
}

}  // namespace lava::ksst
