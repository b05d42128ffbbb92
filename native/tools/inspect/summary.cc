// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <set>

#include "db/value_order.h"
#include "inspect/commands.h"
#include "inspect/key_names.h"
#include "inspect/text.h"
#include "manifest/blob_files.h"
#include "manifest/garbage.h"

namespace lava::inspect {
namespace {

Json TablesOf(const Instance& instance) {
  struct Sum {
    uint64_t records = 0, raw_bytes = 0, files = 0;
  };
  std::map<uint64_t, Sum> sums;
  for (const NamedFile& file : FilesOf(instance)) {
    if (file.key_file == nullptr) continue;
    for (const auto& [id, counts] : file.key_file->tables) {
      Sum& sum = sums[id];
      sum.records += counts.first;
      sum.raw_bytes += counts.second;
      ++sum.files;
    }
  }
  Json tables = Json::array();
  const auto add = [&](uint64_t id, Json table) {
    const Sum& sum = sums[id];
    table["records"] = sum.records;
    table["raw_bytes"] = sum.raw_bytes;
    table["key_files"] = sum.files;
    tables.push_back(std::move(table));
  };
  for (const auto& [id, table] : instance.state.tables) {
    Json json{{"id", TableIdText(id)}, {"name", Escape(table.name)}};
    json["kind"] = NameOf(table.options.kind);
    json["ttl"] = NameOf(table.options.ttl_layout);
    json["ttl_ms"] = table.options.ttl_ms;
    json["separation_bytes"] = Json();  // not stored: each open sets it
    add(id, std::move(json));
  }
  for (const auto& [id, sum] : std::map(sums))
    if (!instance.state.tables.contains(id))
      add(id, {{"id", TableIdText(id)}, {"name", Json()}, {"kind", "dropped"}});
  return tables;
}

Json LevelsOf(const Instance& instance) {
  Json levels = Json::array();
  const Version& version = *instance.state.version;
  for (uint32_t n = 0; n < kLevelCountMax; ++n) {
    if (version.levels[n].empty()) continue;
    std::set<FileId> seen;
    uint64_t bytes = 0, records = 0, deletes = 0, prefix_deletes = 0, tombstones = 0, clipped = 0;
    for (const KeyFileEntry& entry : version.levels[n]) {
      clipped += entry.clipped() ? 1 : 0;
      const FileMeta& file = *entry.file;
      if (!seen.insert(file.id).second) continue;
      bytes += file.bytes;
      records += file.records;
      deletes += file.deletes;
      prefix_deletes += file.prefix_deletes;
      tombstones += file.range_tombstones;
    }
    levels.push_back({{"level", n},
                      {"files", seen.size()},
                      {"entries", version.levels[n].size()},
                      {"clipped_entries", clipped},
                      {"bytes", bytes},
                      {"records", records},
                      {"deletes", deletes},
                      {"prefix_deletes", prefix_deletes},
                      {"range_tombstones", tombstones}});
  }
  return levels;
}

Json ValueFilesOf(const Instance& instance) {
  Json list = Json::array();
  for (const ValueFileGarbage& garbage : GarbageOf(*instance.state.version)) {
    const ValueFileMeta& file = *garbage.file;
    list.push_back(
        {{"file", file.id.ValueFileName()},
         {"level", file.level},
         {"group", file.group},
         {"bytes", file.bytes},
         {"records", file.records},
         {"raw_bytes", file.raw_bytes},
         {"stored_bytes", file.stored_bytes},
         {"live_estimate", file.raw_bytes - std::min(file.raw_bytes, garbage.garbage_estimate)},
         {"garbage_min", garbage.garbage_min},
         {"garbage_max", garbage.garbage_max},
         {"garbage_estimate", garbage.garbage_estimate},
         {"blob_files", file.blob_files.size()}});
  }
  return list;
}

// How well values are sorted, by the level to which they were written.
Json ValueOrderOf(const Instance& instance) {
  Json list = Json::array();
  const ValueOrder order = OrderOf(*instance.state.version);
  for (uint32_t n = 0; n < kLevelCountMax; ++n)
    if (order.levels[n].groups > 0)
      list.push_back(
          {{"level", n}, {"groups", order.levels[n].groups}, {"overlap", order.levels[n].overlap}});
  return list;
}

Json BlobFilesOf(const Instance& instance, const KeyNames& names) {
  Json blob_files = Json::array();
  for (const auto& [id, blob_file] : instance.state.version->blob_files) {
    Json locations = Json::array();
    bool inherited = false;
    for (const BlobLocation& location : blob_file->locations) {
      inherited |= !IsFirstWrittenIn(id, location.file->id);
      locations.push_back({{"file", location.file->id.ValueFileName()},
                           {"bounds", names.Bounds(location.lower, location.upper)}});
    }
    blob_files.push_back({{"blob_file", id.ValueFileName()},
                          {"named_by", blob_file->named_by},
                          {"records", blob_file->records},
                          {"raw_bytes", blob_file->raw_bytes},
                          {"clipped_records", blob_file->clipped_records},
                          {"clipped_raw_bytes", blob_file->clipped_raw_bytes},
                          {"inherited", inherited},
                          {"locations", std::move(locations)}});
  }
  return blob_files;
}

Json TotalsOf(const Instance& instance, Store* store, Json* missing) {
  uint64_t key_files = 0, key_bytes = 0, value_files = 0, value_bytes = 0;
  for (const NamedFile& file : FilesOf(instance)) {
    ++(file.key_file != nullptr ? key_files : value_files);
    (file.key_file != nullptr ? key_bytes : value_bytes) += file.stored().bytes;
    const Result<uint64_t> size = store->files.FileSize(instance.PathOf(file.name));
    if (size.ok() || !size.status().IsNotFound()) continue;
    if (StillNames(&store->files, instance, file.name)) missing->push_back(file.name);
  }
  return {{"key_files", key_files},           {"key_file_bytes", key_bytes},
          {"value_files", value_files},       {"value_file_bytes", value_bytes},
          {"files", key_files + value_files}, {"bytes", key_bytes + value_bytes}};
}

}  // namespace

Json HeadOf(const Instance& instance) {
  Json json{{"source", instance.source}, {"described_by", instance.described}};
  if (instance.manifest_number) {
    json["manifest"] = {{"number", *instance.manifest_number},
                        {"bytes", instance.log.bytes},
                        {"edits", instance.log.edits},
                        {"torn_tail_bytes", instance.log.bytes - instance.log.sound_bytes}};
    json["next_file_number"] = instance.state.next_file_number;
    json["opens"] = instance.state.origins.size();
    if (instance.state.wal_flushed) json["wal_flushed"] = *instance.state.wal_flushed;
    if (!instance.state.origins.empty()) json["origin"] = instance.state.origins.back().ToString();
  }
  if (instance.heap_timer_bytes) json["heap_timer_bytes"] = *instance.heap_timer_bytes;
  if (instance.origin) {
    const CheckpointOrigin& origin = *instance.origin;
    json["checkpoint"] = {{"number", origin.checkpoint},
                          {"job", origin.job},
                          {"first_key_group", origin.first_key_group},
                          {"last_key_group", origin.last_key_group},
                          {"unique_name", origin.unique},
                          {"ttl_time_ms", origin.ttl_time.time_ms},
                          {"ttl_lead_ms", origin.ttl_time.lead_ms},
                          {"ttl_lead_stood_ms", origin.ttl_time.stood_ms}};
  }
  json["partition_bytes"] = instance.state.partition_bytes;
  return json;
}

Json FaultsOf(const Store& store) { return ToJson(store.faults); }

Json NotesOf(const Store& store) {
  Json notes = store.notes;
  for (const Unverified& one : store.unverified) notes.push_back(one.path + ": " + one.what);
  return notes;
}

Json Summary(Store* store, Show show) {
  Json json{{"command", "summary"}, {"instances", Json::array()}, {"faults", FaultsOf(*store)}};
  for (const Instance& instance : store->instances) {
    const KeyNames names(instance.state, show);
    Json one = HeadOf(instance);
    Json missing = Json::array();
    one["tables"] = TablesOf(instance);
    one["levels"] = LevelsOf(instance);
    one["value_files"] = ValueFilesOf(instance);
    one["value_order"] = ValueOrderOf(instance);
    one["blob_files"] = BlobFilesOf(instance, names);
    one["totals"] = TotalsOf(instance, store, &missing);
    one["missing"] = missing;
    one["unnamed"] = instance.unnamed;
    for (const Json& name : missing)
      json["faults"].push_back(ToJson(Fault{instance.PathOf(name.get<std::string>()), std::nullopt,
                                            "Missing", "the file that is described is not here"}));
    json["instances"].push_back(std::move(one));
  }
  json["loose"] = Json::array();
  for (const LooseFile& file : store->loose)
    json["loose"].push_back({{"path", file.path}, {"kind", NameOf(file.kind)}});
  json["notes"] = NotesOf(*store);
  return json;
}

}  // namespace lava::inspect
