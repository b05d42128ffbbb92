// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lava/slice.h"
#include "value/format.h"

namespace lava::vsst {

/// Most values (elements of a list) that one key may have in a value log. Each blob file takes some
/// hundred bytes of a version's memory, once for the file, not for each key.
inline constexpr uint32_t kLogBlobFilesMax = 64;

/// Location of one record in a value log.
/// Units:      bytes.
struct LoggedRecord {
  uint64_t offset = 0, bytes = 0;  // of the whole record
  uint32_t raw_bytes = 0;          // of the value
  uint32_t blob_file_index = 0;    // index into the file's blob files

  uint64_t end() const { return offset + bytes; }
};

/// Writes the index of a value log's live records.
/// Threads:    one thread.
class LogIndexBuilder {
 public:
  /// several_blob_files: the file has more than one blob file (version 4).
  explicit LogIndexBuilder(bool several_blob_files) : several_blob_files_(several_blob_files) {}
  /// (key, blob file) must ascend.
  void Add(Slice key, const LoggedRecord& record);
  uint64_t count() const { return count_; }
  const std::string& payload() const { return payload_; }

 private:
  const bool several_blob_files_;
  std::string payload_, last_key_;
  uint64_t count_ = 0;
};

/// The index of a value log, in memory as a whole: a value log holds only large values, so its keys
/// take little memory.
/// Threads:    any thread; const.
class LogIndex {
 public:
  /// Returns null, or an error message. records_end: where the file's records end. blob_files:
  /// number of blob files of the file; with more than one the index is of version 4.
  const char* Load(Slice payload, uint64_t records_end, size_t blob_files);

  size_t size() const { return records_.size(); }
  Slice key(size_t i) const {
    const uint64_t begin = i == 0 ? 0 : key_ends_[i - 1];
    return Slice(keys_).substr(begin, key_ends_[i] - begin);
  }
  const LoggedRecord& record(size_t i) const { return records_[i]; }
  /// Returns null if there is no record of this key and blob file.
  const LoggedRecord* Find(Slice key, uint32_t blob_file_index) const;
  uint64_t records_end() const { return records_end_; }
  size_t memory_bytes() const {
    return keys_.capacity() + key_ends_.capacity() * sizeof(uint64_t) +
           records_.capacity() * sizeof(LoggedRecord);
  }

 private:
  std::string keys_;
  std::vector<uint64_t> key_ends_;
  std::vector<LoggedRecord> records_;
  uint64_t records_end_ = 0;
};

}  // namespace lava::vsst
