// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fs/file_system.h"

namespace lava::inspect {

/// The tool's only access to storage: it can only read. Every modifying call is refused, so engine
/// code that gets this file system can do no harm. Files may also be accessed by other names:
/// uploaded files by the names that the engine gave them, and files inside of other files.
/// Threads:    one thread adds files; any thread may read.
/// Ownership:  base must outlive it.
/// Errors:     those of base; NotSupported for every call that writes or locks.
class ReadOnlyFiles final : public fs::FileSystem {
 public:
  explicit ReadOnlyFiles(fs::FileSystem* base) : base_(base) {}

  /// path now refers to the file at target; messages name target.
  void AddAlias(const std::string& path, const std::string& target) { aliases_[path] = target; }
  /// Adds a file with these bytes, which exists only under this path.
  void AddInline(const std::string& path, std::string bytes) {
    inline_[path] = std::make_shared<const std::string>(std::move(bytes));
  }
  /// The target of the path: another path, or the path itself.
  std::string TargetOf(const std::string& path) const;

  Result<std::unique_ptr<fs::RandomFile>> OpenRandom(const std::string& path) override;
  Result<std::string> ReadWhole(const std::string& path, uint64_t bytes_max) override;
  Result<uint64_t> FileSize(const std::string& path) override;
  Result<bool> Exists(const std::string& path) override;
  Result<std::vector<std::string>> List(const std::string& directory) override {
    return base_->List(directory);
  }

  Result<std::unique_ptr<fs::AppendFile>> Create(const std::string& path, size_t) override {
    return Refused(path);
  }
  Status Rename(const std::string& from, const std::string&) override { return Refused(from); }
  Status Remove(const std::string& path) override { return Refused(path); }
  Status Link(const std::string& from, const std::string&) override { return Refused(from); }
  Status CreateDirectory(const std::string& path) override { return Refused(path); }
  Status SyncDirectory(const std::string& path) override { return Refused(path); }
  Status SyncFile(const std::string& path, bool*) override { return Refused(path); }
  Result<std::unique_ptr<fs::DirectoryLock>> Lock(const std::string& directory) override {
    return Refused(directory);
  }
  uint64_t boot() const override { return base_->boot(); }

 private:
  static Status Refused(const std::string& path) {
    return Status::NotSupported(path + ": lava-inspect only reads");
  }

  fs::FileSystem* const base_;
  std::map<std::string, std::string> aliases_;
  std::map<std::string, std::shared_ptr<const std::string>> inline_;
};

}  // namespace lava::inspect
