// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "inspect/checkpoint.h"
#include "inspect/flink_metadata.h"
#include "inspect/store.h"

namespace lava::inspect {

/// Assembles a checkpoint's instances: descriptions from private files or from Flink's _metadata,
/// and the files that they name. Storage has these files under other names, in the checkpoint's own
/// directory or in neighbouring directories shared by checkpoints.
/// Threads:    one.
/// Ownership:  store must outlive it; found instances and files are added to the store.
class CheckpointLoader {
 public:
  CheckpointLoader(Store* store, std::string directory);

  /// Reads the files of the checkpoint's own directory.
  void AddDirectory(const std::string& directory, const std::vector<std::string>& names);
  bool HasDescriptions() const { return !descriptions_.empty(); }
  /// Adds an instance for each description.
  void Load();
  /// Adds only the instances described by one file.
  void LoadFrom(const std::string& path, FileKind kind);
  std::vector<LooseFile> Ssts() const { return ssts_; }
  /// Unrecognized files of the own directory.
  const std::vector<std::string>& others() const { return others_; }

 private:
  void AddShared();
  void AddFile(const std::string& path, bool own);
  void ReadFlinkMetadata(const std::string& path);
  /// Adds an instance for each keyed state of Lava's, and reports other keyed states.
  void ReadKeyedState(const std::string& metadata_path, const FlinkMetadata& metadata);
  void ReadLavaState(const std::string& metadata_path, const KeyedState& state);
  /// A path of ReadOnlyFiles for the bytes of a handle; empty if they do not exist.
  std::string PathOf(const std::string& metadata_path, const HandleFile& file);
  /// path: for messages; in: the file that contains the bytes. Null: a fault was reported.
  Instance* Describe(const std::string& path, const std::string& in, FileKind kind, Slice bytes,
                     LavaCheckpoint* checkpoint);
  void Adopt(Instance instance, const std::map<std::string, PackedLocation>& packed);
  /// Flink may have merged several files into one; they are only recognized by their content.
  void LookIntoMergedFiles();
  void AddEmbedded(const std::string& path, Slice bytes);
  /// A path for the file, or an empty string.
  std::string Find(const NamedFile& file) const;
  /// The same for a file at this location, if Flink tells where the pack is.
  std::string FindIn(const PackedLocation& location);
  /// A path for bytes of a file; empty if they cannot be read.
  std::string AddPiece(const std::string& in, uint64_t offset, uint64_t bytes);

  Store* const store_;
  const std::string directory_;
  std::vector<LooseFile> descriptions_;
  std::vector<LooseFile> ssts_;                   // in the own directory
  std::vector<std::string> others_;               // paths in the own directory
  std::set<std::string> described_;               // paths of descriptions that have been read
  std::map<std::string, std::string> by_base_;    // name in storage -> path
  std::map<uint64_t, std::string> by_unique_id_;  // -> path
  std::string flink_metadata_;
  bool merged_files_known_ = false;
};

}  // namespace lava::inspect
