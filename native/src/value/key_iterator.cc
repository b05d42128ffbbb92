// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/key_iterator.h"

#include <cstdint>

#include "base/block.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "value/format.h"

namespace lava::vsst {

void KeyIterator::Move() {
  valid_ = false;
  if (cursor_.done()) {
    if (next_block_ == head_.top.key_blocks().size()) {
      status_ = CheckEnd();
      return;
    }
    status_ = LoadBlock();
  }
  if (status_.ok()) status_ = TakeEntry();
  valid_ = status_.ok();
}

Status KeyIterator::LoadBlock() {
  const BlockHandle& handle = head_.top.key_blocks()[next_block_++];
  block_offset_ = handle.offset;
  Slice stored;
  LAVA_RETURN_IF_ERROR(window_.Read(handle.offset, handle.end() - handle.offset, &stored));
  LAVA_RETURN_IF_ERROR(head_.ParseBlock(handle, stored, &payload_));
  uint64_t first = 0;
  if (const char* error = cursor_.Load(payload_, &first); error != nullptr)
    return head_.Malformed(block_offset_, error);
  if (first != offset_)
    return head_.Malformed(block_offset_, "a key block does not begin where the last one ended");
  return Status::OK();
}

Status KeyIterator::TakeEntry() {
  uint32_t last_blob_file_index = cursor_.entry().blob_file_index;
  int order = 0;
  if (const char* error = cursor_.Next(&order); error != nullptr)
    return head_.Malformed(block_offset_, error);
  const KeyBlockEntry& entry = cursor_.entry();
  if (entry.blob_file_index >= head_.blob_files.size())
    return head_.Malformed(block_offset_, "a key's blob file is not in the file's blob files");
  uint64_t rest_bytes = head_.top.records_end() - offset_;
  if (entry.record_bytes < kRecordBytesMin || entry.record_bytes > rest_bytes)
    return head_.Malformed(block_offset_, "a key's record does not fit where it stands");
  same_key_ = records_ > 0 && order == 0;
  if (records_ > 0 &&
      (order > 0 || (order == 0 && head_.blob_files[last_blob_file_index] >= blob_file())))
    return head_.Malformed(block_offset_, "the dense key index does not ascend");
  ++records_;
  return Status::OK();
}

Status KeyIterator::CheckEnd() const {
  if (offset_ != head_.top.records_end() || records_ != head_.properties.records)
    return head_.Malformed(head_.top.key_blocks_end(), "the dense key index lacks records");
  return Status::OK();
}

}  // namespace lava::vsst
