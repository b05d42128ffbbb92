// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/value_reference.h"
#include "table/table_writer.h"

namespace lava::ksst {

/// References as a key SST stores them: varint index into the file's table of blob files, varint
/// raw bytes, and 8 bytes of timestamp if there is one. A key SST thus names the value files that
/// it depends on, and another instance can adopt it unchanged.

/// Fills a file's table of blob files while it is written.
/// Threads:    one thread.
/// Ownership:  blob_files must outlive it.
class BlobFileTableBuilder {
 public:
  explicit BlobFileTableBuilder(std::vector<TableProperties::NamedBlobFile>* blob_files)
      : blob_files_(blob_files) {}
  /// Counts one reference of a key in this partition, and appends its form in the file to *out.
  /// Partitions must not descend.
  void Add(uint64_t partition, const ValueReference& reference, std::string* out);
  /// Counts each reference of a list, and appends the list as the file stores it. *raw_bytes: sum
  /// over the values that it refers to.
  /// Errors: Corruption if the list is malformed or has no references; nothing is counted then.
  Status AddList(uint64_t partition, Slice list, std::string* out, uint64_t* raw_bytes);

 private:
  std::vector<TableProperties::NamedBlobFile>* const blob_files_;
  std::unordered_map<FileId, uint32_t, FileIdHash> indexes_;
};

/// Returns false if the bytes are not a reference, or name a blob file that is not in the table.
bool DecodeFileReference(Slice bytes, const std::vector<TableProperties::NamedBlobFile>& blob_files,
                         ValueReference* reference);
/// Converts a list from the file's form to the form that iterators show. references, if not null,
/// gets the list's references in order. Returns false if the list is malformed.
bool DecodeFileList(Slice bytes, const std::vector<TableProperties::NamedBlobFile>& blob_files,
                    std::string* list, std::vector<ValueReference>* references = nullptr);

}  // namespace lava::ksst
