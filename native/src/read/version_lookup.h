// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/lookup.h"
#include "manifest/version.h"
#include "value/value_reader.h"

namespace lava {

/// Looks in the files of a version, newest first, until the lookup is decided.
/// Threads:    any.
/// Errors:     those of the readers.
Status LookUpInFiles(const Version& version, Lookup* lookup);

/// Reads a value from the file that holds it now, according to the locations of its blob file.
/// *value borrows from *pin. Usually one location applies. If hot and cold values are separate
/// there are two, and the index of the wrong file has no such key.
/// Errors:     Corruption if no file has the value. The reference must be the newest record of its
///             key, and HasExpired() must be false, so the value was lost. Also readers' errors.
Status ReadValue(const Version& version, Slice key, const ValueReference& reference,
                 bool fill_cache, Slice* value, std::shared_ptr<const void>* pin);

/// As ReadValue(), but false if no file has the value.
Result<bool> FindValue(const Version& version, Slice key, const ValueReference& reference,
                       bool fill_cache, Slice* value, std::shared_ptr<const void>* pin);

/// As ReadValue(), piece by piece and without the cache. False: the sink got nothing, and
/// ReadValue() returns the value or the reason. Errors: also the sink's; an error may occur after
/// the sink has received all pieces.
Result<bool> ReadValueInPieces(const Version& version, Slice key, const ValueReference& reference,
                               const PiecewiseRead& read);

/// The error for a reference whose value is in no file, and therefore lost.
Status ValueIsLost(const ValueReference& reference);

/// Reads values of ascending keys from some of a version's files, piece by piece.
/// Threads:    one thread.
/// Ownership:  the version must outlive it.
class ValueScan {
 public:
  /// piece_bytes_max: for each file whose range contains the current key.
  ValueScan(const Version& version, uint64_t piece_bytes_max)
      : version_(version), piece_bytes_max_(piece_bytes_max) {}
  /// False if the value is in none of the files. *stored is valid until the next call.
  Result<bool> Find(const std::set<const ValueFileMeta*>& files, Slice key,
                    const ValueReference& reference, StoredValue* stored);
  /// Decodes the value of the last Find(). *value is valid until the next Find().
  Status Decode(const StoredValue& stored, Slice* value) { return last_->Decode(stored, value); }

 private:
  Result<ValueScanner*> ScannerOf(const ValueFileMeta& file, Slice key);
  const Version& version_;
  const uint64_t piece_bytes_max_;
  std::map<const ValueFileMeta*, std::unique_ptr<ValueScanner>> scanners_;
  ValueScanner* last_ = nullptr;
};

/// The entry of a level >= 1 that may hold key, or null.
inline const KeyFileEntry* FindEntry(const FileList& level, Slice key) {
  const auto it =
      level.PartitionPoint([key](const KeyFileEntry& entry) { return Slice(entry.upper) <= key; });
  return it != level.end() && it->lower <= key ? &*it : nullptr;
}

}  // namespace lava
