// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/posix_error.h"

#include <asm-generic/errno.h>
#include <string.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "lava/status.h"

namespace lava::fs {

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status PosixError(std::string_view operation, const std::string& path, int error) {
  std::string text(operation);
  text.append(" ").append(path).append(": ");
  const char* description = strerrordesc_np(error);
  text.append(description == nullptr ? "unknown error" : description);
  text.append(" (errno ").append(std::to_string(error)).append(")");
  if (error == ENOENT) return Status::NotFound(std::move(text));
  if (error == ENOSPC || error == EDQUOT) {
    text.append("; free space in ").append(DirectoryOf(path)).append(" and try again");
    return Status::NoSpace(std::move(text));
  }
  return Status::IOError(std::move(text));
}

}  // namespace lava::fs
