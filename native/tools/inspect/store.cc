// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/store.h"

#include <algorithm>

#include "inspect/checkpoint.h"
#include "inspect/checkpoint_loader.h"

namespace lava::inspect {

std::string Inside(const std::string& path, uint64_t offset) {
  return path + "[" + std::to_string(offset) + "]";
}

Store::Store(fs::FileSystem* base) : files(base), cache(BlockCache::Create(64 << 20)) {}

Status Store::Load(const std::string& given) {
  std::string path = given;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const Result<std::vector<std::string>> names = files.List(path);
  if (!names.ok()) return LoadFile(path);
  if (std::find(names.value().begin(), names.value().end(), "CURRENT") != names.value().end()) {
    LoadDb(path);
  } else {
    return LoadDirectory(path, names.value());
  }
  return Status::OK();
}

void Store::LoadDb(const std::string& directory) {
  Result<Instance> instance = ReadDbDirectory(&files, directory);
  if (instance.ok()) {
    instances.push_back(std::move(instance).value());
  } else {
    faults.push_back(FaultOf(directory + "/CURRENT", instance.status()));
  }
}

Status Store::LoadDirectory(const std::string& directory, const std::vector<std::string>& names) {
  CheckpointLoader loader(this, directory);
  loader.AddDirectory(directory, names);
  if (loader.HasDescriptions()) {
    loader.Load();
    return Status::OK();
  }
  const std::vector<LooseFile> found = loader.Ssts();
  for (const LooseFile& file : found) AddLoose(file);
  if (found.empty()) return Status::NotFound(directory + ": no file of Lava's is here");
  for (const std::string& path : loader.others()) AddForeign(path);
  return Status::OK();
}

void Store::AddForeign(const std::string& path) {
  unverified.push_back({path, ForeignKind(&files, path)});
}

Status Store::LoadFile(const std::string& path) {
  const Result<Recognized> found = Recognize(&files, path);
  if (!found.ok()) return found.status();
  const FileKind kind = found.value().kind;
  switch (kind) {
    case FileKind::kCurrent:
      LoadDb(DirectoryOf(path));
      return Status::OK();
    case FileKind::kManifest: {
      Result<Instance> instance = ReadManifestFile(&files, path);
      if (instance.ok()) {
        instances.push_back(std::move(instance).value());
      } else {
        faults.push_back(FaultOf(path, instance.status()));
      }
      return Status::OK();
    }
    case FileKind::kMetadata:
    case FileKind::kLavaCheckpoint:
    case FileKind::kFlinkMetadata: {
      const std::string directory = DirectoryOf(path);
      CheckpointLoader loader(this, directory);
      const Result<std::vector<std::string>> names = files.List(directory);
      if (names.ok()) loader.AddDirectory(directory, names.value());
      loader.LoadFrom(path, kind);
      return Status::OK();
    }
    case FileKind::kOther:
      AddForeign(path);
      return Status::OK();
    case FileKind::kKeySst:
    case FileKind::kValueSst:
      break;
  }
  AddLoose({path, kind});
  return Status::OK();
}

// A pack ends with its last file, whose footer does not fit the pack's length.
void Store::AddLoose(const LooseFile& file) {
  const Result<Recognized> found = Recognize(&files, file.path);
  std::vector<Embedded> inside;
  std::string bytes;
  if (found.ok() && !found.value().unique_id) {
    Result<std::string> read = files.ReadWhole(file.path, kMergedBytesMax);
    if (read.ok()) bytes = std::move(read).value();
    inside = FindEmbedded(bytes);
    std::erase_if(inside, [](const Embedded& of) { return of.kind == FileKind::kLavaCheckpoint; });
  }
  if (inside.empty()) {  // intact, or damaged but recognized
    loose.push_back(file);
    return;
  }
  std::sort(inside.begin(), inside.end(),
            [](const Embedded& a, const Embedded& b) { return a.offset < b.offset; });
  uint64_t end = 0;
  const auto expect_at = [&](uint64_t begin) {
    if (begin != end)
      faults.push_back({file.path, end, "Corruption",
                        file.path + ": no whole file stands from offset " + std::to_string(end) +
                            " to " + std::to_string(begin) + " of this pack"});
  };
  for (const Embedded& sst : inside) {
    expect_at(sst.offset);
    end = sst.offset + sst.bytes;
    const std::string path = Inside(file.path, sst.offset);
    files.AddInline(path, bytes.substr(sst.offset, sst.bytes));
    loose.push_back({path, sst.kind});
  }
  expect_at(bytes.size());
}

}  // namespace lava::inspect
