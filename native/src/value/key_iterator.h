// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>

#include "value/key_block.h"
#include "value/value_head.h"
#include "value/value_reader.h"

namespace lava::vsst {

/// Walks the dense key index. The walk ends with Corruption unless (key, blob file) ascends and the
/// records follow each other without gaps up to the last.
class KeyIterator final : public ValueKeyIterator {
 public:
  /// head must outlive it.
  explicit KeyIterator(const ValueHead* head)
      : head_(*head), window_(head->file.get(), head->top.key_blocks_end()) {
    Move();
  }

  bool Valid() const override { return valid_; }
  void Next() override {
    if (!valid_) return;
    offset_ += cursor_.entry().record_bytes;
    Move();
  }
  Slice key() const override { return cursor_.key(); }
  const FileId& blob_file() const override {
    return head_.blob_files[cursor_.entry().blob_file_index];
  }
  uint64_t raw_bytes() const override { return cursor_.entry().raw_bytes; }
  uint64_t record_offset() const override { return offset_; }
  uint64_t record_bytes() const override { return cursor_.entry().record_bytes; }
  Status status() const override { return status_; }

  /// Whether the record before has the same key.
  bool same_key() const { return same_key_; }
  uint32_t blob_file_index() const { return cursor_.entry().blob_file_index; }

 private:
  void Move();
  Status LoadBlock();
  Status TakeEntry();
  Status CheckEnd() const;

  const ValueHead& head_;
  ReadWindow window_;
  KeyBlockCursor cursor_;
  std::string payload_;
  size_t next_block_ = 0;
  uint64_t block_offset_ = 0;
  uint64_t offset_ = 0;
  uint64_t records_ = 0;
  bool valid_ = false;
  bool same_key_ = false;
  Status status_;
};

/// Walks the index of a value log, which is in memory.
class LogKeyIterator final : public ValueKeyIterator {
 public:
  /// head must outlive it.
  explicit LogKeyIterator(const ValueHead* head) : head_(*head) {}

  bool Valid() const override { return at_ < head_.log->size(); }
  void Next() override { ++at_; }
  Slice key() const override { return head_.log->key(at_); }
  const FileId& blob_file() const override {
    return head_.blob_files[head_.log->record(at_).blob_file_index];
  }
  uint64_t raw_bytes() const override { return head_.log->record(at_).raw_bytes; }
  uint64_t record_offset() const override { return head_.log->record(at_).offset; }
  uint64_t record_bytes() const override { return head_.log->record(at_).bytes; }
  Status status() const override { return Status::OK(); }

 private:
  const ValueHead& head_;
  size_t at_ = 0;
};

}  // namespace lava::vsst
