// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/file_system.h"

#include <string>

#include "fs/posix_error.h"
#include "lava/status.h"

namespace lava::fs {

Status FileSystem::CreateDurableDirectory(const std::string& path) {
  if (path.size() > 1 && path.back() == '/')
    return CreateDurableDirectory(path.substr(0, path.size() - 1));
  const std::string parent = DirectoryOf(path);
  if (parent == path) return Status::OK();
  LAVA_ASSIGN_OR_RETURN(const bool there, Exists(path));
  if (!there) LAVA_RETURN_IF_ERROR(CreateDurableDirectory(parent));
  LAVA_RETURN_IF_ERROR(CreateDirectory(path));
  return SyncDirectory(parent);
}

}  // namespace lava::fs
