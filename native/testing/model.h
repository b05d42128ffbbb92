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

/// What a DB must answer, by sorted maps: the oracle of differential tests. A copy of the model is
/// a snapshot. It knows no expiry: a test that uses TTL compares only what cannot be expired.
/// Threads:    one.
/// Ownership:  copies everything.
class Model {
 public:
  using Entry = std::pair<std::string, std::string>;

  /// A new table, or the one that is there.
  void CreateTable(const std::string& table);
  void DropTable(const std::string& table);
  std::vector<std::string> tables() const;

  void Put(const std::string& table, KeyRef key, Slice value);
  void Delete(const std::string& table, KeyRef key);
  /// segments: list_format.h.
  void Append(const std::string& table, KeyRef key, Slice segments);
  /// Keys that start with prefix and were written with prefix_bytes == its length.
  void DeletePrefix(const std::string& table, Slice prefix);
  /// Keys in [lower, upper).
  void DeleteRange(const std::string& table, Slice lower, Slice upper);

  /// nullopt when absent.
  std::optional<std::string> Get(const std::string& table, Slice key) const;
  /// What pages of the request would give together; entries_max and bytes_max count for nothing,
  /// skip_key_bytes and keys_only do.
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

/// The entries of a page, appended to *entries. Corruption when the page is not well formed.
Status ParsePage(const ScanPage& page, std::vector<Model::Entry>* entries);

/// A list's value as its elements; a joined segment counts as one element. For messages and
/// comparisons of lists that were folded in different places.
Result<std::vector<std::string>> ListElements(Slice value);

}  // namespace lava::testing
