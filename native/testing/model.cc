// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "testing/model.h"

#include <algorithm>

#include "base/check.h"
#include "base/coding.h"

namespace lava::testing {

void Model::CreateTable(const std::string& table) { tables_.try_emplace(table); }

void Model::DropTable(const std::string& table) { tables_.erase(table); }

std::vector<std::string> Model::tables() const {
  std::vector<std::string> names;
  for (const auto& [name, content] : tables_) names.push_back(name);
  return names;
}

void Model::Put(const std::string& table, KeyRef key, Slice value) {
  At(table)[std::string(key.key)] = Value{key.prefix_bytes, std::string(value)};
}

void Model::Delete(const std::string& table, KeyRef key) { At(table).erase(std::string(key.key)); }

void Model::Append(const std::string& table, KeyRef key, Slice segments) {
  Value& value = At(table)[std::string(key.key)];
  value.prefix_bytes = key.prefix_bytes;
  value.bytes.append(segments);
}

void Model::DeletePrefix(const std::string& table, Slice prefix) {
  TableOf& content = At(table);
  for (auto it = content.lower_bound(prefix); it != content.end();) {
    if (!Slice(it->first).starts_with(prefix)) break;
    it = it->second.prefix_bytes == prefix.size() ? content.erase(it) : std::next(it);
  }
}

void Model::DeleteRange(const std::string& table, Slice lower, Slice upper) {
  if (lower >= upper) return;
  TableOf& content = At(table);
  content.erase(content.lower_bound(lower), content.lower_bound(upper));
}

std::optional<std::string> Model::Get(const std::string& table, Slice key) const {
  const TableOf& content = At(table);
  auto it = content.find(key);
  if (it == content.end()) return std::nullopt;
  return it->second.bytes;
}

std::vector<Model::Entry> Model::Scan(const std::string& table, const ScanRequest& request) const {
  const TableOf& content = At(table);
  const Slice prefix = request.lower.substr(0, request.prefix_bytes);
  std::vector<Entry> entries;
  auto it = request.lower_exclusive ? content.upper_bound(request.lower)
                                    : content.lower_bound(request.lower);
  for (; it != content.end(); ++it) {
    const Slice key = it->first;
    if (!key.starts_with(prefix)) break;
    if (prefix.empty() && !request.upper.empty() && key >= request.upper) break;
    const size_t skipped = std::min<size_t>(request.skip_key_bytes, key.size());
    entries.emplace_back(std::string(key.substr(skipped)),
                         request.keys_only ? std::string() : it->second.bytes);
  }
  return entries;
}

size_t Model::size(const std::string& table) const { return At(table).size(); }

Model::TableOf& Model::At(const std::string& table) {
  auto it = tables_.find(table);
  LAVA_CHECK(it != tables_.end());
  return it->second;
}

const Model::TableOf& Model::At(const std::string& table) const {
  auto it = tables_.find(table);
  LAVA_CHECK(it != tables_.end());
  return it->second;
}

Status ParsePage(const ScanPage& page, std::vector<Model::Entry>* entries) {
  Slice rest = page.bytes;
  for (uint32_t i = 0; i < page.entries; ++i) {
    uint64_t key_bytes = 0;
    uint64_t value_bytes = 0;
    Slice key;
    Slice value;
    if (!GetBigEndian(&rest, 4, &key_bytes) || !GetBigEndian(&rest, 4, &value_bytes) ||
        !GetBytes(&rest, key_bytes, &key) || !GetBytes(&rest, value_bytes, &value)) {
      return Status::Corruption("scan page: entry " + std::to_string(i) + " is cut off");
    }
    entries->emplace_back(std::string(key), std::string(value));
  }
  if (rest.empty()) return Status::OK();
  return Status::Corruption("scan page: " + std::to_string(rest.size()) +
                            " bytes behind the last entry");
}

Result<std::vector<std::string>> ListElements(Slice value) {
  std::vector<std::string> elements;
  while (!value.empty()) {
    ListSegment kind;
    Slice bytes;
    LAVA_RETURN_IF_ERROR(NextListSegment(&value, &kind, &bytes));
    elements.emplace_back(bytes);
  }
  return elements;
}

}  // namespace lava::testing
