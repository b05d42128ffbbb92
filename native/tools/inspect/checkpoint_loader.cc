// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/checkpoint_loader.h"

#include <algorithm>

#include "base/hash.h"

namespace lava::inspect {
namespace {

constexpr uint64_t kMetadataBytesMax = 2ull << 30;

// The kind of a keyed state that is not Lava's; empty for Lava's.
std::string ForeignState(const KeyedState& state) {
  switch (state.form) {
    case KeyedForm::kCanonical:
      return "keyed state in the canonical format of savepoints, which has no checksums; every "
             "state backend restores it";
    case KeyedForm::kFull:
      return "keyed state of a full checkpoint of another state backend, which has no checksums";
    case KeyedForm::kChanges:
      return "changes of Flink's changelog, which lava-inspect does not read";
    case KeyedForm::kIncremental:
      break;
  }
  bool lava = state.Find(kLavaCheckpointName) != nullptr, rocksdb = false;
  for (const HandleFile& file : state.files) {
    lava = lava || file.name.ends_with(".ksst") || file.name.ends_with(".vsst");
    rocksdb = rocksdb || file.name.ends_with(".sst") || file.name.starts_with("OPTIONS-");
  }
  if (lava) return {};
  return rocksdb ? "keyed state of RocksDB" : "keyed state of another state backend";
}
}  // namespace

CheckpointLoader::CheckpointLoader(Store* store, std::string directory)
    : store_(store), directory_(std::move(directory)) {}

void CheckpointLoader::AddDirectory(const std::string& directory,
                                    const std::vector<std::string>& names) {
  for (const std::string& name : names) AddFile(directory + "/" + name, true);
}

void CheckpointLoader::AddFile(const std::string& path, bool own) {
  const Result<Recognized> found = Recognize(&store_->files, path);
  if (!found.ok()) return;  // gone or unreadable: reported for the file that names it
  const FileKind kind = found.value().kind;
  by_base_.emplace(BaseOf(path), path);
  if (found.value().unique_id) by_unique_id_.emplace(*found.value().unique_id, path);
  if (!own) return;
  switch (kind) {
    case FileKind::kKeySst:
    case FileKind::kValueSst:
      ssts_.push_back({path, kind});
      break;
    case FileKind::kMetadata:
    case FileKind::kLavaCheckpoint:
    case FileKind::kFlinkMetadata:
      descriptions_.push_back({path, kind});
      break;
    case FileKind::kOther:
      others_.push_back(path);
      break;
    default:
      break;
  }
}

void CheckpointLoader::AddShared() {
  const std::string base = BaseOf(directory_);
  const std::string above =
      base == "." || base == ".." ? directory_ + "/.." : DirectoryOf(directory_);
  for (const std::string& parent : {directory_, above}) {
    for (const char* folder : {"/shared", "/taskowned"}) {
      const std::string directory = parent + folder;
      const Result<std::vector<std::string>> names = store_->files.List(directory);
      if (!names.ok()) continue;
      for (const std::string& name : names.value()) AddFile(directory + "/" + name, false);
    }
  }
}

void CheckpointLoader::Load() {
  // Flink's file first, because it contains the locations of the others' files.
  std::stable_partition(descriptions_.begin(), descriptions_.end(), [](const LooseFile& file) {
    return file.kind == FileKind::kFlinkMetadata;
  });
  AddShared();
  const size_t before = store_->instances.size() + store_->faults.size();
  for (const LooseFile& file : descriptions_) {
    if (file.kind == FileKind::kFlinkMetadata) {
      ReadFlinkMetadata(file.path);
      continue;
    }
    if (described_.contains(file.path)) continue;
    const auto bytes = store_->files.ReadWhole(file.path, kMetadataBytesMax);
    LavaCheckpoint checkpoint;
    if (bytes.ok()) {
      Describe(file.path, file.path, file.kind, bytes.value(), &checkpoint);
    } else {
      store_->faults.push_back(FaultOf(file.path, bytes.status()));
    }
  }
  if (store_->instances.size() + store_->faults.size() == before && store_->unverified.empty())
    store_->unverified.push_back({directory_, "a checkpoint without keyed state"});
}

void CheckpointLoader::LoadFrom(const std::string& path, FileKind kind) {
  std::erase_if(descriptions_, [&](const LooseFile& file) {
    return file.path != path && file.kind != FileKind::kFlinkMetadata;
  });
  if (kind != FileKind::kFlinkMetadata && descriptions_.size() > 1) {
    // It only contains the locations of the files.
    const auto flink =
        std::find_if(descriptions_.begin(), descriptions_.end(),
                     [](const LooseFile& file) { return file.kind == FileKind::kFlinkMetadata; });
    auto bytes = store_->files.ReadWhole(flink->path, kMetadataBytesMax);
    if (bytes.ok()) flink_metadata_ = std::move(bytes).value();
    descriptions_.erase(flink);
  }
  Load();
}

void CheckpointLoader::ReadFlinkMetadata(const std::string& path) {
  Result<std::string> bytes = store_->files.ReadWhole(path, kMetadataBytesMax);
  if (!bytes.ok()) {
    store_->faults.push_back(FaultOf(path, bytes.status()));
    return;
  }
  flink_metadata_ = std::move(bytes).value();
  AddEmbedded(path, flink_metadata_);
  FlinkMetadata metadata;
  const Status status = ParseFlinkMetadata(flink_metadata_, path, &metadata);
  if (status.ok()) {
    ReadKeyedState(path, metadata);
    return;
  }
  if (status.IsCorruption()) {
    store_->faults.push_back(FaultOf(path, status));
  } else {
    store_->unverified.push_back({path, std::string(status.message())});
  }
  // Data with its own magic numbers is checked nevertheless.
  for (const Embedded& found : FindEmbedded(flink_metadata_)) {
    LavaCheckpoint checkpoint;
    if (found.kind == FileKind::kLavaCheckpoint)
      Describe(Inside(path, found.offset), path, found.kind,
               Slice(flink_metadata_).substr(found.offset, found.bytes), &checkpoint);
  }
}

void CheckpointLoader::ReadKeyedState(const std::string& metadata_path,
                                      const FlinkMetadata& metadata) {
  std::map<std::string, std::set<std::string>> foreign;  // kind -> operators
  for (const KeyedState& state : metadata.keyed) {
    const std::string what = ForeignState(state);
    if (what.empty()) {
      ReadLavaState(metadata_path, state);
    } else {
      foreign[what].insert(state.operator_name);
    }
  }
  for (const auto& [what, operators] : foreign) {
    std::string names;
    for (const std::string& name : operators) names += (names.empty() ? "" : ", ") + name;
    store_->unverified.push_back({metadata_path, what + ", of: " + names});
  }
  if (metadata.other_states != 0)
    store_->notes.push_back(metadata_path + ": " + std::to_string(metadata.other_states) +
                            " states of operators, channels and coordinators are Flink's own, have "
                            "no checksums, and were not looked at");
}

void CheckpointLoader::ReadLavaState(const std::string& metadata_path, const KeyedState& state) {
  const HandleFile* description = state.Find(kLavaCheckpointName);
  const std::string whose =
      "the keyed state of subtask " + std::to_string(state.subtask) + " of " + state.operator_name;
  const std::string path = description == nullptr ? "" : PathOf(metadata_path, *description);
  if (path.empty()) {
    const std::string wanted = description == nullptr || description->base.empty()
                                   ? std::string(kLavaCheckpointName)
                                   : description->base;
    store_->faults.push_back(
        {metadata_path, std::nullopt, "Missing",
         metadata_path + ": the file " + wanted + ", which describes " + whose + ", is not there"});
    return;
  }
  described_.insert(path);
  const auto bytes = store_->files.ReadWhole(path, kMetadataBytesMax);
  if (!bytes.ok()) {
    store_->faults.push_back(FaultOf(path, bytes.status()));
    return;
  }
  LavaCheckpoint checkpoint;
  const std::string in = description->base.empty() ? metadata_path : path;
  Instance* const instance =
      Describe(path, in, FileKind::kLavaCheckpoint, bytes.value(), &checkpoint);
  if (instance == nullptr) return;
  const auto add_part = [&](const char* what, const HandleFile& file, uint64_t expected_bytes,
                            uint32_t crc32c) {
    CheckedPart part{what + (" of " + whose), PathOf(metadata_path, file), {}};
    part.expected.bytes = expected_bytes;
    part.expected.crc32c = crc32c;
    instance->parts.push_back(std::move(part));
  };
  add_part("the description of the states", state.state_meta, checkpoint.state_meta_bytes,
           checkpoint.state_meta_crc32c);
  const HandleFile* timers = state.Find(kLavaTimersName);
  if (checkpoint.heap_timer_bytes != 0)
    add_part("the timers", timers == nullptr ? HandleFile{} : *timers, checkpoint.heap_timer_bytes,
             checkpoint.heap_timer_crc32c);
}

std::string CheckpointLoader::PathOf(const std::string& metadata_path, const HandleFile& file) {
  if (file.base.empty()) {
    if (file.offset == 0) return {};  // the handle has no bytes
    std::string path = Inside(metadata_path, file.offset);
    store_->files.AddInline(path, flink_metadata_.substr(file.offset, file.bytes));
    return path;
  }
  const auto found = by_base_.find(file.base);
  if (found == by_base_.end()) return {};
  const auto size = store_->files.FileSize(found->second);
  if (file.offset == 0 && size.ok() && size.value() == file.bytes) return found->second;
  return AddPiece(found->second, file.offset, file.bytes);
}

Instance* CheckpointLoader::Describe(const std::string& path, const std::string& in, FileKind kind,
                                     Slice bytes, LavaCheckpoint* checkpoint) {
  const bool wrapped = kind == FileKind::kLavaCheckpoint;
  if (wrapped) {
    const Status status = ParseLavaCheckpoint(bytes, path, checkpoint);
    if (!status.ok()) {
      store_->faults.push_back(FaultOf(path, status));
      return nullptr;
    }
    bytes = checkpoint->metadata;
  }
  Result<Instance> instance = ReadMetadataBlob(bytes, path);
  if (!instance.ok()) {
    store_->faults.push_back(FaultOf(path, instance.status()));
    return nullptr;
  }
  if (wrapped) instance->heap_timer_bytes = checkpoint->heap_timer_bytes;
  instance->origin = checkpoint->origin;
  instance->description_path = in;
  Adopt(std::move(instance).value(), checkpoint->packed);
  return &store_->instances.back();
}

void CheckpointLoader::Adopt(Instance instance,
                             const std::map<std::string, PackedLocation>& packed) {
  const std::vector<NamedFile> named = FilesOf(instance);
  std::map<std::string, std::string> found;
  for (const NamedFile& file : named) {
    const auto location = packed.find(file.name);
    std::string path = Find(file);
    if (path.empty() && location != packed.end()) path = FindIn(location->second);
    if (path.empty()) LookIntoMergedFiles();
    found[file.name] = std::move(path);
  }
  for (const NamedFile& file : named) {
    std::string path = found[file.name];
    if (path.empty()) path = Find(file);
    if (!path.empty()) store_->files.AddAlias(instance.PathOf(file.name), path);
  }
  store_->instances.push_back(std::move(instance));
}

void CheckpointLoader::LookIntoMergedFiles() {
  if (merged_files_known_) return;
  merged_files_known_ = true;
  for (const auto& [base, path] : by_base_) {
    const Result<Recognized> found = Recognize(&store_->files, path);
    if (!found.ok() || found.value().unique_id || found.value().bytes > kMergedBytesMax ||
        found.value().kind == FileKind::kFlinkMetadata)
      continue;
    const Result<std::string> bytes = store_->files.ReadWhole(path, kMergedBytesMax);
    if (bytes.ok()) AddEmbedded(path, bytes.value());
  }
}

void CheckpointLoader::AddEmbedded(const std::string& path, Slice bytes) {
  for (const Embedded& sst : FindEmbedded(bytes)) {
    if (sst.kind == FileKind::kLavaCheckpoint) continue;
    const std::string inside = Inside(path, sst.offset);
    store_->files.AddInline(inside, std::string(bytes.substr(sst.offset, sst.bytes)));
    by_unique_id_.emplace(sst.unique_id, inside);
  }
}

std::string CheckpointLoader::Find(const NamedFile& file) const {
  const auto by_name = by_base_.find(file.name);
  if (by_name != by_base_.end()) return by_name->second;
  const auto by_id = by_unique_id_.find(Hash64(file.name));
  if (by_id != by_unique_id_.end()) return by_id->second;
  // Its footer is damaged, so only Flink knows its name.
  UploadedFile uploaded;
  if (!FindUploaded(flink_metadata_, file.name, &uploaded)) return {};
  const auto found = by_base_.find(uploaded.base);
  return found == by_base_.end() ? std::string() : found->second;
}

std::string CheckpointLoader::FindIn(const PackedLocation& location) {
  UploadedFile uploaded;
  if (!FindUploaded(flink_metadata_, location.pack, &uploaded)) return {};
  const auto pack = by_base_.find(uploaded.base);
  if (pack == by_base_.end()) return {};
  return AddPiece(pack->second, location.offset, location.bytes);
}

std::string CheckpointLoader::AddPiece(const std::string& in, uint64_t offset, uint64_t bytes) {
  const auto file = store_->files.OpenRandom(in);
  if (!file.ok()) return {};
  // For a truncated file, the existing part; its length will show the damage.
  const uint64_t begin = std::min(offset, file.value()->size());
  std::string piece(std::min(bytes, file.value()->size() - begin), '\0');
  if (!file.value()->Read(begin, piece.size(), piece.data()).ok()) return {};
  std::string path = Inside(in, offset);
  store_->files.AddInline(path, std::move(piece));
  return path;
}

}  // namespace lava::inspect
