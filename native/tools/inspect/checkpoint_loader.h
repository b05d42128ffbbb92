#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "inspect/checkpoint.h"
#include "inspect/flink_metadata.h"
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
  /// Files of the own directory that are not recognized.
  const std::vector<std::string>& others() const { return others_; }

 private:
  void AddShared();
  void AddFile(const std::string& path, bool own);
  void ReadFlinkMetadata(const std::string& path);
  /// Adds an instance for each keyed state that is Lava's, and says which is not.
  void ReadKeyedState(const std::string& metadata_path, const FlinkMetadata& metadata);
  void ReadLavaState(const std::string& metadata_path, const KeyedState& state);
  /// A path of ReadOnlyFiles for the bytes of a handle; empty: they are not there.
  std::string PathOf(const std::string& metadata_path, const HandleFile& file);
  /// path: for messages; in: the file that holds the bytes. Null: it is a fault.
  Instance* Describe(const std::string& path, const std::string& in, FileKind kind, Slice bytes,
                     LavaCheckpoint* checkpoint);
  void Adopt(Instance instance, const std::map<std::string, PackedPlace>& packed);
  /// Maybe Flink put several files into one: these are told only by what lies in them.
  void LookIntoMergedFiles();
  void AddEmbedded(const std::string& path, Slice bytes);
  /// A path for the file, or none.
  std::string Find(const NamedFile& file) const;
  /// The same of a file that is at this place, if Flink says where the pack is.
  std::string FindIn(const PackedPlace& place);
  /// A path for bytes of a file; empty: it cannot be read.
  std::string AddPiece(const std::string& in, uint64_t offset, uint64_t bytes);

  Store* const store_;
  const std::string directory_;
  std::vector<LooseFile> descriptions_;
  std::vector<LooseFile> ssts_;                   // in the own directory
  std::vector<std::string> others_;               // paths in the own directory
  std::set<std::string> described_;               // paths of descriptions that were read
  std::map<std::string, std::string> by_base_;    // name in storage -> path
  std::map<uint64_t, std::string> by_unique_id_;  // -> path
  std::string flink_metadata_;
  bool merged_files_known_ = false;
};

}  // namespace lava::inspect
