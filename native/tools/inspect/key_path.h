// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inspect/commands.h"
#include "inspect/key_names.h"

namespace lava::inspect {

/// A key's lookup in one instance: the runs that are read, newest first, their records, and the
/// final location of the value.
/// Threads:    one.
/// Ownership:  store and instance must outlive it; it attaches readers to the instance's files.
class KeyPath {
 public:
  KeyPath(Store* store, const Instance& instance, const KeyRequest& request, uint64_t table_id,
          Show show);
  /// Fills *out; damage becomes a fault.
  /// Errors:   NotFound when a key file is missing, or a value file that left the version.
  Status Walk(Json* out, std::vector<Fault>* faults);

 private:
  struct Answer {
    uint32_t level = 0;
    FileMeta* file = nullptr;
    std::optional<RecordKind> kind;
    std::string value;
    bool prefix_delete = false, range_tombstone = false;
  };

  Status AskFiles();
  /// Opens all files before any is read: open files stay readable when they are removed.
  Status Open(uint32_t level, const KeyFileEntry& entry);
  Status Ask(Answer* asked);
  /// After all other records: only the key's records show the length of its deletable prefix.
  Status AskPrefixDeletes();
  Json Say(Answer* answer);
  /// The elements of a list, and those in value files.
  Json Parts(Slice list);
  /// The locations of the reference's blob file.
  Json Value(const ValueReference& reference, std::vector<Fault>* faults);
  Status ReadLocation(const BlobLocation& location, const ValueReference& reference, Json* place);
  /// The engine's own lookup, with indexes and filters, must have the same result.
  Status CheckAgainstLookup();

  Store& store_;
  const Instance& instance_;
  const KeyNames names_;
  const JobContext context_;
  const uint64_t table_id_;
  std::string key_;                       // internal
  std::optional<uint32_t> prefix_bytes_;  // of the internal key
  std::vector<Answer> answers_;           // newest first
  bool done_ = false, found_ = false;
  bool expired_ = false;  // whether the referenced value has expired
  uint64_t appends_ = 0;
  std::optional<ValueReference> reference_;
  std::vector<ValueReference> parts_;  // of a list, newest run first
  std::string missing_;                // a missing value file
};

}  // namespace lava::inspect
