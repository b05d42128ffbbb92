#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "manifest/version.h"

namespace lava {

/// The files of an instance that were imported before they are there.
/// Threads:    guarded by the DB's state mutex.
class LateFiles {
 public:
  struct Late {
    FileId id;
    bool is_key_file = false;
    // One of both; expired when nothing names the file any more.
    std::weak_ptr<FileMeta> key_file;
    std::weak_ptr<ValueFileMeta> value_file;
  };

  /// Hangs a reader onto the file that answers NeedsFile.
  void Add(const std::shared_ptr<FileMeta>& file);
  void Add(const std::shared_ptr<ValueFileMeta>& file);
  /// Null when no file of this name is missing.
  const Late* Find(const std::string& name) const;
  void Erase(const std::string& name);
  void Clear();

  bool empty() const { return by_name_.empty(); }
  bool Contains(const FileId& id) const { return !ids_.empty() && ids_.contains(id); }
  /// Versions never lose one of these: compactions leave them alone.
  bool any_key_file() const { return key_files_ > 0; }
  /// Whether one of them belongs to the version; the others may never come.
  bool AnyOf(const Version& version) const;

 private:
  std::map<std::string, Late> by_name_;
  std::set<FileId> ids_;
  size_t key_files_ = 0;
};

}  // namespace lava
