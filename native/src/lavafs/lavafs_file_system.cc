// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "lavafs/lavafs_file_system.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/thread_annotations.h"
#include "fs/file_system.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "lavafs/volume.h"

namespace lava::lavafs {
namespace {

constexpr size_t kLargeFrom = 64 << 10;

struct FilePath {
  Slice directory, name;
};

Slice WithoutSlashes(Slice path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return path;
}

FilePath Split(Slice path) {
  const size_t slash = path.rfind('/');
  if (slash == Slice::npos) return {".", path};
  return {slash == 0 ? Slice("/") : WithoutSlashes(path.substr(0, slash)), path.substr(slash + 1)};
}

// Directories that this process holds. No other process can mount the volume meanwhile.
struct Held {
  Mutex mutex;
  std::set<std::string, std::less<>> directories LAVA_GUARDED_BY(mutex);
};

class HeldDirectory : public fs::DirectoryLock {
 public:
  HeldDirectory(std::shared_ptr<Held> held, Slice directory)
      : held_(std::move(held)), directory_(directory) {}
  ~HeldDirectory() override {
    if (!taken_) return;
    MutexLock lock(&held_->mutex);
    held_->directories.erase(directory_);
  }
  /// False when the directory has another holder.
  bool Take() {
    MutexLock lock(&held_->mutex);
    return taken_ = held_->directories.insert(directory_).second;
  }

 private:
  const std::shared_ptr<Held> held_;
  const std::string directory_;
  bool taken_ = false;
};

class LavaFileSystem : public fs::FileSystem {
 public:
  LavaFileSystem(Volume* volume, size_t large_buffer_bytes)
      : volume_(volume), large_buffer_bytes_(large_buffer_bytes) {}

  Result<std::unique_ptr<fs::AppendFile>> Create(const std::string& path,
                                                 size_t buffer_bytes) override {
    return CreateIn(Split(path), buffer_bytes, false);
  }
  Result<std::unique_ptr<fs::AppendFile>> CreateFromReserve(const std::string& path,
                                                            size_t buffer_bytes) override {
    return CreateIn(Split(path), buffer_bytes, true);
  }

  Result<std::unique_ptr<fs::RandomFile>> OpenRandom(const std::string& path) override {
    const FilePath parts = Split(path);
    return volume_->Open(parts.directory, parts.name);
  }

  Result<std::string> ReadWhole(const std::string& path, uint64_t bytes_max) override {
    LAVA_ASSIGN_OR_RETURN(const auto file, OpenRandom(path));
    if (file->size() > bytes_max) {
      return Status::Corruption("read " + path + ": it has " + std::to_string(file->size()) +
                                " bytes, more than the " + std::to_string(bytes_max) +
                                " that it may have");
    }
    std::string content(file->size(), '\0');
    LAVA_RETURN_IF_ERROR(file->Read(0, content.size(), content.data()));
    return content;
  }

  Result<uint64_t> FileSize(const std::string& path) override {
    const FilePath parts = Split(path);
    LAVA_ASSIGN_OR_RETURN(const FileStatus file, volume_->Stat(parts.directory, parts.name));
    return file.size;
  }

  Result<bool> Exists(const std::string& path) override {
    const FilePath parts = Split(path);
    const auto file = volume_->Stat(parts.directory, parts.name);
    if (file.ok()) return true;
    return volume_->List(WithoutSlashes(path)).ok();
  }

  Status Rename(const std::string& from, const std::string& to) override {
    const FilePath a = Split(from), b = Split(to);
    return volume_->Rename(a.directory, a.name, b.directory, b.name);
  }
  Status Remove(const std::string& path) override {
    const FilePath parts = Split(path);
    return volume_->Remove(parts.directory, parts.name);
  }
  Status Link(const std::string& from, const std::string& to) override {
    const FilePath a = Split(from), b = Split(to);
    return volume_->Link(a.directory, a.name, b.directory, b.name);
  }

  Result<std::vector<std::string>> List(const std::string& directory) override {
    return volume_->List(WithoutSlashes(directory));
  }
  Status CreateDirectory(const std::string& path) override {
    return volume_->MakeDirectory(WithoutSlashes(path));
  }
  Status CreateDurableDirectory(const std::string& path) override {
    LAVA_RETURN_IF_ERROR(CreateDirectory(path));
    return volume_->SyncMetadata();
  }
  Status SyncDirectory(const std::string& path) override {
    LAVA_RETURN_IF_ERROR(volume_->List(WithoutSlashes(path)).status());
    return volume_->SyncMetadata();
  }

  Status SyncFile(const std::string& path, bool* asked) override {
    LAVA_RETURN_IF_ERROR(FileSize(path).status());
    *asked = true;
    return volume_->SyncAll();
  }

  Result<std::unique_ptr<fs::DirectoryLock>> Lock(const std::string& directory) override {
    const Slice name = WithoutSlashes(directory);
    LAVA_RETURN_IF_ERROR(volume_->List(name).status().WithContext("lock " + directory));
    auto lock = std::make_unique<HeldDirectory>(held_, name);
    if (!lock->Take()) {
      return Status::Busy("lock " + directory +
                          ": in use by this process; close it or use another one");
    }
    return std::unique_ptr<fs::DirectoryLock>(std::move(lock));
  }

  uint64_t boot() const override { return volume_->boot(); }

 private:
  Result<std::unique_ptr<fs::AppendFile>> CreateIn(const FilePath& parts, size_t buffer_bytes,
                                                   bool may_use_reserve) {
    // Large files are written in pieces of this size.
    if (buffer_bytes >= std::min(kLargeFrom, large_buffer_bytes_))
      buffer_bytes = large_buffer_bytes_;
    LAVA_ASSIGN_OR_RETURN(
        auto file, volume_->Create(parts.directory, parts.name, buffer_bytes, may_use_reserve));
    return std::unique_ptr<fs::AppendFile>(std::move(file));
  }

  Volume* const volume_;
  const size_t large_buffer_bytes_;
  const std::shared_ptr<Held> held_ = std::make_shared<Held>();
};

}  // namespace

std::unique_ptr<fs::FileSystem> NewLavaFileSystem(Volume* volume, size_t large_buffer_bytes) {
  return std::make_unique<LavaFileSystem>(volume, large_buffer_bytes);
}

}  // namespace lava::lavafs
