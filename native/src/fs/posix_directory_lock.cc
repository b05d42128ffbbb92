// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/posix_directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "base/thread_annotations.h"
#include "fs/file_system.h"
#include "fs/posix_descriptor.h"
#include "fs/posix_error.h"
#include "lava/status.h"

namespace lava::fs {
namespace {

// Directories that this process holds. flock alone would let a process lock twice on network file
// systems, which emulate it by locks that belong to the whole process.
class HeldDirectories {
 public:
  using Id = std::pair<dev_t, ino_t>;
  static HeldDirectories& Get() {
    static auto* const held = new HeldDirectories;
    return *held;
  }
  bool Insert(Id id) {
    MutexLock lock(&mutex_);
    return ids_.insert(id).second;
  }
  void Erase(Id id) {
    MutexLock lock(&mutex_);
    ids_.erase(id);
  }

 private:
  Mutex mutex_;
  std::set<Id> ids_ LAVA_GUARDED_BY(mutex_);
};

Status InUse(const std::string& directory, const char* by) {
  return Status::Busy("lock " + directory + ": in use by " + by + "; close it or use another one");
}

// Its destruction releases everything taken so far, even after a Take() that failed halfway.
class PosixDirectoryLock : public DirectoryLock {
 public:
  ~PosixDirectoryLock() override {
    if (descriptor_ >= 0) (void)close(descriptor_);  // also releases the flock
    if (id_) HeldDirectories::Get().Erase(*id_);
  }

  Status Take(const std::string& directory) {
    struct stat st {};
    if (stat(directory.c_str(), &st) != 0) return PosixError("lock", directory, errno);
    const HeldDirectories::Id id{st.st_dev, st.st_ino};
    if (!HeldDirectories::Get().Insert(id)) return InUse(directory, "this process");
    id_ = id;
    LAVA_ASSIGN_OR_RETURN(descriptor_,
                          OpenDescriptor(directory + "/LOCK", O_RDWR | O_CREAT, "lock"));
    int rc;
    do {
      rc = flock(descriptor_, LOCK_EX | LOCK_NB);
    } while (rc != 0 && errno == EINTR);
    if (rc == 0) return Status::OK();
    return errno == EWOULDBLOCK ? InUse(directory, "another process")
                                : PosixError("lock", directory, errno);
  }

 private:
  int descriptor_ = -1;
  std::optional<HeldDirectories::Id> id_;
};

}  // namespace

Result<std::unique_ptr<DirectoryLock>> LockPosixDirectory(const std::string& directory) {
  auto lock = std::make_unique<PosixDirectoryLock>();
  LAVA_RETURN_IF_ERROR(lock->Take(directory));
  return std::unique_ptr<DirectoryLock>(std::move(lock));
}

}  // namespace lava::fs
