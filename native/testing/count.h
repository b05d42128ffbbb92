#pragma once

#include <cstdint>
#include <iostream>
#include <string_view>

#include "testing/variable.h"

namespace lava::testing {

/// Tells bin/test how much of something a test did; it sums the lines up by what. What was done on
/// LavaFS is apart, so that it does not make up for less on the others.
inline void Count(uint64_t n, std::string_view what) {
  std::cout << "COUNT " << n << ' ' << what << (OnLavaFs() ? ", on LavaFS" : "") << std::endl;
}

}  // namespace lava::testing
