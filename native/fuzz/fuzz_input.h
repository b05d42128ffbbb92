// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "lava/slice.h"
#include "lava/status.h"

namespace lava::fuzzing {

/// The common part of all parsers' inputs. Each parser has a header with a function
/// Run...Input(data, size), called by its libFuzzer target and by its replay as a unit test, and
/// seeds of good inputs.

/// Reports a violated rule: libFuzzer keeps the input, a test dies.
[[noreturn]] inline void FuzzFailed(const char* parser, const std::string& what) {
  std::fprintf(stderr, "%s fuzzer: %s\n", parser, what.c_str());
  std::abort();
}

inline Slice InputSlice(const uint8_t* data, size_t size) {
  return Slice(reinterpret_cast<const char*>(data), size);
}

/// Reads numbers and bytes from the front of an input; missing bytes read as zero or nothing.
class InputReader {
 public:
  explicit InputReader(Slice input) : rest_(input) {}

  bool done() const { return rest_.empty(); }
  Slice rest() const { return rest_; }
  uint8_t Byte() {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }
  /// Two bytes, little endian.
  uint32_t Short() {
    const uint32_t low = Byte();
    return low | static_cast<uint32_t>(Byte()) << 8;
  }
  Slice Take(size_t bytes) {
    const Slice taken = rest_.substr(0, bytes);
    rest_.remove_prefix(taken.size());
    return taken;
  }

 private:
  Slice rest_;
};

/// A copy of bytes with nothing after it (except slack zeros), so that AddressSanitizer detects
/// each read past the end.
class ExactCopy {
 public:
  explicit ExactCopy(Slice bytes, size_t slack = 0)
      : memory_(new char[bytes.size() + slack]), size_(bytes.size()) {
    if (!bytes.empty()) std::memcpy(memory_.get(), bytes.data(), bytes.size());
    if (slack != 0) std::memset(memory_.get() + size_, 0, slack);
  }
  Slice get() const { return Slice(memory_.get(), size_); }

 private:
  std::unique_ptr<char[]> memory_;
  size_t size_;
};

/// A parser's error must be Corruption, which names the damaged part and the offset, or
/// NotSupported.
inline void CheckError(const char* parser, const Status& status, Slice name) {
  const bool newer = status.code() == Status::Code::kNotSupported;
  if (!status.IsCorruption() && !newer)
    FuzzFailed(parser, "bad bytes are neither Corruption nor NotSupported: " + status.ToString());
  if (status.message().find(name) == Slice::npos)
    FuzzFailed(parser, "an error does not name " + std::string(name) + ": " + status.ToString());
  if (!newer && status.message().find("offset") == Slice::npos)
    FuzzFailed(parser, "an error has no offset: " + status.ToString());
}

}  // namespace lava::fuzzing
