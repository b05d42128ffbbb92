// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/paths.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "fs/posix_error.h"
#include "lava/status.h"

namespace lava::fs {

Result<std::string> CanonicalPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> found(realpath(path.c_str(), nullptr),
                                                          &std::free);
  if (found == nullptr) return PosixError("look at", path, errno);
  return std::string(found.get());
}

Status CheckPrivateDirectory(const std::string& path) {
  struct stat st {};
  if (lstat(path.c_str(), &st) != 0) return PosixError("look at", path, errno);
  if (!S_ISDIR(st.st_mode)) return Status::IOError("use " + path + ": it is no directory");
  if (st.st_uid == geteuid() && (st.st_mode & (S_IRWXG | S_IRWXO)) == 0) return Status::OK();
  return Status::IOError("use " + path +
                         ": it must belong to the user of this process, and nobody else may enter "
                         "it; remove it, or take the others' rights away (chmod 700)");
}

Result<uint64_t> DiskBytes(const std::string& path) {
  struct statvfs st {};
  if (statvfs(path.c_str(), &st) != 0) return PosixError("look at the disk of", path, errno);
  return uint64_t{st.f_frsize} * st.f_blocks;
}

}  // namespace lava::fs
