// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/check.h"

namespace lava::testing {

/// A number from the environment, such as a test's seed or amount of work.
inline uint64_t Variable(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::strtoull(value, nullptr, 10) : otherwise;
}

/// Whether LAVA_TEST_FILE_SYSTEM is lavafs: the engine's tests then use LavaFS instead of a
/// MemFileSystem or a directory of the system. Aborts if the variable has another value.
inline bool OnLavaFs() {
  const char* value = std::getenv("LAVA_TEST_FILE_SYSTEM");
  const std::string_view name = value != nullptr ? value : "";
  LAVA_CHECK(name.empty() || name == "lavafs");
  return !name.empty();
}

}  // namespace lava::testing
