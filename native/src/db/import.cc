// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "base/file_id.h"
#include "db/db_impl.h"
#include "db/environment.h"
#include "lava/db.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "manifest/version_edit.h"

namespace lava {
namespace {

// The range of internal keys that is imported from one source: [lower, upper). An empty upper means
// no end.
struct Clip {
  std::string lower, upper;
};

std::string PartitionName(const ImportSource& source) {
  return std::to_string(source.partition_first) + " to " + std::to_string(source.partition_last);
}

// Clips the bounds. False if no key is left.
template <typename Bounded>
bool ClipBounds(const Clip& clip, Bounded* bounded) {
  if (bounded->lower < clip.lower) bounded->lower = clip.lower;
  if (!clip.upper.empty() && bounded->upper > clip.upper) bounded->upper = clip.upper;
  return bounded->lower < bounded->upper;
}

// Several sources may have the same value file, each for different keys.
void ClipLocations(const Clip& clip, std::vector<VersionEdit::AddedValueFile> source,
                   std::map<FileId, VersionEdit::AddedValueFile>* value_files) {
  for (VersionEdit::AddedValueFile& added : source) {
    for (VersionEdit::AddedValueFile::Location& location : added.locations) {
      if (!ClipBounds(clip, &location)) continue;
      VersionEdit::AddedValueFile& target = (*value_files)[added.file->id];
      target.file = added.file;
      target.locations.push_back(std::move(location));
    }
  }
}

Status UniteTables(const ManifestState& source, const DBEnvironment& environment,
                   std::map<uint64_t, TableRegistration>* tables) {
  for (const auto& [id, table] : source.tables) {
    if (environment.table_id_of_name(table.name) != id)
      return Status::Corruption("import: table '" + table.name + "' has id " + std::to_string(id) +
                                ", which is not its name's");
    auto [it, is_new] = tables->try_emplace(id, table);
    if (is_new) continue;
    if (it->second.name != table.name)
      return Status::InvalidArgument("import: tables '" + it->second.name + "' and '" + table.name +
                                     "' have the same id " + std::to_string(id));
    if (it->second.options.kind != table.options.kind)
      return Status::InvalidArgument("import: table '" + table.name +
                                     "' has different kinds in two sources");
  }
  return Status::OK();
}

Status CheckMissing(const ImportSource& source, const Version& version) {
  if (source.missing.empty()) return Status::OK();
  std::set<std::string> known;
  for (Snapshot::File& file : FilesOf(version)) known.insert(std::move(file.name));
  for (const std::string& name : source.missing)
    if (!known.contains(name))
      return Status::InvalidArgument("import: " + name +
                                     " is said to be missing, and is no file of the source");
  return Status::OK();
}

Status CheckRanges(std::span<const ImportSource> imports) {
  for (const ImportSource& a : imports) {
    if (a.partition_first > a.partition_last)
      return Status::InvalidArgument("import: " + PartitionName(a) + " is not a partition range");
    for (const ImportSource& b : imports) {
      if (&a != &b && a.partition_first <= b.partition_last &&
          b.partition_first <= a.partition_last)
        return Status::InvalidArgument("import: partitions " + PartitionName(a) + " and " +
                                       PartitionName(b) + " overlap");
    }
  }
  return Status::OK();
}

}  // namespace

Status DBImpl::BuildImport(std::span<const ImportSource> imports, VersionEdit* first) {
  LAVA_RETURN_IF_ERROR(CheckRanges(imports));
  FileTable files;
  std::map<uint64_t, TableRegistration> tables;
  std::map<FileId, VersionEdit::AddedValueFile> value_files;
  for (size_t i = 0; i < imports.size(); ++i) {
    const ImportSource& source = imports[i];
    ManifestState state;
    LAVA_RETURN_IF_ERROR(DecodeMetadata(source.metadata, &files, &state)
                             .WithContext("import source " + std::to_string(i)));
    if (state.partition_bytes != components_.instance.options.partition_bytes)
      return Status::InvalidArgument("import source " + std::to_string(i) +
                                     " has partition_bytes " +
                                     std::to_string(state.partition_bytes) + ", the options say " +
                                     std::to_string(components_.instance.options.partition_bytes));
    LAVA_RETURN_IF_ERROR(CheckMissing(source, *state.version));
    LAVA_RETURN_IF_ERROR(UniteTables(state, components_.instance.environment, &tables));
    const uint32_t lowest =
        std::max(source.partition_first, components_.instance.options.partition_first);
    const uint32_t highest =
        std::min(source.partition_last, components_.instance.options.partition_last);
    if (lowest > highest) continue;
    Clip clip;
    PutBigEndian(&clip.lower, lowest, components_.instance.options.partition_bytes);
    if (highest + 1 < 1u << (8 * components_.instance.options.partition_bytes))
      PutBigEndian(&clip.upper, highest + 1, components_.instance.options.partition_bytes);
    for (uint32_t level = 0; level < kLevelCountMax; ++level) {
      for (KeyFileEntry entry : state.version->levels[level]) {
        if (ClipBounds(clip, &entry)) first->Add(level, std::move(entry));
      }
    }
    ClipLocations(clip, LocationsByValueFile(*state.version), &value_files);
    for (const auto& [id, blob_file] : state.version->blob_files)
      for (const auto& [table, timestamp_ms] : blob_file->expired_to_ms)
        first->blob_files_expired.push_back({id, table, timestamp_ms});
  }
  for (auto& [id, added] : value_files) first->values_added.push_back(std::move(added));
  for (auto& [id, table] : tables) first->registered.push_back(std::move(table));
  return Status::OK();
}

Result<MetadataInfo> ReadMetadata(Slice metadata) {
  FileTable files;
  ManifestState state;
  LAVA_RETURN_IF_ERROR(DecodeMetadata(metadata, &files, &state));
  MetadataInfo info;
  info.format_version = kManifestFormatVersion;
  info.partition_bytes = state.partition_bytes;
  for (const auto& [id, table] : state.tables)
    info.tables.push_back({table.name, id, table.options});
  info.files = FilesOf(*state.version);
  return info;
}

std::vector<Snapshot::File> FilesOf(const Version& version) {
  std::map<std::string, Snapshot::File> by_name;
  const auto add = [&](const std::string& name, const StoredFile& file) {
    by_name[name] = {name, file.bytes, file.crc32c, false};
  };
  for (const auto& level : version.levels)
    for (const KeyFileEntry& entry : level) add(entry.file->id.FileName(), *entry.file);
  for (const auto& [id, entry] : version.value_files) add(id.ValueFileName(), *entry.file);
  std::vector<Snapshot::File> files;
  files.reserve(by_name.size());
  for (auto& [name, file] : by_name) files.push_back(std::move(file));
  return files;
}

}  // namespace lava
