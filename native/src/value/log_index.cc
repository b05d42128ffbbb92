// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/log_index.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/coding.h"
#include "lava/slice.h"
#include "value/format.h"
#include "value/key_block.h"

namespace lava::vsst {

void LogIndexBuilder::Add(Slice key, const LoggedRecord& record) {
  PutShared(key, &last_key_, &payload_);
  PutVarint64(&payload_, record.offset);
  PutVarint64(&payload_, record.bytes);
  PutVarint32(&payload_, record.raw_bytes);
  if (several_blob_files_) PutVarint32(&payload_, record.blob_file_index);
  ++count_;
}

const char* LogIndex::Load(Slice payload, uint64_t records_end, size_t blob_files) {
  records_end_ = records_end;
  Slice rest = payload;
  std::string key;
  uint64_t live_bytes = 0;
  while (!rest.empty()) {
    uint32_t shared = 0;
    Slice key_rest;
    LoggedRecord record;
    if (!GetVarint32(&rest, &shared) || !GetLengthPrefixed(&rest, &key_rest) ||
        !GetVarint64(&rest, &record.offset) || !GetVarint64(&rest, &record.bytes) ||
        !GetVarint32(&rest, &record.raw_bytes) ||
        (blob_files > 1 && !GetVarint32(&rest, &record.blob_file_index)))
      return "an entry of the log index is cut short";
    if (blob_files > 1 && record.blob_file_index >= blob_files)
      return "a blob file of the log index is not in the file's blob files";
    if (shared > key.size()) return "an entry of the log index shares more than there is";
    if (shared + uint64_t{key_rest.size()} > kRecordKeyBytesMax)
      return "a key of the log index is too long";
    if (!records_.empty()) {
      const int order = Slice(key).substr(shared).compare(key_rest);
      if (order > 0 || (order == 0 && records_.back().blob_file_index >= record.blob_file_index))
        return "the log index does not ascend";
    }
    key.resize(shared);
    key.append(key_rest);
    // Each record contains its key, so this check limits the memory of all keys to the file's size.
    if (record.bytes < kRecordBytesMin + key.size() || record.offset > records_end ||
        record.bytes > records_end - record.offset)
      return "a record of the log index does not fit where records stand";
    live_bytes += record.bytes;
    if (live_bytes > records_end)
      return "the records of the log index are more than the file holds";
    keys_.append(key);
    key_ends_.push_back(keys_.size());
    records_.push_back(record);
  }
  keys_.shrink_to_fit();
  key_ends_.shrink_to_fit();
  records_.shrink_to_fit();
  return nullptr;
}

const LoggedRecord* LogIndex::Find(Slice target, uint32_t blob_file_index) const {
  size_t low = 0, high = records_.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order = key(middle).compare(target);
    if (order < 0 || (order == 0 && records_[middle].blob_file_index < blob_file_index)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const bool found = low < records_.size() && key(low) == target &&
                     records_[low].blob_file_index == blob_file_index;
  return found ? &records_[low] : nullptr;
}

}  // namespace lava::vsst
