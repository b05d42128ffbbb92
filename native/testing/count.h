#pragma once

#include <cstdint>
#include <iostream>
#include <string_view>

namespace lava::testing {

/// Tells bin/test how much of something a test did; it sums the lines up by what.
inline void Count(uint64_t n, std::string_view what) {
  std::cout << "COUNT " << n << ' ' << what << std::endl;
}

}  // namespace lava::testing
