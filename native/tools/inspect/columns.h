// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "inspect/report.h"
#include "inspect/text.h"

namespace lava::inspect {

/// Building blocks for the texts of all subcommands: fields of a report, which are empty if
/// missing, and tables.

inline uint64_t Number(const Json& json, const char* field) {
  const auto it = json.find(field);
  return it == json.end() || !it->is_number() ? 0 : it->get<uint64_t>();
}
inline std::string Text(const Json& json, const char* field) {
  const auto it = json.find(field);
  return it == json.end() || !it->is_string() ? std::string() : it->get<std::string>();
}
inline std::string Count(const Json& json, const char* field) {
  return std::to_string(Number(json, field));
}
inline std::string Size(const Json& json, const char* field) {
  return ByteSize(Number(json, field));
}

/// Columns as wide as their widest cell; a trailing '>' in the header aligns a column to the right.
class Columns {
 public:
  explicit Columns(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void Write(std::string* out) const {
    if (rows_.size() == 1) return;
    std::vector<size_t> widths(rows_[0].size());
    for (const auto& row : rows_)
      for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Cell(row[i]).size());
    for (const auto& row : rows_) {
      std::string line = "  ";
      for (size_t i = 0; i < row.size(); ++i) {
        const std::string cell = Cell(row[i]);
        const std::string fill(widths[i] - cell.size(), ' ');
        line += rows_[0][i].ends_with('>') ? fill + cell : cell + fill;
        line += "  ";
      }
      line.erase(line.find_last_not_of(' ') + 1);
      *out += line + "\n";
    }
  }

 private:
  static std::string Cell(const std::string& text) {
    return text.ends_with('>') ? text.substr(0, text.size() - 1) : text;
  }
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace lava::inspect
