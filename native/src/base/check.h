#pragma once

namespace lava {

/// Writes the failed condition and its place to stderr and aborts.
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line) noexcept;

}  // namespace lava

/// An invariant whose breach would lose or invent data; stays on in release builds.
#define LAVA_CHECK(condition)                              \
  do {                                                     \
    if (!(condition)) [[unlikely]]                         \
      ::lava::CheckFailed(#condition, __FILE__, __LINE__); \
  } while (false)

/// The same for hot paths: off in release builds.
#ifdef NDEBUG
#define LAVA_DCHECK(condition)    \
  do {                            \
    if (false) (void)(condition); \
  } while (false)
#else
#define LAVA_DCHECK(condition) LAVA_CHECK(condition)
#endif
