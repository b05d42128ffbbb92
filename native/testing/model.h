// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lava/db.h"
#include "lava/list_format.h"
#include "lava/slice.h"

namespace lava::testing {

/// The expected answers of a DB, from sorted maps: the oracle of differential tests. A copy of the
/// model is a snapshot. The model has no expiry: tests with TTL compare only data that cannot
/// expire.
/// Threads:    one.
/// Ownership:  copies everything.
class Model {
 public:
  using Entry = std::pair<std::string, std::string>;

  /// Creates the table if it does not exist.
  void CreateTable(const std::string& table);
  void DropTable(const std::string& table);
  std::vector<std::string> tables() const;

  void Put(const std::string& table, KeyRef key, Slice value);
  void Delete(const std::string& table, KeyRef key);
  /// segments: list_format.h.
  void Append(const std::string& table, KeyRef key, Slice segments);
  /// Deletes keys that start with prefix and were written with prefix_bytes == its length.
  void DeletePrefix(const std::string& table, Slice prefix);
  /// Deletes keys in [lower, upper).
  void DeleteRange(const std::string& table, Slice lower, Slice upper);

  /// nullopt when absent.
  std::optional<std::string> Get(const std::string& table, Slice key) const;
  /// The entries of all pages of the request together. entries_max and bytes_max are ignored;
  /// skip_key_bytes and keys_only are not.
  std::vector<Entry> Scan(const std::string& table, const ScanRequest& request) const;
  size_t size(const std::string& table) const;

  friend bool operator==(const Model&, const Model&) = default;

 private:
  struct Value {
    uint32_t prefix_bytes = 0;
    std::string bytes;
    friend bool operator==(const Value&, const Value&) = default;
  };
  // std::string compares as unsigned bytes, as the DB does.
  using TableOf = std::map<std::string, Value, std::less<>>;

  TableOf& At(const std::string& table);
  const TableOf& At(const std::string& table) const;

  std::map<std::string, TableOf> tables_;
};

/// Appends the entries of a page to *entries. Corruption if the page is malformed.
Status ParsePage(const ScanPage& page, std::vector<Model::Entry>* entries);

/// The elements of a list's value; a joined segment counts as one element. For messages, and for
/// comparing lists whose segments were folded differently.
Result<std::vector<std::string>> ListElements(Slice value);

}  // namespace lava::testing
