// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/text.h"

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdio>

namespace lava::inspect {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Reads two hex digits from the front.
bool TakeHexByte(Slice* text, std::string* out) {
  if (text->size() < 2) return false;
  const int high = HexDigit((*text)[0]), low = HexDigit((*text)[1]);
  if (high < 0 || low < 0) return false;
  out->push_back(static_cast<char>(high * 16 + low));
  text->remove_prefix(2);
  return true;
}

}  // namespace

std::string Escape(Slice bytes) {
  std::string out;
  for (const char c : bytes) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c >= 0x20 && c < 0x7f) {
      out += c;
    } else {
      char code[5];
      std::snprintf(code, sizeof(code), "\\x%02x", static_cast<unsigned char>(c));
      out += code;
    }
  }
  return out;
}

std::optional<std::string> ParseBytes(Slice text) {
  std::string out;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    while (!text.empty())
      if (!TakeHexByte(&text, &out)) return std::nullopt;
    return out;
  }
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c != '\\') {
      out += c;
      continue;
    }
    if (text.empty()) return std::nullopt;
    const char escaped = text.front();
    text.remove_prefix(1);
    if (escaped == '\\') {
      out += '\\';
    } else if (escaped != 'x' || !TakeHexByte(&text, &out)) {
      return std::nullopt;
    }
  }
  return out;
}

std::string HexNumber(uint64_t number, int digits) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "0x%0*" PRIx64, digits, number);
  return buffer;
}

std::string ByteSize(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double amount = static_cast<double>(bytes);
  size_t unit = 0;
  while (amount >= 1024 && unit + 1 < std::size(kUnits)) {
    amount /= 1024;
    ++unit;
  }
  char buffer[48];
  std::snprintf(buffer, sizeof(buffer), unit == 0 ? "%.0f %s" : "%.1f %s", amount, kUnits[unit]);
  return buffer;
}

std::string Ratio(uint64_t part, uint64_t whole) {
  if (whole == 0) return "-";
  char buffer[48];
  std::snprintf(buffer, sizeof(buffer), "%.2f",
                static_cast<double>(part) / static_cast<double>(whole));
  return buffer;
}

std::optional<uint64_t> OffsetIn(Slice message) {
  for (const Slice words : {Slice("at offset "), Slice("ends at ")}) {
    const size_t at = message.rfind(words);
    if (at == Slice::npos) continue;
    const Slice digits = message.substr(at + words.size());
    uint64_t offset = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), offset).ec == std::errc())
      return offset;
  }
  return std::nullopt;
}

}  // namespace lava::inspect
