// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/backtrace.h"

#include <string>

#ifndef NDEBUG
#include <execinfo.h>

#include <cstdlib>
#include <memory>

namespace lava {

Backtrace::Backtrace() noexcept : frames_{}, count_(::backtrace(frames_.data(), kFramesMax)) {}

std::string Backtrace::ToString() const {
  const std::unique_ptr<char*, decltype(&std::free)> lines(
      ::backtrace_symbols(frames_.data(), count_), &std::free);
  std::string text;
  // Frame 0 is the constructor.
  for (int i = 1; lines != nullptr && i < count_; ++i)
    text.append("    ").append(lines.get()[i]).append("\n");
  return text;
}

}  // namespace lava
#endif
