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
/// 1: without value files; 2: without their tables and what expired in them; 3: without positions
/// of write-ahead logs; 4: without levels and groups of value files.
inline constexpr uint32_t kManifestFormatVersion = 5;

/// A change from one version to the next, computed against a version: it fails at Apply when an
/// input has left that version since.
/// Threads:    a value.
/// Ownership:  FileMeta objects are shared with the versions that the edit makes.
struct VersionEdit {
  struct AddedFile {
    uint32_t level = 0;
    FileEntry entry;
  };
  /// A file may stand in a version several times; its lower bound tells which entry is meant.
  struct RemovedFile {
    uint32_t level = 0;
    FileId id;
    std::string lower;
  };

  /// A new value file, or one that takes another's place, and what it holds for whom.
  struct AddedValueFile {
    struct Place {
      FileId birth;
      std::string lower, upper;  // within the file's own bounds
    };
    std::shared_ptr<ValueFileMeta> file;
    std::vector<Place> places;
  };

  /// L0 entries newest first. They take the place of the L0 entries that the edit removes, or
  /// stand before all others when it removes none.
  std::vector<AddedFile> added;
  std::vector<RemovedFile> removed;
  std::vector<AddedValueFile> values_added;
  std::vector<FileId> values_removed;  // with all places that they have
  /// Births of which a table's values with timestamps up to this one have expired.
  struct ExpiredBirth {
    FileId birth;
    uint64_t table = 0;
    int64_t timestamp_ms = 0;
    auto operator<=>(const ExpiredBirth&) const = default;
  };
  std::vector<ExpiredBirth> births_expired;
  std::vector<TableRegistration> registered;  // new, or known with other options
  std::vector<uint64_t> dropped;              // table ids
  std::optional<uint32_t> partition_bytes;
  std::optional<uint64_t> next_file_number;
  std::vector<Origin> origins;  // of opens: the edits behind belong to the last one
  /// The last record of the write-ahead log that is in files; said first when the log begins.
  std::optional<uint64_t> wal_flushed;
  /// Up to which sequence the layer above needs no entries any more; with a write-ahead log only.
  std::optional<uint64_t> entries_released;

  /// For messages: a line for each change, as Version::DebugString().
  std::string DebugString() const;

  void Add(uint32_t level, FileEntry entry) { added.push_back({level, std::move(entry)}); }
  /// A value file in which everything was born.
  void AddBorn(std::shared_ptr<ValueFileMeta> file) {
    AddedValueFile born{std::move(file), {}};
    for (const BirthShare& share : born.file->births)
      born.places.push_back({share.birth, born.file->lower, born.file->upper});
    values_added.push_back(std::move(born));
  }
  void Remove(uint32_t level, const FileEntry& entry) {
    removed.push_back({level, entry.file->id, entry.lower});
  }
};

/// All that a manifest says at one moment.
struct ManifestState {
  std::shared_ptr<const Version> version = std::make_shared<Version>();
  std::map<uint64_t, TableRegistration> tables;  // by id
  uint32_t partition_bytes = 0;                  // 0: not said yet
  uint64_t next_file_number = 1;
  std::vector<Origin> origins;  // one per open, oldest first; the newest kOriginsMax are kept
  std::optional<uint64_t> wal_flushed;  // none: the instance has no write-ahead log
  std::optional<uint64_t> entries_released;
  static constexpr size_t kOriginsMax = 64;
};

/// Appends the edit's encoding (docs/manifest-format.md) to *out.
void EncodeEdit(const VersionEdit& edit, std::string* out);
/// The edit that makes state from nothing.
VersionEdit SnapshotOf(const ManifestState& state);

/// Finds FileMeta objects by identity, so that every name has one object in all versions.
/// Threads: one thread.
class FileTable {
 public:
  /// The object known under meta's identity, or meta, which becomes known. Corruption when a file
  /// of the same identity differs from it.
  Result<std::shared_ptr<FileMeta>> Intern(std::shared_ptr<FileMeta> meta);
  Result<std::shared_ptr<ValueFileMeta>> Intern(std::shared_ptr<ValueFileMeta> meta);
  void InternAll(const Version& version);

 private:
  std::map<FileId, std::weak_ptr<FileMeta>> files_;
  std::map<FileId, std::weak_ptr<ValueFileMeta>> value_files_;
};

/// Decodes and checks one edit: lengths, levels, bounds within the file's own, tables' kinds.
/// Errors: Corruption, naming the offset within payload (plus base_offset) and the field.
Status DecodeEdit(Slice payload, uint64_t base_offset, FileTable* files, VersionEdit* edit);

/// Applies edit to *state, or says why not and leaves *state as it was.
/// Errors: InvalidArgument when an input has left the version (the plan was too old), or when an
///         entry is added that stands there already or overlaps another one in a level >= 1.
Status ApplyEdit(const VersionEdit& edit, ManifestState* state);

/// The same for a version alone. On an error *version is of no use any more.
Status ApplyToVersion(const VersionEdit& edit, Version* version);
/// Sorts placements back to the value files that they name.
std::vector<VersionEdit::AddedValueFile> PlacedValueFiles(const Version& version);

/// A checkpoint's metadata: magic, format version, one snapshot edit, checksum.
std::string EncodeMetadata(const ManifestState& state);
/// Errors: Corruption with the offset, NotSupported for a newer format naming both versions.
Status DecodeMetadata(Slice metadata, FileTable* files, ManifestState* state);

}  // namespace lava
