// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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

/// A file of a checkpoint that is not an SST, with its properties according to its description.
struct CheckedPart {
  std::string what;  // for messages
  std::string path;  // of ReadOnlyFiles; empty: it is missing
  StoredFile expected;
};

/// One instance as described by its manifest or by a checkpoint's metadata, with access to its
/// files.
/// Threads:    one.
/// Ownership:  files and cache must outlive it.
struct Instance {
  std::string source;     // the describing directory, manifest or metadata
  std::string described;  // "manifest" or "checkpoint"
  ManifestState state;
  std::optional<uint64_t> manifest_number;
  Manifest::LogInfo log;
  std::optional<uint64_t> heap_timer_bytes;  // for a checkpoint of the plugin
  std::optional<CheckpointOrigin> origin;    // for a checkpoint of the plugin
  /// A path of ReadOnlyFiles under which each file has its own name; the directory itself need not
  /// exist.
  std::string directory;
  std::vector<std::string> unnamed;  // SSTs in the directory that the description does not name
  bool in_db_directory = false;      // a running process may change it
  std::string description_path;      // for a checkpoint: the file that contains its description
  std::vector<CheckedPart> parts;    // for a checkpoint whose _metadata has their locations

  std::string PathOf(const std::string& name) const { return directory + "/" + name; }
  JobContext Context(ReadOnlyFiles* files, BlockCache* cache) const;
};

/// Reads the manifest that CURRENT in the directory names. A process may be writing there: a
/// manifest that is replaced meanwhile is read again. Errors: NotFound without CURRENT; Corruption,
/// NotSupported, IOError.
Result<Instance> ReadDbDirectory(ReadOnlyFiles* files, const std::string& directory);
/// Reads a single MANIFEST-<number>.
Result<Instance> ReadManifestFile(ReadOnlyFiles* files, const std::string& path);
/// Decodes checkpoint metadata. source: its location, for messages.
Result<Instance> ReadMetadataBlob(Slice metadata, const std::string& source);

/// Every file of a version, each once: key files first, by level and age.
struct NamedFile {
  std::string name;
  std::shared_ptr<FileMeta> key_file;  // exactly one of the two
  std::shared_ptr<ValueFileMeta> value_file;
  const StoredFile& stored() const {
    return key_file != nullptr ? static_cast<const StoredFile&>(*key_file) : *value_file;
  }
};
std::vector<NamedFile> FilesOf(const Instance& instance);

/// Whether the instance, read again, still names the file; if not, a running process has removed
/// it. For a checkpoint: whether its description still exists, because Flink removes old
/// checkpoints.
bool StillNames(ReadOnlyFiles* files, const Instance& instance, const std::string& name);

}  // namespace lava::inspect
