#include "inspect/store.h"

#include <algorithm>

#include "inspect/checkpoint.h"
#include "inspect/checkpoint_loader.h"

namespace lava::inspect {

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
  const std::vector<LooseFile> sound = loader.Ssts();
  loose.insert(loose.end(), sound.begin(), sound.end());
  return sound.empty() ? Status::NotFound(directory + ": no file of Lava's is here") : Status::OK();
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
      faults.push_back({path, std::nullopt, "NotSupported", "not a file of Lava's, or damaged"});
      return Status::OK();
    case FileKind::kKeySst:
    case FileKind::kValueSst:
      break;
  }
  loose.push_back({path, kind});
  return Status::OK();
}

}  // namespace lava::inspect
