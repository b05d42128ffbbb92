// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <iostream>
#include <string_view>

#include "testing/variable.h"

namespace lava::testing {

/// Reports to bin/test how much work a test did; bin/test adds up the lines by `what`. Work on
/// LavaFS is counted separately, so that it cannot hide a lack of work on other file systems.
inline void Count(uint64_t n, std::string_view what) {
  std::cout << "COUNT " << n << ' ' << what << (OnLavaFs() ? ", on LavaFS" : "") << std::endl;
}

}  // namespace lava::testing
