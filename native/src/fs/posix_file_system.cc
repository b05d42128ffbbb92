// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/posix_file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fs/direct_io.h"
#include "fs/file_system.h"
#include "fs/open_file_limit.h"
#include "fs/posix_append_file.h"
#include "fs/posix_descriptor.h"
#include "fs/posix_directory_lock.h"
#include "fs/posix_error.h"
#include "fs/posix_random_file.h"
#include "lava/status.h"
#include "os/boot_id.h"

namespace lava::fs {
namespace {

constexpr mode_t kDirectoryMode = 0700;
constexpr size_t kDirectBufferBytesMin = 64 << 10;

Result<struct stat> StatOf(const std::string& path) {
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) return PosixError("look at", path, errno);
  return st;
}

// Returns the errno, or 0. A umask may also take the user's own rights away; they are restored.
int MakeDirectory(const std::string& path) {
  if (mkdir(path.c_str(), kDirectoryMode) != 0) return errno;
  struct stat st {};
  if (lstat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode) &&
      (st.st_mode & kDirectoryMode) != kDirectoryMode)
    (void)chmod(path.c_str(), kDirectoryMode);
  return 0;
}

// Others could read the file under its new name, too. Only files of this user can be changed, and
// their user's own rights stay.
void NarrowLinked(const std::string& path) {
  struct stat st {};
  if (lstat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid()) return;
  if ((st.st_mode & ~S_IFMT & ~mode_t{S_IRWXU}) != 0)
    (void)chmod(path.c_str(), st.st_mode & mode_t{S_IRWXU});
}

bool IsRegular(int directory, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_REG;
  struct stat st {};
  return fstatat(directory, entry.d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

class PosixFileSystem : public FileSystem {
 public:
  PosixFileSystem(OpenFileLimit* limit, const PosixOptions& options)
      : limit_(limit),
        direct_(std::make_shared<DirectIo>(options.calls)),
        reads_(options.direct_reads ? direct_ : nullptr),
        writes_(options.direct_writes ? direct_ : nullptr) {}

  Result<std::unique_ptr<AppendFile>> Create(const std::string& path,
                                             size_t buffer_bytes) override {
    const bool worth_it = buffer_bytes >= kDirectBufferBytesMin;
    return CreatePosixAppendFile(path, buffer_bytes, worth_it ? writes_ : nullptr);
  }

  Result<std::unique_ptr<RandomFile>> OpenRandom(const std::string& path) override {
    return OpenPosixRandomFile(path, limit_, reads_);
  }

  Result<std::string> ReadWhole(const std::string& path, uint64_t bytes_max) override {
    LAVA_ASSIGN_OR_RETURN(const int descriptor, OpenDescriptor(path, O_RDONLY, "open"));
    Result<std::string> content = ReadAll(descriptor, path, bytes_max);
    (void)close(descriptor);
    return content;
  }

  Result<uint64_t> FileSize(const std::string& path) override {
    LAVA_ASSIGN_OR_RETURN(const struct stat st, StatOf(path));
    return static_cast<uint64_t>(st.st_size);
  }

  Result<bool> Exists(const std::string& path) override {
    Result<struct stat> st = StatOf(path);
    if (st.ok()) return true;
    if (st.status().IsNotFound()) return false;
    return std::move(st).status();
  }

  Status Rename(const std::string& from, const std::string& to) override {
    if (rename(from.c_str(), to.c_str()) == 0) return Status::OK();
    return PosixError("rename to " + to + " the file", from, errno);
  }

  Status Remove(const std::string& path) override {
    if (unlink(path.c_str()) == 0) return Status::OK();
    return PosixError("remove", path, errno);
  }

  Status Link(const std::string& from, const std::string& to) override {
    if (link(from.c_str(), to.c_str()) != 0)
      return PosixError("link as " + to + " the file", from, errno);
    NarrowLinked(to);
    return Status::OK();
  }

  Result<std::vector<std::string>> List(const std::string& directory) override {
    DIR* stream = opendir(directory.c_str());  // sets O_CLOEXEC
    if (stream == nullptr) return PosixError("list", directory, errno);
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = readdir(stream)) {
      if (IsRegular(dirfd(stream), *entry)) names.emplace_back(entry->d_name);
      errno = 0;
    }
    const int error = errno;
    (void)closedir(stream);
    if (error != 0) return PosixError("list", directory, error);
    return names;
  }

  Status CreateDirectory(const std::string& path) override {
    int error = MakeDirectory(path);
    if (error == ENOENT) {
      const std::string parent = DirectoryOf(path);
      if (parent == path) return PosixError("create directory", path, error);
      LAVA_RETURN_IF_ERROR(CreateDirectory(parent));
      error = MakeDirectory(path);
    }
    if (error == 0) return Status::OK();
    if (error != EEXIST) return PosixError("create directory", path, error);
    LAVA_ASSIGN_OR_RETURN(const struct stat st, StatOf(path));
    if (S_ISDIR(st.st_mode)) return Status::OK();
    return Status::IOError("create directory " + path + ": a file has its name");
  }

  Status SyncDirectory(const std::string& path) override {
    bool asked = false;
    return SyncOpened(path, O_RDONLY | O_DIRECTORY, "directory", &asked);
  }

  Status SyncFile(const std::string& path, bool* asked) override {
    return SyncOpened(path, O_RDONLY, "file", asked);
  }

  Result<std::unique_ptr<DirectoryLock>> Lock(const std::string& directory) override {
    return LockPosixDirectory(directory);
  }

  uint64_t files_refused_direct() const override { return direct_->files_refused(); }
  uint64_t boot() const override { return boot_; }

 private:
  static Status SyncOpened(const std::string& path, int flags, const std::string& what,
                           bool* asked) {
    LAVA_ASSIGN_OR_RETURN(const int descriptor, OpenDescriptor(path, flags, "open " + what));
    *asked = true;
    int rc;
    do {
      rc = fsync(descriptor);
    } while (rc != 0 && errno == EINTR);
    const int error = errno;
    (void)close(descriptor);
    return rc == 0 ? Status::OK() : PosixError("sync " + what, path, error);
  }

  static Result<std::string> ReadAll(int descriptor, const std::string& path, uint64_t bytes_max) {
    struct stat st {};
    if (fstat(descriptor, &st) != 0) return PosixError("look at", path, errno);
    const uint64_t bytes = static_cast<uint64_t>(st.st_size);
    if (bytes > bytes_max) {
      return Status::Corruption("read " + path + ": " + std::to_string(bytes) + " bytes, at most " +
                                std::to_string(bytes_max) + " expected");
    }
    std::string content(bytes, '\0');
    LAVA_ASSIGN_OR_RETURN(const size_t got,
                          ReadAt(descriptor, path, 0, content.size(), content.data()));
    content.resize(got);
    return content;
  }

  OpenFileLimit* const limit_;
  const std::shared_ptr<DirectIo> direct_;
  const std::shared_ptr<DirectIo> reads_, writes_;  // null: through the page cache
  const uint64_t boot_ = os::BootId();
};

}  // namespace

std::unique_ptr<FileSystem> NewPosixFileSystem(OpenFileLimit* limit, const PosixOptions& options) {
  return std::make_unique<PosixFileSystem>(limit, options);
}

FileSystem* FileSystem::Posix() {
  static FileSystem* const file_system =
      NewPosixFileSystem(OpenFileLimit::Process()).release();  // lives as long as the process
  return file_system;
}

}  // namespace lava::fs
