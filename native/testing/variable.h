#pragma once

#include <cstdint>
#include <cstdlib>

namespace lava::testing {

/// A number from the environment, by which a test is told a seed or how much to do.
inline uint64_t Variable(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::strtoull(value, nullptr, 10) : otherwise;
}

}  // namespace lava::testing
