#pragma once

#include <string>

#ifndef NDEBUG
#include <array>
#endif

namespace lava {

/// The stack of whoever makes one, so that a leak's log can say where something was taken. Builds
/// with NDEBUG keep nothing and say nothing.
/// Threads:    a value.
class Backtrace {
 public:
#ifdef NDEBUG
  std::string ToString() const { return {}; }
#else
  Backtrace() noexcept;
  /// A line a frame, innermost first, each indented and ended; "module(function+offset) [address]".
  /// Functions have names where their module exports them; addr2line finds the others.
  std::string ToString() const;

 private:
  static constexpr int kFramesMax = 24;
  std::array<void*, kFramesMax> frames_;
  int count_ = 0;
#endif
};

}  // namespace lava
