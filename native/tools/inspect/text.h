// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lava/slice.h"

namespace lava::inspect {

/// Formatting of bytes and numbers for people, and parsing of keys.

/// Printable ASCII unchanged, everything else as \xNN, a backslash as \\.
std::string Escape(Slice bytes);
/// Parses output of Escape(), or hex digits after "0x". Null for anything else.
std::optional<std::string> ParseBytes(Slice text);
/// "0x" and at least this many hex digits.
std::string HexNumber(uint64_t number, int digits);
/// "12 B", "3.4 KiB", "1.2 GiB".
std::string ByteSize(uint64_t bytes);
/// part / whole with two decimals; "-" if whole is 0.
std::string Ratio(uint64_t part, uint64_t whole);
/// The offset in a Status's message, if there is one.
std::optional<uint64_t> OffsetIn(Slice message);

}  // namespace lava::inspect
