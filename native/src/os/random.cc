// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "os/random.h"

#include <sys/random.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>

#include "base/check.h"

namespace lava::os {

Random128 RandomBits128() {
  Random128 bits;
  char* to = reinterpret_cast<char*>(&bits);
  for (size_t done = 0; done < sizeof(bits);) {
    const ssize_t got = getrandom(to + done, sizeof(bits) - done, 0);
    if (got < 0) {
      LAVA_CHECK(errno == EINTR);
      continue;
    }
    done += static_cast<size_t>(got);
  }
  return bits;
}

}  // namespace lava::os
