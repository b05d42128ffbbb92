// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "testing/crashable_file_system.h"

namespace lava::testing {

/// Forwards all file calls to another file system.
/// Threads:    as the other file system.
/// Ownership:  borrows the other file system.
class ForwardingFileSystem : public CrashableFileSystem {
 public:
  Result<std::unique_ptr<fs::AppendFile>> Create(const std::string& path,
                                                 size_t buffer_bytes) final {
    return files_->Create(path, buffer_bytes);
  }
  Result<std::unique_ptr<fs::AppendFile>> CreateFromReserve(const std::string& path,
                                                            size_t buffer_bytes) final {
    return files_->CreateFromReserve(path, buffer_bytes);
  }
  Result<std::unique_ptr<fs::RandomFile>> OpenRandom(const std::string& path) final {
    return files_->OpenRandom(path);
  }
  Result<std::string> ReadWhole(const std::string& path, uint64_t bytes_max) final {
    return files_->ReadWhole(path, bytes_max);
  }
  Result<uint64_t> FileSize(const std::string& path) final { return files_->FileSize(path); }
  Result<bool> Exists(const std::string& path) final { return files_->Exists(path); }
  Status Rename(const std::string& from, const std::string& to) final {
    return files_->Rename(from, to);
  }
  Status Remove(const std::string& path) final { return files_->Remove(path); }
  Status Link(const std::string& from, const std::string& to) final {
    return files_->Link(from, to);
  }
  Result<std::vector<std::string>> List(const std::string& directory) final {
    return files_->List(directory);
  }
  Status CreateDirectory(const std::string& path) final { return files_->CreateDirectory(path); }
  Status CreateDurableDirectory(const std::string& path) final {
    return files_->CreateDurableDirectory(path);
  }
  Status SyncDirectory(const std::string& path) final { return files_->SyncDirectory(path); }
  Status SyncFile(const std::string& path, bool* asked) final {
    return files_->SyncFile(path, asked);
  }
  Result<std::unique_ptr<fs::DirectoryLock>> Lock(const std::string& directory) final {
    return files_->Lock(directory);
  }
  uint64_t boot() const final { return files_->boot(); }

 protected:
  void ForwardTo(fs::FileSystem* files) { files_ = files; }
  fs::FileSystem* files() const { return files_; }

 private:
  fs::FileSystem* files_ = nullptr;
};

}  // namespace lava::testing
