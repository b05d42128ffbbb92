#pragma once

#include <map>
#include <memory>
#include <set>

#include "lava/status.h"
#include "manifest/version_edit.h"

namespace lava {

/// Makes a version from the one before it by one edit. Its cost grows with what the edit touches,
/// not with the number of files: the version's sums, and what garbage each value file has, are kept
/// as they change.
/// Threads:    one; nobody else may see the version yet.
/// Ownership:  borrows the version, which is a copy of the one before.
class VersionBuilder {
 public:
  explicit VersionBuilder(Version* version) : version_(version) {}

  /// Once. Errors: as ApplyToVersion(); the version is of no use then.
  Status Apply(const VersionEdit& edit);

 private:
  using ValueFiles = SharedMap<FileId, Version::ValueEntry>;

  Status RemoveValueFiles(const VersionEdit& edit);
  Status RemoveEntries(const VersionEdit& edit);
  Status AddEntries(const VersionEdit& edit);
  Status AddEntry(const VersionEdit::AddedFile& added);
  Status AddValueFiles(const VersionEdit& edit);
  void ExpireBirths(const VersionEdit& edit);
  /// Forgets births that no key file names any more, and value files that held only such.
  void PruneBirths();
  void CountBirths();
  void JudgeGarbage();
  void NoteLeft();

  /// Changes the level by change(), and the sums by what that does to an entry.
  template <typename ChangeLevel>
  void CountEntry(uint32_t level, const FileEntry& entry, bool added, const ChangeLevel& change);
  void NameBirths(const FileEntry& entry, bool added);
  /// The birth, to be changed: versions share births, so the first change copies it.
  Birth* Change(const FileId& id);
  /// What garbage the files that hold the birth have may change.
  void Touch(const Birth& birth);
  void DropPlacement(const FileId& file);

  Version* const version_;
  size_t l0_position_ = 0;                           // where entries of L0 are added
  std::map<FileId, std::shared_ptr<Birth>> births_;  // that were changed
  std::set<FileId> value_files_;                     // of which the garbage may have changed
  // That an entry, or all births, left.
  std::map<FileId, std::shared_ptr<FileMeta>> removed_files_;
  std::map<FileId, std::shared_ptr<ValueFileMeta>> removed_value_files_;
};

}  // namespace lava
