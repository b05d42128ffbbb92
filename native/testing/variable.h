#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/check.h"

namespace lava::testing {

/// A number from the environment, by which a test is told a seed or how much to do.
inline uint64_t Variable(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::strtoull(value, nullptr, 10) : otherwise;
}

/// Whether LAVA_TEST_FILE_SYSTEM says lavafs: what the engine's tests would put on a MemFileSystem
/// or into a directory of the system is then on LavaFS. Aborts when it says anything else.
inline bool OnLavaFs() {
  const char* value = std::getenv("LAVA_TEST_FILE_SYSTEM");
  const std::string_view name = value != nullptr ? value : "";
  LAVA_CHECK(name.empty() || name == "lavafs");
  return !name.empty();
}

}  // namespace lava::testing
