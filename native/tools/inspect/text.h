#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lava/slice.h"

namespace lava::inspect {

/// How bytes and numbers are written for people, and keys read from them.

/// Printable ASCII as it is, everything else as \xNN, a backslash as \\.
std::string Escape(Slice bytes);
/// What Escape() wrote, or hex digits behind "0x". Null when it is neither.
std::optional<std::string> ParseBytes(Slice text);
/// "0x" and that many hex digits at least.
std::string HexNumber(uint64_t number, int digits);
/// "12 B", "3.4 KiB", "1.2 GiB".
std::string ByteSize(uint64_t bytes);
/// part / whole with two decimals; "-" of nothing.
std::string Ratio(uint64_t part, uint64_t whole);
/// The offset that a Status's message names, if it does.
std::optional<uint64_t> OffsetIn(Slice message);

}  // namespace lava::inspect
