// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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
#include "manifest/blob_locations.h"
#include "manifest/on_demand_reader.h"

namespace lava {

class TableReader;
class ValueReader;

inline constexpr uint32_t kLevelCountMax = 8;

/// Fields common to key and value files. All versions share one object for each id.
struct StoredFile {
  FileId id;
  uint64_t bytes = 0;
  uint32_t crc32c = 0;
};

/// An immutable key SST.
struct FileMeta : StoredFile {
  /// Set before the file is first installed in a version, unless the file is missing; not
  /// persisted.
  OnDemandReader<TableReader> reader;
  uint64_t records = 0, deletes = 0, prefix_deletes = 0, range_tombstones = 0;
  uint64_t raw_bytes = 0;
  std::string lower, upper;  // own bounds: [lower, upper) covers all records
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> tables;  // id -> records, raw bytes
  std::vector<BlobReference> blob_references;                // ascending
};

/// The records of one table in a value file.
struct TableShare {
  static constexpr int64_t kNeverExpires = INT64_MAX;
  uint64_t records = 0, raw_bytes = 0;
  /// The newest timestamp of the values; kNeverExpires when a value has no timestamp.
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
  OnDemandReader<ValueReader> reader;  // see FileMeta
  uint64_t records = 0, raw_bytes = 0, stored_bytes = 0;
  bool hot = false;  // holds values of frequently written keys; not persisted
  /// The level that the values were written to with their keys. For outputs of a collection: the
  /// highest level of the inputs. 0 in files of manifests before format 5.
  uint32_t level = 0;
  /// One job wrote the files of a sorted group in key order and without overlaps (DiffKV 3.1). The
  /// group's id is the number of its first file. 0: not known.
  uint64_t group = 0;
  std::string lower, upper;               // own bounds: [lower, upper) covers all keys
  std::vector<BlobReference> blob_files;  // of the values it holds; ascending
  /// By table id; empty in files of manifests before format 3.
  std::map<uint64_t, TableShare> tables;
};

/// A file with the bounds [lower, upper) that are visible in this version, within the file's own
/// bounds. A version may have several entries of one file, with disjoint bounds.
struct KeyFileEntry {
  std::shared_ptr<FileMeta> file;
  std::string lower, upper;
  bool clipped() const { return lower != file->lower || upper != file->upper; }
};
using FileList = SharedList<KeyFileEntry>;

/// A range of entries of a level.
/// Ownership: borrows the list, which must not change meanwhile.
class FileRange {
 public:
  FileRange() = default;
  FileRange(FileList::const_iterator begin, FileList::const_iterator end)
      : begin_(begin), end_(end) {}
  /// The whole list.
  FileRange(const FileList& list) : begin_(list.begin()), end_(list.end()) {}

  FileList::const_iterator begin() const { return begin_; }
  FileList::const_iterator end() const { return end_; }
  size_t size() const { return static_cast<size_t>(end_ - begin_); }
  bool empty() const { return begin_ == end_; }
  const KeyFileEntry& operator[](size_t index) const {
    return *(begin_ + static_cast<ptrdiff_t>(index));
  }
  /// The first entry for which before() is false. before() must be true for all earlier entries.
  template <typename Before>
  FileList::const_iterator PartitionPoint(const Before& before) const {
    return empty() ? end_ : begin_.list()->PartitionPoint(begin_, end_, before);
  }

 private:
  FileList::const_iterator begin_, end_;
};

/// A logical file in which values were first written, and the value files that hold them now. At
/// least one key file of the version references it. Some references to it may be stale: a newer
/// record of their key exists, and their value is gone.
struct BlobFile {
  BlobLocations locations;  // a key may have two: a hot one and a cold one
  uint64_t named_by = 0;    // number of entries of key files
  // Sums over these entries. Which part of a clipped entry is visible is unknown.
  uint64_t records = 0, raw_bytes = 0;
  uint64_t clipped_records = 0, clipped_raw_bytes = 0;
  /// By table: values with timestamps up to this one had expired. Some of them were dropped while
  /// references to them remain. References up to this timestamp count as no value.
  std::map<uint64_t, int64_t> expired_to_ms;
};

/// The garbage of a value file, in raw bytes of values that no reference reaches; see garbage.h.
struct ValueGarbage {
  uint64_t min = 0, max = 0, estimate = 0;
  uint64_t referenced = 0;  // referenced bytes of the blob files that the file holds
  bool operator==(const ValueGarbage&) const = default;
};

/// Sums over the files and blob files of a version. Units: bytes on storage unless said otherwise.
struct VersionSums {
  struct Level {
    uint64_t entry_bytes = 0, entry_records = 0;  // of all entries
    /// Sums over files without an entry in a higher level, each counted once. referenced_bytes are
    /// the raw bytes that the files reference.
    uint64_t file_bytes = 0, referenced_bytes = 0;
    bool operator==(const Level&) const = default;
  };
  std::array<Level, kLevelCountMax> levels;
  uint64_t value_file_bytes = 0, value_raw_bytes = 0;
  uint64_t memory_bytes = 0;  // approximate memory of the version's metadata
  bool operator==(const VersionSums&) const = default;
};

/// An immutable state of the tree. L0 is ordered newest first and may overlap. Deeper levels are
/// ascending and disjoint. Blob files and value files follow from the edits and the key files: a
/// blob file leaves the version with the last key file that names it, a value file with its last
/// blob file. Copies share the parts that an edit does not change; see SharedList.
/// Threads:    any, once the version is installed.
struct Version {
  std::array<FileList, kLevelCountMax> levels;
  SharedMap<FileId, std::shared_ptr<const BlobFile>> blob_files;
  struct ValueFileEntry {
    std::shared_ptr<ValueFileMeta> file;
    uint32_t locations = 0;
    ValueGarbage garbage = {};
  };
  SharedMap<FileId, ValueFileEntry> value_files;
  /// Updated by each edit.
  VersionSums sums;
  /// Files that the last edit removed from the version altogether.
  struct LeftFile {
    FileId id;
    bool is_value_file = false;
    std::weak_ptr<StoredFile> file;
    std::string name() const { return is_value_file ? id.ValueFileName() : id.FileName(); }
  };
  std::vector<LeftFile> left;

  /// For messages: a line for each level, entry, value file with its garbage, and blob file. Bounds
  /// are hexadecimal and truncated, so the text contains parts of keys.
  std::string DebugString() const;
};

/// Whether the value of a reference, found under a key of this table, had expired when expired
/// values of the same blob file were dropped.
bool HasExpired(const Version& version, uint64_t table, const ValueReference& reference);

/// A registered table in the manifest.
struct TableRegistration {
  std::string name;
  uint64_t id = 0;
  TableOptions options;
};

}  // namespace lava
