// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/hash.h"
#include "inspect/commands.h"
#include "inspect/file_facts.h"
#include "inspect/text.h"
#include "manifest/garbage.h"

namespace lava::inspect {
namespace {

Json StoredJson(const StoredFile& file, const char* kind, const std::string& name) {
  return {{"file", name},
          {"kind", kind},
          {"origin", file.id.origin.ToString()},
          {"number", file.id.number},
          {"bytes", file.bytes},
          {"crc32c", HexNumber(file.crc32c, 8)}};
}

/// Adds the file's properties, or a fault.
void AddFacts(Store* store, const Instance& instance, const KeyNames& names, bool keys,
              const std::string& name, Json* file, Json* faults) {
  const std::string path = instance.PathOf(name);
  (*file)["path"] = store->files.TargetOf(path);
  const Result<Json> facts =
      keys ? KeySstFacts(&store->files, path, names) : ValueSstFacts(&store->files, path, names);
  if (facts.ok()) {
    for (const auto& [field, value] : facts.value().items())
      if (!file->contains(field)) (*file)[field] = value;
    return;
  }
  if (facts.status().IsNotFound() && !StillNames(&store->files, instance, name)) {
    (*file)["state"] = "gone";  // removed by the running process since
    return;
  }
  Fault fault = FaultOf(store->files.TargetOf(path), facts.status());
  if (facts.status().IsNotFound()) fault.code = "Missing";
  (*file)["state"] = facts.status().IsNotFound() ? "missing" : "damaged";
  faults->push_back(ToJson(fault));
}

Json KeyFileJson(const KeyFileEntry& entry, uint32_t level, size_t position,
                 const KeyNames& names) {
  const FileMeta& meta = *entry.file;
  Json file = StoredJson(meta, "key", meta.id.FileName());
  file["level"] = level;
  file["position"] = position;  // position in L0; 0 is the newest
  file["records"] = meta.records;
  file["raw_bytes"] = meta.raw_bytes;
  file["bounds"] = names.Bounds(meta.lower, meta.upper);
  file["shown"] = entry.clipped() ? names.Bounds(entry.lower, entry.upper) : Json();
  return file;
}

Json ValueFileJson(const ValueFileGarbage& garbage, const Version& version, const KeyNames& names) {
  const ValueFileMeta& meta = *garbage.file;
  Json file = StoredJson(meta, "value", meta.id.ValueFileName());
  file["records"] = meta.records;
  file["raw_bytes"] = meta.raw_bytes;
  file["garbage_min"] = garbage.garbage_min;
  file["garbage_max"] = garbage.garbage_max;
  file["garbage_estimate"] = garbage.garbage_estimate;
  file["bounds"] = names.Bounds(meta.lower, meta.upper);
  file["tables"] = Json::array();
  for (const auto& [id, share] : meta.tables) {
    Json table{
        {"table", names.TableName(id)}, {"records", share.records}, {"raw_bytes", share.raw_bytes}};
    if (share.newest_ms != TableShare::kNeverExpires) table["newest_ms"] = share.newest_ms;
    file["tables"].push_back(std::move(table));
  }
  file["blob_files"] = ToJson(meta.blob_files);
  for (Json& blob_file : file["blob_files"]) {
    // The shown keys of its content in this version; empty if no reference names it any more.
    blob_file["shown"] = Json::array();
    for (const auto& [id, known] : version.blob_files) {
      if (id.ValueFileName() != blob_file["blob_file"]) continue;
      for (const BlobLocation& location : known->locations)
        if (location.file == garbage.file)
          blob_file["shown"].push_back(names.Bounds(location.lower, location.upper));
    }
  }
  return file;
}

Json InstanceFiles(Store* store, const Instance& instance, Show show, Json* faults) {
  const KeyNames names(instance.state, show);
  const Version& version = *instance.state.version;
  Json one = HeadOf(instance);
  one["key_files"] = Json::array();
  for (uint32_t level = 0; level < kLevelCountMax; ++level) {
    for (size_t i = 0; i < version.levels[level].size(); ++i) {
      const KeyFileEntry& entry = version.levels[level][i];
      Json file = KeyFileJson(entry, level, i, names);
      AddFacts(store, instance, names, true, entry.file->id.FileName(), &file, faults);
      one["key_files"].push_back(std::move(file));
    }
  }
  one["value_files"] = Json::array();
  for (const ValueFileGarbage& garbage : GarbageOf(version)) {
    Json file = ValueFileJson(garbage, version, names);
    AddFacts(store, instance, names, false, garbage.file->id.ValueFileName(), &file, faults);
    one["value_files"].push_back(std::move(file));
  }
  one["unnamed"] = instance.unnamed;
  return one;
}

Json LooseFileJson(Store* store, const LooseFile& loose, Show show, Json* faults) {
  const bool keys = loose.kind == FileKind::kKeySst;
  Json file{{"path", loose.path}, {"kind", keys ? "key" : "value"}};
  const Result<uint32_t> partition_bytes =
      keys ? PartitionBytesOf(&store->files, loose.path) : Result<uint32_t>(0u);
  const KeyNames names(partition_bytes.ok() ? partition_bytes.value() : 0, show);
  const Result<Json> facts = keys ? KeySstFacts(&store->files, loose.path, names)
                                  : ValueSstFacts(&store->files, loose.path, names);
  if (!facts.ok()) {
    file["state"] = "damaged";
    faults->push_back(ToJson(FaultOf(loose.path, facts.status())));
    return file;
  }
  file.update(facts.value());
  file["own_name"] = facts.value()["unique_id"] == HexNumber(Hash64(BaseOf(loose.path)), 16);
  return file;
}

}  // namespace

Json Files(Store* store, Show show) {
  Json json{{"command", "files"}, {"instances", Json::array()}, {"loose", Json::array()}};
  Json faults = FaultsOf(*store);
  for (const Instance& instance : store->instances)
    json["instances"].push_back(InstanceFiles(store, instance, show, &faults));
  for (const LooseFile& loose : store->loose)
    json["loose"].push_back(LooseFileJson(store, loose, show, &faults));
  json["faults"] = std::move(faults);
  json["notes"] = NotesOf(*store);
  return json;
}

}  // namespace lava::inspect
