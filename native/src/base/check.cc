// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace lava {

void CheckFailed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "lava: check failed: %s at %s:%d\n", condition, file, line);
  std::fflush(stderr);
  std::abort();
}

}  // namespace lava
