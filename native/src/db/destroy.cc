// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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

// A damaged or missing manifest does not prevent the deletion.
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
  // CURRENT is removed first, so that a crash leaves no directory that opens as an instance.
  LAVA_RETURN_IF_ERROR(RemoveOne(files, path + "/" + std::string(Manifest::kCurrentName)));
  if (sync) LAVA_RETURN_IF_ERROR(files->SyncDirectory(path));
  LAVA_ASSIGN_OR_RETURN(const std::vector<std::string> names, files->List(path));
  for (const std::string& name : names) {
    if (IsDataFile(name) || Manifest::IsOne(name))
      LAVA_RETURN_IF_ERROR(RemoveOne(files, path + "/" + name));
  }
  return Status::OK();
}

// The log is removed after the files: an instance without its log cannot be opened, but a log
// without its instance does no harm.
Status RemoveLog(const DBOptions& options, const std::string& path, fs::FileSystem* files) {
  return Impl(options.lease.get())
      ->host()
      ->wals()
      ->Delete({files, options.volume, WalDirectory(options, path), path});
}

Status DestroyIn(const DBOptions& options, const std::string& path) {
  if (options.lease == nullptr) return Status::InvalidArgument("options.lease is required");
  fs::FileSystem* const files = FileSystemOf(options, nullptr);
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
