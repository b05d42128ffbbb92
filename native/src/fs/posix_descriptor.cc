// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/posix_descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fs/open_file_limit.h"
#include "fs/posix_error.h"
#include "lava/status.h"

namespace lava::fs {
namespace {

constexpr uint32_t kEvictOnExhaustion = 64;
constexpr mode_t kFileMode = 0600;
constexpr mode_t kPermissions = 07777;

}  // namespace

void MakePrivate(int descriptor, mode_t mode) {
  struct stat st {};
  if (fstat(descriptor, &st) != 0 || st.st_uid != geteuid()) return;
  if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) return;
  if ((st.st_mode & kPermissions) != mode) (void)fchmod(descriptor, mode);
}

Result<int> OpenDescriptor(const std::string& path, int flags, std::string_view operation) {
  for (bool evicted = false;;) {
    const int descriptor = open(path.c_str(), flags | O_CLOEXEC, kFileMode);
    if (descriptor >= 0) {
      if ((flags & O_CREAT) != 0) MakePrivate(descriptor, kFileMode);
      return descriptor;
    }
    const int error = errno;
    if (error == EINTR) continue;
    if ((error == EMFILE || error == ENFILE) && !evicted) {
      evicted = true;
      if (OpenFileLimit::Process()->Evict(kEvictOnExhaustion) > 0) continue;
    }
    return PosixError(operation, path, error);
  }
}

Result<size_t> ReadAt(int descriptor, const std::string& path, uint64_t offset, size_t length,
                      char* to) {
  size_t done = 0;
  while (done < length) {
    const ssize_t got =
        pread(descriptor, to + done, length - done, static_cast<off_t>(offset + done));
    if (got < 0) {
      if (errno == EINTR) continue;
      return PosixError(
          "read " + std::to_string(length) + " bytes at offset " + std::to_string(offset) + " of",
          path, errno);
    }
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

}  // namespace lava::fs
