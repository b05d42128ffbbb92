// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/key_names.h"

#include "base/coding.h"
#include "base/hash.h"
#include "inspect/text.h"

namespace lava::inspect {

KeyNames::KeyNames(uint32_t partition_bytes, Show show) : state_(own_), show_(show) {
  own_.partition_bytes = partition_bytes;
}

std::string TableIdText(uint64_t id) { return HexNumber(id, 2 * kTableIdBytes); }

const char* NameOf(TableKind kind) {
  switch (kind) {
    case TableKind::kValue:
      return "value";
    case TableKind::kMap:
      return "map";
    case TableKind::kList:
      return "list";
  }
  return "?";
}

const char* NameOf(TtlLayout layout) {
  switch (layout) {
    case TtlLayout::kNone:
      return "none";
    case TtlLayout::kValue:
      return "value";
    case TtlLayout::kMap:
      return "map";
    case TtlLayout::kList:
      return "list";
  }
  return "?";
}

std::string KeyNames::TableName(uint64_t id) const {
  const auto table = state_.tables.find(id);
  return table == state_.tables.end() ? TableIdText(id) : "'" + Escape(table->second.name) + "'";
}

Json KeyNames::Of(Slice key) const {
  Json json;
  const size_t partition_bytes = state_.partition_bytes;
  if (partition_bytes > 0 && key.size() >= partition_bytes) {
    json["partition"] = DecodeBigEndian(key.data(), partition_bytes);
    if (key.size() >= partition_bytes + kTableIdBytes) {
      json["table"] = TableName(DecodeBigEndian(key.data() + partition_bytes, kTableIdBytes));
      json["rest_bytes"] = key.size() - partition_bytes - kTableIdBytes;
    }
  }
  json["bytes"] = key.size();
  json["hash"] = HexNumber(Hash64(key), 16);
  if (show_.keys) json["key"] = Escape(key);
  return json;
}

Json KeyNames::Bounds(Slice lower, Slice upper) const {
  Json json;
  json["lower"] = Of(lower);
  json["upper"] = upper.empty() ? Json() : Of(upper);
  return json;
}

Json KeyNames::Value(Slice value) const {
  Json json;
  json["bytes"] = value.size();
  json["hash"] = HexNumber(Hash64(value), 16);
  if (show_.values) json["value"] = Escape(value);
  return json;
}

std::string KeyText(const Json& key) {
  if (key.is_null()) return "end";
  std::string text;
  if (key.contains("partition")) text += "p" + std::to_string(key["partition"].get<uint64_t>());
  if (key.contains("table")) text += " " + key["table"].get<std::string>();
  if (key.contains("key")) return text + " \"" + key["key"].get<std::string>() + "\"";
  if (key.contains("rest_bytes") && key["rest_bytes"] != 0)
    text += " +" + std::to_string(key["rest_bytes"].get<uint64_t>()) + "B #" +
            key["hash"].get<std::string>().substr(2, 8);
  return text.empty() ? std::to_string(key["bytes"].get<uint64_t>()) + "B" : text;
}

std::string BoundsText(const Json& bounds) {
  return "[" + KeyText(bounds["lower"]) + " .. " + KeyText(bounds["upper"]) + ")";
}

}  // namespace lava::inspect
