// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace lava {

/// Writes the failed condition and its location to stderr and aborts.
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line) noexcept;

}  // namespace lava

/// Checks an invariant whose violation would lose or invent data; active in release builds.
#define LAVA_CHECK(condition)                              \
  do {                                                     \
    if (!(condition)) [[unlikely]]                         \
      ::lava::CheckFailed(#condition, __FILE__, __LINE__); \
  } while (false)

/// LAVA_CHECK for hot paths: off in release builds.
#ifdef NDEBUG
#define LAVA_DCHECK(condition)    \
  do {                            \
    if (false) (void)(condition); \
  } while (false)
#else
#define LAVA_DCHECK(condition) LAVA_CHECK(condition)
#endif
