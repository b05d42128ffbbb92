// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/instance.h"

#include <algorithm>
#include <set>

#include "inspect/file_kind.h"

namespace lava::inspect {
namespace {

constexpr int kManifestAttemptsMax = 8;
constexpr uint64_t kCurrentBytesMax = 4096;

Instance FromManifest(const Manifest& manifest, const std::string& directory) {
  Instance instance;
  instance.described = "manifest";
  instance.state = manifest.state();
  instance.manifest_number = manifest.number();
  instance.log = manifest.log_info();
  instance.directory = directory;
  return instance;
}

void FindUnnamed(ReadOnlyFiles* files, Instance* instance) {
  const Result<std::vector<std::string>> names = files->List(instance->directory);
  if (!names.ok()) return;
  std::set<std::string> named;
  for (const NamedFile& file : FilesOf(*instance)) named.insert(file.name);
  for (const std::string& name : names.value())
    if ((name.ends_with(".ksst") || name.ends_with(".vsst")) && !named.contains(name))
      instance->unnamed.push_back(name);
  std::sort(instance->unnamed.begin(), instance->unnamed.end());
}

}  // namespace

JobContext Instance::Context(ReadOnlyFiles* files, BlockCache* cache) const {
  JobContext context;
  context.file_system = files;
  context.directory = directory;
  context.cache = cache;
  return context;
}

Result<Instance> ReadDbDirectory(ReadOnlyFiles* files, const std::string& directory) {
  const std::string current = directory + "/CURRENT";
  for (int attempt = 1;; ++attempt) {
    LAVA_ASSIGN_OR_RETURN(const std::string before, files->ReadWhole(current, kCurrentBytesMax));
    const Result<std::unique_ptr<Manifest>> manifest =
        Manifest::Recover({.file_system = files, .directory = directory});
    if (manifest.ok()) {
      Instance instance = FromManifest(*manifest.value(), directory);
      instance.source = directory;
      instance.in_db_directory = true;
      FindUnnamed(files, &instance);
      return instance;
    }
    // A new log has just replaced the one that CURRENT named.
    const Result<std::string> after = files->ReadWhole(current, kCurrentBytesMax);
    const bool replaced = after.ok() && after.value() != before;
    if (!replaced || attempt == kManifestAttemptsMax) return manifest.status();
  }
}

Result<Instance> ReadManifestFile(ReadOnlyFiles* files, const std::string& path) {
  const std::optional<uint64_t> number = ManifestNumber(BaseOf(path));
  if (!number)
    return Status::InvalidArgument(
        path + ": a manifest by itself must be called MANIFEST-<number>: its checksums hold it");
  const std::string directory = DirectoryOf(path);
  LAVA_ASSIGN_OR_RETURN(const std::unique_ptr<Manifest> manifest,
                        Manifest::ReadLog({.file_system = files, .directory = directory}, *number));
  Instance instance = FromManifest(*manifest, directory);
  instance.source = path;
  return instance;
}

Result<Instance> ReadMetadataBlob(Slice metadata, const std::string& source) {
  FileTable table;
  Instance instance;
  LAVA_RETURN_IF_ERROR(DecodeMetadata(metadata, &table, &instance.state).WithContext(source));
  instance.source = source;
  instance.described = "checkpoint";
  // A name that no file system has, because its files are aliases.
  instance.directory = source + "//files";
  return instance;
}

std::vector<NamedFile> FilesOf(const Instance& instance) {
  std::vector<NamedFile> files;
  std::set<FileId> seen;
  const Version& version = *instance.state.version;
  for (const auto& level : version.levels)
    for (const KeyFileEntry& entry : level)
      if (seen.insert(entry.file->id).second)
        files.push_back({entry.file->id.FileName(), entry.file, nullptr});
  for (const auto& [id, entry] : version.value_files)
    files.push_back({id.ValueFileName(), nullptr, entry.file});
  return files;
}

bool StillNames(ReadOnlyFiles* files, const Instance& instance, const std::string& name) {
  if (!instance.in_db_directory) {
    if (instance.description_path.empty()) return true;
    const Result<bool> exists = files->Exists(instance.description_path);
    return !exists.ok() || exists.value();
  }
  const Result<Instance> now = ReadDbDirectory(files, instance.directory);
  if (!now.ok()) return true;
  const std::vector<NamedFile> named = FilesOf(now.value());
  return std::any_of(named.begin(), named.end(),
                     [&](const NamedFile& file) { return file.name == name; });
}

}  // namespace lava::inspect
