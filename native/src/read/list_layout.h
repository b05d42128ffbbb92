// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/list_parts.h"
#include "read/value_fetch.h"

namespace lava {

/// A list with some parts inline and others in value files or in the value log, each at its place.
/// Threads:    one thread.
/// Ownership:  borrows the bytes given to Read().
class ListLayout {
 public:
  struct Part {
    Slice bytes;  // if the part is inline
    std::optional<ValueReference> reference;
    uint64_t raw_bytes() const { return reference ? reference->raw_bytes : bytes.size(); }
  };
  /// Errors: Corruption when the list is malformed or has more bytes than a list may have.
  Status Read(Slice list);
  const std::vector<Part>& parts() const { return parts_; }
  uint64_t bytes() const { return bytes_; }  // of the whole list
  /// Not null if the list consists of a single value in a value file: the reference to it.
  const ValueReference* only_in_file() const {
    const bool one = parts_.size() == 1 && parts_[0].reference;
    return one && !parts_[0].reference->is_logged() ? &*parts_[0].reference : nullptr;
  }
  /// A part in a segment of the value log, and its offset in the whole list.
  struct Logged {
    ValueReference reference;
    uint64_t offset;
  };
  /// Copies the inline parts to their places in the bytes() bytes at `offset` of `to`. Parts in
  /// value files are added to *fetch, which writes to their places; logged parts are added to
  /// *logged, for the caller to read.
  void Place(Slice key, char* to, uint64_t offset, ValueFetch* fetch,
             std::vector<Logged>* logged) const;
  /// As above, for a single part.
  static void Place(const Part& part, Slice key, char* to, uint64_t offset, ValueFetch* fetch,
                    std::vector<Logged>* logged);
  /// The whole list except for its logged parts. Errors: those of the files' readers.
  Status Fetch(const Version& version, Slice key, std::string* whole,
               std::vector<Logged>* logged) const;

 private:
  std::vector<Part> parts_;
  uint64_t bytes_ = 0;
  std::vector<ListPart> split_;
};

}  // namespace lava
