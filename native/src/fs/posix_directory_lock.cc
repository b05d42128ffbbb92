#include "fs/posix_directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <utility>

#include "base/mutex.h"
#include "fs/posix_descriptor.h"
#include "fs/posix_error.h"

namespace lava::fs {
namespace {

// Directories that this process holds. flock alone would let a process lock twice on network file
// systems, where it is built from locks that a process owns as a whole.
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

class PosixDirectoryLock : public DirectoryLock {
 public:
  PosixDirectoryLock(int descriptor, HeldDirectories::Id id) : descriptor_(descriptor), id_(id) {}
  ~PosixDirectoryLock() override {
    (void)close(descriptor_);  // gives the flock up
    HeldDirectories::Get().Erase(id_);
  }

 private:
  const int descriptor_;
  const HeldDirectories::Id id_;
};

Status InUse(const std::string& directory, const char* by) {
  return Status::Busy("lock " + directory + ": in use by " + by + "; close it or use another one");
}

}  // namespace

Result<std::unique_ptr<DirectoryLock>> LockPosixDirectory(const std::string& directory) {
  struct stat st {};
  if (stat(directory.c_str(), &st) != 0) return PosixError("lock", directory, errno);
  const HeldDirectories::Id id{st.st_dev, st.st_ino};
  if (!HeldDirectories::Get().Insert(id)) return InUse(directory, "this process");
  Result<int> descriptor = OpenDescriptor(directory + "/LOCK", O_RDWR | O_CREAT, "lock");
  if (!descriptor.ok()) {
    HeldDirectories::Get().Erase(id);
    return std::move(descriptor).status();
  }
  int rc;
  do {
    rc = flock(*descriptor, LOCK_EX | LOCK_NB);
  } while (rc != 0 && errno == EINTR);
  if (rc == 0) {
    return std::unique_ptr<DirectoryLock>(std::make_unique<PosixDirectoryLock>(*descriptor, id));
  }
  const int error = errno;
  (void)close(*descriptor);
  HeldDirectories::Get().Erase(id);
  if (error == EWOULDBLOCK) return InUse(directory, "another process");
  return PosixError("lock", directory, error);
}

}  // namespace lava::fs
