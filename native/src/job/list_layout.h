#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/list_parts.h"
#include "job/value_fetch.h"

namespace lava {

/// A list as it is read: what stands in it, and what value files have, each at its place.
/// Threads:    one thread.
/// Ownership:  borrows the list that it reads.
class ListLayout {
 public:
  struct Part {
    Slice bytes;  // without reference
    std::optional<ValueReference> reference;
    uint64_t raw_bytes() const { return reference ? reference->raw_bytes : bytes.size(); }
  };
  /// Errors: Corruption when it is malformed, or speaks of more bytes than a list may have.
  Status Read(Slice list);
  const std::vector<Part>& parts() const { return parts_; }
  uint64_t bytes() const { return bytes_; }  // of the whole list
  /// Not null: all of the list is what this refers to, in a value file.
  const ValueReference* only_in_file() const {
    const bool one = parts_.size() == 1 && parts_[0].reference;
    return one && !parts_[0].reference->is_logged() ? &*parts_[0].reference : nullptr;
  }
  /// What a memtable's segments have, and where it is to go.
  struct Logged {
    ValueReference reference;
    uint64_t offset;
  };
  /// Copies what stands in the list to its place in the bytes() bytes at `offset` of `to`, and adds
  /// the rest to what is fetched to there; or to *logged, for the caller to read.
  void Place(Slice key, char* to, uint64_t offset, ValueFetch* fetch,
             std::vector<Logged>* logged) const;
  /// The same of one part.
  static void Place(const Part& part, Slice key, char* to, uint64_t offset, ValueFetch* fetch,
                    std::vector<Logged>* logged);
  /// The whole list, but for what is logged. Errors: those of the files' readers.
  Status Fetch(const Version& version, Slice key, std::string* whole,
               std::vector<Logged>* logged) const;

 private:
  std::vector<Part> parts_;
  uint64_t bytes_ = 0;
  std::vector<ListPart> split_;
};

}  // namespace lava
