#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/value_reference.h"
#include "table/table_writer.h"

namespace lava::ksst {

/// References as they stand in a key SST: varint index into the file's table of births, varint raw
/// bytes, and 8 bytes timestamp if there is one. A key SST so names what it depends on, and can be
/// adopted by another instance as it is.

/// Fills a file's table of births while it is written.
/// Threads:    one thread.
/// Ownership:  births must outlive it.
class BirthTableBuilder {
 public:
  explicit BirthTableBuilder(std::vector<TableProperties::NamedBirth>* births) : births_(births) {}
  /// Counts one reference of a key in this partition, none of a smaller one after it, and appends
  /// its form in the file.
  void Add(uint64_t partition, const ValueReference& reference, std::string* out);
  /// The same for each reference of a list, which is appended as the file has it. *raw_bytes: of
  /// all that they refer to.
  /// Errors: Corruption when it is malformed or has none; nothing is counted then.
  Status AddList(uint64_t partition, Slice list, std::string* out, uint64_t* raw_bytes);

 private:
  std::vector<TableProperties::NamedBirth>* const births_;
  std::unordered_map<FileId, uint32_t, FileIdHash> indexes_;
};

/// False when the bytes are no reference, or name a birth that the table has not.
bool DecodeFileReference(Slice bytes, const std::vector<TableProperties::NamedBirth>& births,
                         ValueReference* reference);
/// Makes of a list as it stands in the file what iterators show; with references also what it
/// refers to, in order. False when it is malformed.
bool DecodeFileList(Slice bytes, const std::vector<TableProperties::NamedBirth>& births,
                    std::string* list, std::vector<ValueReference>* references = nullptr);

}  // namespace lava::ksst
