// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "os/boot_id.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "base/hash.h"

namespace lava::os {

uint64_t BootId() {
  const int descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  char text[64];
  ssize_t bytes;
  do {
    bytes = read(descriptor, text, sizeof(text));
  } while (bytes < 0 && errno == EINTR);
  (void)close(descriptor);
  if (bytes <= 0) return 0;
  const uint64_t hash = Hash64({text, static_cast<size_t>(bytes)});
  return hash != 0 ? hash : 1;
}

}  // namespace lava::os
