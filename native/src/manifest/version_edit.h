// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lava/slice.h"
#include "lava/status.h"
#include "manifest/version.h"

namespace lava {

/// The newest format of manifests and of checkpoint metadata that this library reads and writes.
/// Format 1 has no value files. Format 2 has no tables of value files and no expired blob files.
/// Format 3 has no positions of write-ahead logs. Format 4 has no levels and groups of value files.
inline constexpr uint32_t kManifestFormatVersion = 5;

/// A change from one version to the next. An edit is computed against a version; applying it fails
/// if one of its inputs has left that version since.
/// Threads:    a value.
/// Ownership:  versions made by the edit share its FileMeta objects.
struct VersionEdit {
  struct AddedFile {
    uint32_t level = 0;
    KeyFileEntry entry;
  };
  /// A file may have several entries in a version; the lower bound identifies the entry.
  struct RemovedFile {
    uint32_t level = 0;
    FileId id;
    std::string lower;
  };

  /// A value file that is new or replaces another one, and the blob files and key ranges it holds.
  struct AddedValueFile {
    struct Location {
      FileId blob_file;
      std::string lower, upper;  // within the file's own bounds
    };
    std::shared_ptr<ValueFileMeta> file;
    std::vector<Location> locations;
  };

  /// L0 entries are newest first. They take the place of the L0 entries that the edit removes, or
  /// come before all others if the edit removes none.
  std::vector<AddedFile> added;
  std::vector<RemovedFile> removed;
  std::vector<AddedValueFile> values_added;
  std::vector<FileId> values_removed;  // with all of their locations
  /// Marks values of a table in this blob file as expired if their timestamps are up to
  /// timestamp_ms.
  struct ExpiredBlobFile {
    FileId blob_file;
    uint64_t table = 0;
    int64_t timestamp_ms = 0;
    auto operator<=>(const ExpiredBlobFile&) const = default;
  };
  std::vector<ExpiredBlobFile> blob_files_expired;
  std::vector<TableRegistration> registered;  // new tables, and known tables with changed options
  std::vector<uint64_t> dropped;              // table ids
  std::optional<uint32_t> partition_bytes;
  std::optional<uint64_t> next_file_number;
  std::vector<Origin> origins;  // one per open; later edits belong to the newest origin
  /// The last record of the write-ahead log whose data is in files. First set when the log begins.
  std::optional<uint64_t> wal_flushed;
  /// The layer above needs no entries up to this sequence any more. Only with a write-ahead log.
  std::optional<uint64_t> entries_released;

  /// For messages: a line for each change, in the form of Version::DebugString().
  std::string DebugString() const;

  void Add(uint32_t level, KeyFileEntry entry) { added.push_back({level, std::move(entry)}); }
  /// Adds a value file in which all of its values were first written.
  void AddNewValueFile(std::shared_ptr<ValueFileMeta> file) {
    AddedValueFile added_file{std::move(file), {}};
    for (const BlobReference& reference : added_file.file->blob_files)
      added_file.locations.push_back(
          {reference.blob_file, added_file.file->lower, added_file.file->upper});
    values_added.push_back(std::move(added_file));
  }
  void Remove(uint32_t level, const KeyFileEntry& entry) {
    removed.push_back({level, entry.file->id, entry.lower});
  }
};

/// The complete state that a manifest records at one moment.
struct ManifestState {
  std::shared_ptr<const Version> version = std::make_shared<Version>();
  std::map<uint64_t, TableRegistration> tables;  // by id
  uint32_t partition_bytes = 0;                  // 0: not set yet
  uint64_t next_file_number = 1;
  std::vector<Origin> origins;  // one per open, oldest first; the newest kOriginsMax are kept
  std::optional<uint64_t> wal_flushed;  // none: the instance has no write-ahead log
  std::optional<uint64_t> entries_released;
  static constexpr size_t kOriginsMax = 64;
};

/// Appends the edit's encoding (docs/manifest-format.md) to *out.
void EncodeEdit(const VersionEdit& edit, std::string* out);
/// The edit that produces the state from an empty one.
VersionEdit SnapshotOf(const ManifestState& state);

/// Finds file metadata by file id, so that all versions share one object for each file.
/// Threads:    one thread.
class FileTable {
 public:
  /// Returns the known object with meta's id. If the id is unknown, meta becomes the known object.
  /// Errors: Corruption when the known object of the same id differs from meta.
  Result<std::shared_ptr<FileMeta>> Intern(std::shared_ptr<FileMeta> meta);
  Result<std::shared_ptr<ValueFileMeta>> Intern(std::shared_ptr<ValueFileMeta> meta);
  void InternAll(const Version& version);

 private:
  std::map<FileId, std::weak_ptr<FileMeta>> files_;
  std::map<FileId, std::weak_ptr<ValueFileMeta>> value_files_;
};

/// Decodes one edit and checks lengths, levels, kinds of tables, and bounds against the file's own.
/// Errors: Corruption, naming the offset within payload (plus base_offset) and the field.
Status DecodeEdit(Slice payload, uint64_t base_offset, FileTable* files, VersionEdit* edit);

/// Applies the edit to *state. On an error *state is unchanged.
/// Errors: InvalidArgument when an input has left the version (the plan was too old), or when an
///         added entry is in the version already or overlaps another one in a level >= 1.
Status ApplyEdit(const VersionEdit& edit, ManifestState* state);

/// Applies the edit to a version alone. After an error *version must be discarded.
Status ApplyToVersion(const VersionEdit& edit, Version* version);
/// Groups the locations of all blob files by value file.
std::vector<VersionEdit::AddedValueFile> LocationsByValueFile(const Version& version);

/// A checkpoint's metadata: magic, format version, one snapshot edit, checksum.
std::string EncodeMetadata(const ManifestState& state);
/// Errors: Corruption with the offset, NotSupported for a newer format naming both versions.
Status DecodeMetadata(Slice metadata, FileTable* files, ManifestState* state);

}  // namespace lava
