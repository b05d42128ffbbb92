// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "lava/status.h"
#include "manifest/version_edit.h"

namespace lava {

/// Makes a version from its predecessor by applying one edit. The cost grows with the edit, not
/// with the number of files: the sums and the garbage of each value file are updated in place.
/// Threads:    one; no other thread may see the version yet.
/// Ownership:  borrows the version, which is a copy of the predecessor.
class VersionBuilder {
 public:
  explicit VersionBuilder(Version* version) : version_(version) {}

  /// Call once. Errors: as ApplyToVersion(); the version must then be discarded.
  Status Apply(const VersionEdit& edit);

 private:
  /// What an edit does to a blob file. Sums are modulo 2^64, so that one that falls can be added.
  struct BlobFileChange {
    uint64_t named_by = 0;
    uint64_t records = 0, raw_bytes = 0;
    uint64_t clipped_records = 0, clipped_raw_bytes = 0;
    std::shared_ptr<BlobFile> changed;  // in version_; null until Change()
    bool any() const;
  };

  Status RemoveValueFiles(const VersionEdit& edit);
  Status RemoveEntries(const VersionEdit& edit);
  Status AddEntries(const VersionEdit& edit);
  Status AddEntry(const VersionEdit::AddedFile& added);
  Status AddValueFiles(const VersionEdit& edit);
  /// Adds the sums of blob_files_ to the version. The references of a compaction's inputs are
  /// mostly those of its outputs, and most blob files remain as they are.
  void AddReferences();
  void ExpireBlobFiles(const VersionEdit& edit);
  /// Forgets blob files that no key file names any more, and value files without remaining blob
  /// files.
  void PruneBlobFiles();
  void CountBlobFiles();
  void JudgeGarbage();
  void NoteLeft();

  /// Changes the level by calling change(), and updates the sums for the entry.
  template <typename ChangeLevel>
  void CountEntry(uint32_t level, const KeyFileEntry& entry, bool added, const ChangeLevel& change);
  void CountReferences(const KeyFileEntry& entry, bool added);
  /// The blob file, to be modified. Versions share blob files, so the first change copies the blob
  /// file.
  BlobFile* Change(const FileId& id);
  /// Marks the files that hold the blob file: their garbage may change.
  void Touch(const BlobFile& blob_file);
  void DropLocation(const FileId& file);

  Version* const version_;
  size_t l0_position_ = 0;  // position at which entries are added to L0
  std::unordered_map<FileId, BlobFileChange, FileIdHash> blob_files_;
  std::vector<FileId> value_files_;  // those whose garbage may have changed; may repeat
  // Key files that lost an entry, and value files that lost all blob files.
  std::map<FileId, std::shared_ptr<FileMeta>> removed_files_;
  std::map<FileId, std::shared_ptr<ValueFileMeta>> removed_value_files_;
};

}  // namespace lava
