#pragma once

#include <map>
#include <string>
#include <vector>

#include "inspect/checkpoint.h"
#include "inspect/store.h"

namespace lava::inspect {

/// Puts a checkpoint's instances together: descriptions from private files or out of Flink's
/// _metadata, and the files that they name, which storage has under other names, in the
/// checkpoint's own directory or in those beside it that checkpoints share. Threads:    one.
/// Ownership:  store must outlive it; what is found becomes the store's.
class CheckpointLoader {
 public:
  CheckpointLoader(Store* store, std::string directory);

  /// Looks at the files of the checkpoint's own directory.
  void AddDirectory(const std::string& directory, const std::vector<std::string>& names);
  bool HasDescriptions() const { return !descriptions_.empty(); }
  /// Adds an instance for each description.
  void Load();
  /// Adds those of one file that describes, alone.
  void LoadFrom(const std::string& path, FileKind kind);
  std::vector<LooseFile> Ssts() const { return ssts_; }

 private:
  void AddShared();
  void AddFile(const std::string& path, bool own);
  void ReadFlinkMetadata(const std::string& path);
  /// path: for messages; in: the file that holds the bytes.
  void Describe(const std::string& path, const std::string& in, FileKind kind, Slice bytes);
  void Adopt(Instance instance, const std::map<std::string, PackedPlace>& packed);
  /// Maybe Flink put several files into one: these are told only by what lies in them.
  void LookIntoMergedFiles();
  void AddEmbedded(const std::string& path, Slice bytes);
  /// A path for the file, or none.
  std::string Find(const NamedFile& file) const;
  /// The same of a file that is at this place, if Flink says where the pack is.
  std::string FindIn(const PackedPlace& place);

  Store* const store_;
  const std::string directory_;
  std::vector<LooseFile> descriptions_;
  std::vector<LooseFile> ssts_;                   // in the own directory
  std::map<std::string, std::string> by_base_;    // name in storage -> path
  std::map<uint64_t, std::string> by_unique_id_;  // -> path
  std::string flink_metadata_;
  bool merged_files_known_ = false;
};

}  // namespace lava::inspect
