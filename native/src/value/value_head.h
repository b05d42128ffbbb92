// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/dictionary.h"
#include "fs/file_system.h"
#include "value/crit_bit.h"
#include "value/format.h"
#include "value/log_index.h"
#include "value/top_index.h"

namespace lava::vsst {

/// The head of an open file: footer, properties, dictionary, and top index or log index, all of
/// them checked. Gives access to the file's blocks.
/// Threads:    any thread; const.
/// Errors:     Corruption (path and offset), IOError; NotSupported of Read().
struct ValueHead {
  std::unique_ptr<fs::RandomFile> file;
  Footer footer;
  ValueFileProperties properties;
  std::vector<FileId> blob_files;                // by index
  TopIndex top;                                  // empty in a value log
  std::unique_ptr<const LogIndex> log;           // of a value log; else null
  std::unique_ptr<const Dictionary> dictionary;  // null: the file has none

  static Status Read(std::unique_ptr<fs::RandomFile> file, std::unique_ptr<ValueHead>* head);

  RecordSource source() const {
    return {file->path(), footer.unique_id, blob_files.size(), dictionary != nullptr};
  }
  /// Reads, checks and decompresses a block, which must lie within the file.
  Status LoadBlock(const BlockHandle& handle, std::string* raw,
                   uint64_t raw_bytes_max = kRawBlockBytesMax) const;
  /// Like LoadBlock(), for payload and trailer that the caller has read.
  Status ParseBlock(const BlockHandle& handle, Slice stored, std::string* raw,
                    uint64_t raw_bytes_max = kRawBlockBytesMax) const;
  /// Reads and checks the file's dictionary again. Leaves *loaded alone if the file has none.
  Status LoadDictionary(std::unique_ptr<const Dictionary>* loaded) const;
  /// Decompresses the value of the record at offset to exactly value.raw_bytes.
  Status DecompressValue(uint64_t offset, const StoredValue& value, char* raw) const;
  Status Malformed(uint64_t offset, const char* what) const {
    return CorruptionAt(file->path(), offset, what);
  }

 private:
  Status ReadFooter();
  Status ReadProperties();
  Status ReadTop();
  Status ReadLogIndex();
};

/// Reads parts of a file in ascending order, in large pieces that bypass the cache.
/// Threads:    one thread.
/// Ownership:  file must outlive it.
class ReadWindow {
 public:
  /// Reads nothing at or behind end.
  ReadWindow(const fs::RandomFile* file, uint64_t end) : file_(file), end_(end) {}

  /// *bytes is valid until the next call. offset + length must not pass end.
  Status Read(uint64_t offset, uint64_t length, Slice* bytes);

 private:
  const fs::RandomFile* file_;
  const uint64_t end_;
  std::unique_ptr<char[]> memory_;
  uint64_t capacity_ = 0;
  uint64_t begin_ = 0, length_ = 0;
};

}  // namespace lava::vsst
