// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/history/operation.h"

namespace lava::testing {

const char* OpName(Op op) {
  static constexpr const char* kNames[] = {
      "put",           "delete",           "append",       "delete prefix", "delete range",
      "put external",  "append external",  "batch",        "refused",       "get",
      "contains",      "contains prefix",  "several gets", "scan",          "read all",
      "take snapshot", "release snapshot", "checkpoint",   "import",        "reopen",
      "flush",         "compact all",      "run jobs",     "drop table",    "set ttl",
      "tune",          "tune host",        "entries",      "set time"};
  static_assert(std::size(kNames) == kOpCount);
  return kNames[static_cast<size_t>(op)];
}

std::string Hex(Slice bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += kDigits[static_cast<uint8_t>(c) >> 4];
    out += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return out;
}

std::string Describe(const Operation& o) {
  std::string out = OpName(o.op);
  out += std::string(" of ") + kHistoryTables[o.table].name;
  if (!o.key.empty()) out += ", key " + Hex(o.key);
  if (!o.upper.empty()) out += ", to " + Hex(o.upper);
  if (!o.value.empty()) out += ", " + std::to_string(o.value.size()) + " bytes";
  if (o.slot >= 0) out += ", snapshot " + std::to_string(o.slot);
  if (o.number != 0) out += ", number " + std::to_string(o.number);
  if (o.op == Op::kScan) {
    out += std::string(o.exclusive ? ", exclusive" : "") + (o.prefix ? ", prefix" : "") +
           (o.keys_only ? ", keys only" : "") + ", skip " + std::to_string(o.skip) + ", pages of " +
           std::to_string(o.entries_max) + " or " + std::to_string(o.bytes_max) + " bytes";
  }
  for (const Operation& part : o.batch) out += " { " + Describe(part) + " }";
  return out;
}

}  // namespace lava::testing
