#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/block_cache.h"
#include "inspect/checkpoint.h"
#include "inspect/read_only_files.h"
#include "job/job_context.h"
#include "manifest/manifest.h"
#include "manifest/version_edit.h"

namespace lava::inspect {

/// A file of a checkpoint that is no SST, with what its description says of it.
struct CheckedPart {
  std::string what;  // for messages
  std::string path;  // of ReadOnlyFiles; empty: it is missing
  StoredFile expected;
};

/// One instance as its manifest, or a checkpoint's metadata, describes it, with a way to its files.
/// Threads:    one.
/// Ownership:  files and cache must outlive it.
struct Instance {
  std::string source;     // the directory, manifest or metadata that describes it
  std::string described;  // "manifest" or "checkpoint"
  ManifestState state;
  std::optional<uint64_t> manifest_number;
  Manifest::LogInfo log;
  std::optional<uint64_t> heap_timer_bytes;  // of a checkpoint of the plugin
  std::optional<CheckpointOrigin> origin;    // the same
  /// A path of ReadOnlyFiles under which each file has its own name; no directory needs to be
  /// there.
  std::string directory;
  std::vector<std::string> unnamed;  // SSTs in the directory that the description does not name
  bool in_db_directory = false;      // a running process may change it
  std::string description_path;      // of a checkpoint: the file that its description is in
  std::vector<CheckedPart> parts;    // of a checkpoint whose _metadata says where they are

  std::string PathOf(const std::string& name) const { return directory + "/" + name; }
  JobContext Context(ReadOnlyFiles* files, BlockCache* cache) const;
};

/// Reads what CURRENT in directory names. A process may be writing there: a manifest that is
/// replaced meanwhile is read anew.
/// Errors: NotFound without CURRENT; Corruption, NotSupported, IOError.
Result<Instance> ReadDbDirectory(ReadOnlyFiles* files, const std::string& directory);
/// Reads MANIFEST-<number> by itself.
Result<Instance> ReadManifestFile(ReadOnlyFiles* files, const std::string& path);
/// Decodes checkpoint metadata. source: where it stands, for messages.
Result<Instance> ReadMetadataBlob(Slice metadata, const std::string& source);

/// Every file that a version names, each once: key files first, by level and age.
struct NamedFile {
  std::string name;
  std::shared_ptr<FileMeta> key_file;  // one of both
  std::shared_ptr<ValueFileMeta> value_file;
  const StoredFile& stored() const {
    return key_file != nullptr ? static_cast<const StoredFile&>(*key_file) : *value_file;
  }
};
std::vector<NamedFile> FilesOf(const Instance& instance);

/// Whether the instance, read anew, still names the file: if not, a running process removed it
/// since. Of a checkpoint: whether its description is still there; Flink removes old checkpoints.
bool StillNames(ReadOnlyFiles* files, const Instance& instance, const std::string& name);

}  // namespace lava::inspect
