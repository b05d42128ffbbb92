#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file_id.h"
#include "base/record.h"
#include "base/value_reference.h"
#include "lava/options.h"
#include "lava/slice.h"

namespace lava {

inline constexpr uint32_t kLevelCountMax = 8;

/// What versions know of any file. The same object stands in all versions under one id.
struct StoredFile {
  FileId id;
  uint64_t bytes = 0;
  uint32_t crc32c = 0;
  /// The open reader, hung on before the file is first installed in a version; not persisted.
  std::shared_ptr<Attachment> reader;
};

/// An immutable key SST.
struct FileMeta : StoredFile {
  uint64_t records = 0, deletes = 0, prefix_deletes = 0, range_tombstones = 0;
  uint64_t raw_bytes = 0;
  std::string lower, upper;  // own bounds, [lower, upper) over everything it holds
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> tables;  // id -> records, raw bytes
  std::vector<BirthShare> births;                            // what its references name, ascending
};

/// What one table has of a value file.
struct TableShare {
  static constexpr int64_t kNeverExpires = INT64_MAX;
  uint64_t records = 0, raw_bytes = 0;
  /// The newest timestamp of its values; kNeverExpires when one has none.
  int64_t newest_ms = INT64_MIN;

  void Add(uint64_t bytes, std::optional<uint64_t> timestamp) {
    ++records;
    raw_bytes += bytes;
    newest_ms = std::max(newest_ms, timestamp ? static_cast<int64_t>(*timestamp) : kNeverExpires);
  }
  bool operator==(const TableShare&) const = default;
};

/// An immutable value SST.
struct ValueFileMeta : StoredFile {
  uint64_t records = 0, raw_bytes = 0, stored_bytes = 0;
  bool hot = false;  // of keys that were written often; not persisted
  /// The level that its values were written to with their keys; of a collection's outputs, the
  /// highest that its inputs had. 0 in files of manifests before format 5.
  uint32_t level = 0;
  /// Files of one sorted group were written by one job in key order, and do not overlap (DiffKV
  /// 3.1): the number of the first of them. 0: not known.
  uint64_t group = 0;
  std::string lower, upper;        // own bounds, [lower, upper) over its keys
  std::vector<BirthShare> births;  // what was born where of what it holds, ascending
  /// By table id; empty in files of manifests before format 3.
  std::map<uint64_t, TableShare> tables;
};

/// A file with the bounds that this version shows of it: [lower, upper), within the file's own.
/// One file may stand several times in a version, with disjoint bounds.
struct FileEntry {
  std::shared_ptr<FileMeta> file;
  std::string lower, upper;
  bool clipped() const { return lower != file->lower || upper != file->upper; }
};

/// Where values that were born under one name are now, for keys in [lower, upper).
struct Placement {
  std::shared_ptr<ValueFileMeta> file;
  std::string lower, upper;
};

/// A birth name that some key file of a version has. The references to it may be ghosts: older
/// than another record of their key, and their value gone.
struct Birth {
  std::vector<Placement> places;  // for one key several may apply: one for each temperature
  uint64_t named_by = 0;          // entries of key files
  // Sums over these entries; those of clipped entries show an unknown part of theirs.
  uint64_t records = 0, raw_bytes = 0;
  uint64_t clipped_records = 0, clipped_raw_bytes = 0;
  /// By table: values with timestamps up to this one had expired, and some were dropped while
  /// references to them are still there. All such references stand for nothing.
  std::map<uint64_t, int64_t> expired_to_ms;
};

/// An immutable state of the tree. L0: newest first, may overlap. Deeper levels: ascending,
/// disjoint. Births and value files follow from edits and from the key files: a birth that no key
/// file names any more is gone, and a value file in which no birth is left.
struct Version {
  std::array<std::vector<FileEntry>, kLevelCountMax> levels;
  std::map<FileId, std::shared_ptr<const Birth>> births;
  struct ValueEntry {
    std::shared_ptr<ValueFileMeta> file;
    uint32_t placements = 0;
  };
  std::map<FileId, ValueEntry> value_files;

  uint64_t LevelBytes(uint32_t level) const;
};

/// Whether the reference, of a key of this table, is to a value that had expired when others of its
/// birth were dropped for that.
bool HasExpired(const Version& version, uint64_t table, const ValueReference& reference);

/// What the version keeps in memory of its files, about: shared parts count for each version.
uint64_t MemoryOf(const Version& version);

/// A registered table in the manifest.
struct TableRegistration {
  std::string name;
  uint64_t id = 0;
  TableOptions options;
};

}  // namespace lava
