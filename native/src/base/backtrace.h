// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#ifndef NDEBUG
#include <array>
#endif

namespace lava {

/// The call stack at construction, so that the report of a leak can say where the object was
/// acquired. Empty in builds with NDEBUG.
/// Threads:    a value.
class Backtrace {
 public:
#ifdef NDEBUG
  std::string ToString() const { return {}; }
#else
  Backtrace() noexcept;
  /// One indented line per frame, innermost first: "module(function+offset) [address]\n".
  /// Only functions that their module exports have names; addr2line finds the others.
  std::string ToString() const;

 private:
  static constexpr int kFramesMax = 24;
  std::array<void*, kFramesMax> frames_;
  int count_ = 0;
#endif
};

}  // namespace lava
