#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/lookup.h"
#include "job/job_context.h"

namespace lava {

/// Asks the files of a version, newest first, until the lookup knows enough.
/// Threads:    any.
/// Errors:     those of the readers.
Status LookUpInFiles(const Version& version, Lookup* lookup);

/// Where the value of key that was born under a name is now, by the version's inheritance; *value
/// borrows from *pin. One file applies as a rule; two where hot and cold values are kept apart,
/// and then the index of the wrong one says so.
/// Errors:     Corruption when no file has it: the reference is the newest record of its key, and
///             HasExpired() is not said of it, so the value was lost; those of the readers.
Status ReadValue(const Version& version, Slice key, const ValueReference& reference,
                 bool fill_cache, Slice* value, std::shared_ptr<const void>* pin);

/// The same; false when no file has it.
Result<bool> FindValue(const Version& version, Slice key, const ValueReference& reference,
                       bool fill_cache, Slice* value, std::shared_ptr<const void>* pin);

/// The same piece by piece, past the cache. False, and the sink got nothing: ReadValue() gets it,
/// or tells more. Errors: also the sink's; one may come when the sink has all pieces.
Result<bool> ReadValueInPieces(const Version& version, Slice key, const ValueReference& reference,
                               const PiecewiseRead& read);

/// What to say of a reference whose value no file has: it was lost.
Status ValueIsLost(const ValueReference& reference);

/// Values of keys that ascend, out of some of a version's files, which are read in pieces.
/// Threads:    one thread.
/// Ownership:  the version must outlive it.
class ValueScan {
 public:
  /// piece_bytes_max: of each file that the keys are within.
  ValueScan(const Version& version, uint64_t piece_bytes_max)
      : version_(version), piece_bytes_max_(piece_bytes_max) {}
  /// False when the value is in none of the files; *stored is valid until the next call.
  Result<bool> Find(const std::set<const ValueFileMeta*>& files, Slice key,
                    const ValueReference& reference, StoredValue* stored);
  /// The value that Find() found last; valid as long.
  Status Decode(const StoredValue& stored, Slice* value) { return last_->Decode(stored, value); }

 private:
  ValueScanner* ScannerOf(const ValueFileMeta& file, Slice key);
  const Version& version_;
  const uint64_t piece_bytes_max_;
  std::map<const ValueFileMeta*, std::unique_ptr<ValueScanner>> scanners_;
  ValueScanner* last_ = nullptr;
};

/// The entry of a level >= 1 that may hold key, or null.
inline const FileEntry* FindEntry(const FileList& level, Slice key) {
  const auto it =
      level.PartitionPoint([key](const FileEntry& entry) { return Slice(entry.upper) <= key; });
  return it != level.end() && it->lower <= key ? &*it : nullptr;
}

}  // namespace lava
