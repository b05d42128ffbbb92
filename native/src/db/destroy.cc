#include <memory>
#include <string>
#include <vector>

#include "db/db_impl.h"
#include "db/instance_context.h"
#include "fs/file_system.h"
#include "host/host_impl.h"
#include "lava/db.h"
#include "lava/options.h"
#include "lava/status.h"
#include "manifest/manifest.h"

namespace lava {
namespace {

// What the manifest does not say, because it is damaged or gone, is no reason to keep the rest.
Status CheckMode(const DBOptions& options, const std::string& path, fs::FileSystem* files) {
  if (options.wal != WalMode::kNone) return Status::OK();
  const auto manifest =
      Manifest::Recover({.file_system = files, .directory = path, .sync = options.sync});
  if (!manifest.ok() || !(*manifest)->state().wal_flushed) return Status::OK();
  return Status::InvalidArgument(
      "the instance has a write-ahead log, and options.wal says that it has none: the log would "
      "keep what is the instance's");
}

Status RemoveOne(fs::FileSystem* files, const std::string& path) {
  const Status status = files->Remove(path);
  return status.IsNotFound() ? Status::OK() : status;
}

Status RemoveFiles(fs::FileSystem* files, const std::string& path, bool sync) {
  // First what names the others: what is left by a crash is no instance.
  LAVA_RETURN_IF_ERROR(RemoveOne(files, path + "/" + std::string(Manifest::kCurrentName)));
  if (sync) LAVA_RETURN_IF_ERROR(files->SyncDirectory(path));
  LAVA_ASSIGN_OR_RETURN(const std::vector<std::string> names, files->List(path));
  for (const std::string& name : names) {
    if (IsDataFile(name) || Manifest::IsOne(name))
      LAVA_RETURN_IF_ERROR(RemoveOne(files, path + "/" + name));
  }
  return Status::OK();
}

// After the files, since an instance without its log is not opened, and a log without its instance
// is passed by.
Status RemoveLog(const DBOptions& options, const std::string& path, fs::FileSystem* files) {
  return Impl(options.lease.get())
      ->host()
      ->wals()
      ->Delete({files, options.volume, WalDirectory(options, path), path});
}

Status DestroyIn(const DBOptions& options, const std::string& path) {
  if (options.lease == nullptr) return Status::InvalidArgument("options.lease is required");
  fs::FileSystem* const files = FilesOf(options, nullptr);
  LAVA_ASSIGN_OR_RETURN(const bool exists, files->Exists(path));
  if (exists) {
    LAVA_ASSIGN_OR_RETURN(const std::unique_ptr<fs::DirectoryLock> lock, files->Lock(path));
    LAVA_RETURN_IF_ERROR(CheckMode(options, path, files));
    LAVA_RETURN_IF_ERROR(RemoveFiles(files, path, options.wal != WalMode::kNone));
  }
  return options.wal == WalMode::kNone ? Status::OK() : RemoveLog(options, path, files);
}

}  // namespace

Status DB::Destroy(const DBOptions& options, const std::string& path) {
  return DestroyIn(options, path).WithContext("destroy " + path);
}

}  // namespace lava
