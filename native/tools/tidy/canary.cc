// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// Code that clang-tidy must refuse when BREAKS is not 0, see tidy_check.py.

#include <cstddef>
#include <string>
#include <utility>

#include "base/coding.h"

#if BREAKS == 1  // misc-include-cleaner, an include that is not used
#include <map>
#endif

namespace lava {
namespace {

struct Base {
  virtual ~Base() = default;
  virtual void Run() = 0;
};

struct Derived : Base {
#if BREAKS == 2  // modernize-use-override
  virtual void Run() {}
#else
  void Run() override {}
#endif
};

#if BREAKS == 3  // modernize-use-nullptr
[[maybe_unused]] const Base* const base = 0;
#else
[[maybe_unused]] const Base* const base = nullptr;
#endif

[[maybe_unused]] std::string Moved(std::string text) {
  std::string moved = std::move(text);
#if BREAKS == 4  // bugprone-use-after-move
  moved += text;
#endif
  return moved;
}

#if BREAKS == 5  // performance-unnecessary-value-param
[[maybe_unused]] size_t SizeOf(const std::string text) { return text.size(); }
#else
[[maybe_unused]] size_t SizeOf(const std::string& text) { return text.size(); }
#endif

#if BREAKS == 6  // misc-include-cleaner, an include that is missing
[[maybe_unused]] size_t LengthOf(std::string_view text) { return text.size(); }
#endif

[[maybe_unused]] void Use(std::string* text) {
  Derived().Run();
  PutVarint32(text, 1);
}

}  // namespace

}  // namespace lava
