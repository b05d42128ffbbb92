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
#include "base/shared_list.h"
#include "base/shared_map.h"
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
using FileList = SharedList<FileEntry>;

/// A part of a level.
/// Ownership: borrows the list, which must not change meanwhile.
class FileRange {
 public:
  FileRange() = default;
  FileRange(FileList::const_iterator begin, FileList::const_iterator end)
      : begin_(begin), end_(end) {}
  /// All of it.
  FileRange(const FileList& list) : begin_(list.begin()), end_(list.end()) {}

  FileList::const_iterator begin() const { return begin_; }
  FileList::const_iterator end() const { return end_; }
  size_t size() const { return static_cast<size_t>(end_ - begin_); }
  bool empty() const { return begin_ == end_; }
  const FileEntry& operator[](size_t index) const {
    return *(begin_ + static_cast<ptrdiff_t>(index));
  }
  /// The first entry for which before() is false; it must be true for all before that one.
  template <typename Before>
  FileList::const_iterator PartitionPoint(const Before& before) const {
    return empty() ? end_ : begin_.list()->PartitionPoint(begin_, end_, before);
  }

 private:
  FileList::const_iterator begin_, end_;
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

/// What of a value file in a version no reference reaches, in raw bytes of values, see garbage.h.
struct ValueGarbage {
  uint64_t min = 0, max = 0, estimate = 0;
  uint64_t referenced = 0;  // what references name of the births that the file holds
  bool operator==(const ValueGarbage&) const = default;
};

/// Sums over the files and births of a version. Units: bytes on storage unless said otherwise.
struct VersionSums {
  struct Level {
    uint64_t entry_bytes = 0, entry_records = 0;  // of all entries
    /// Of the files that have no entry in a higher level, each once; raw bytes that they name.
    uint64_t file_bytes = 0, referenced_bytes = 0;
    bool operator==(const Level&) const = default;
  };
  std::array<Level, kLevelCountMax> levels;
  uint64_t value_file_bytes = 0, value_raw_bytes = 0;
  uint64_t memory_bytes = 0;  // that the version keeps in memory, about
  bool operator==(const VersionSums&) const = default;
};

/// An immutable state of the tree. L0: newest first, may overlap. Deeper levels: ascending,
/// disjoint. Births and value files follow from edits and from the key files: a birth that no key
/// file names any more is gone, and a value file in which no birth is left.
/// A copy shares what an edit does not change, see SharedList.
struct Version {
  std::array<FileList, kLevelCountMax> levels;
  SharedMap<FileId, std::shared_ptr<const Birth>> births;
  struct ValueEntry {
    std::shared_ptr<ValueFileMeta> file;
    uint32_t placements = 0;
    ValueGarbage garbage = {};
  };
  SharedMap<FileId, ValueEntry> value_files;
  /// Kept by edits.
  VersionSums sums;
  /// Files that the last edit took out of the version for good.
  struct LeftFile {
    FileId id;
    bool is_value_file = false;
    std::weak_ptr<StoredFile> file;
    std::string name() const { return is_value_file ? id.ValueFileName() : id.FileName(); }
  };
  std::vector<LeftFile> left;

  /// For messages: a line for each level, entry, value file with its garbage, and birth. Bounds are
  /// in hexadecimal and cut off, so that keys are among it.
  std::string DebugString() const;
};

/// Whether the reference, of a key of this table, is to a value that had expired when others of its
/// birth were dropped for that.
bool HasExpired(const Version& version, uint64_t table, const ValueReference& reference);

/// A registered table in the manifest.
struct TableRegistration {
  std::string name;
  uint64_t id = 0;
  TableOptions options;
};

}  // namespace lava
