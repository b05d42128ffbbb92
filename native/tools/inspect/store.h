// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "inspect/file_kind.h"
#include "inspect/instance.h"
#include "inspect/report.h"

namespace lava::inspect {

/// A single file that no given description names.
struct LooseFile {
  std::string path;
  FileKind kind = FileKind::kOther;
};

/// Data at the given paths that this tool cannot verify.
struct Unverified {
  std::string path;
  std::string what;  // a sentence without its end: the kind of data, and the reason
};

/// Size limit for searching files that contain several: Flink's merged files (by default 32 MiB)
/// and the plugin's packs (16 MiB).
inline constexpr uint64_t kMergedBytesMax = 256ull << 20;

/// The name of a file inside another one.
std::string Inside(const std::string& path, uint64_t offset);

/// Everything found at the given paths.
/// Threads:    one.
/// Ownership:  the base file system must outlive it.
struct Store {
  explicit Store(fs::FileSystem* base);

  ReadOnlyFiles files;
  std::unique_ptr<BlockCache> cache;
  std::vector<Instance> instances;
  std::vector<LooseFile> loose;
  std::vector<Fault> faults;       // of the descriptions of instances
  std::vector<std::string> notes;  // undecided questions
  std::vector<Unverified> unverified;

  /// Adds everything found at the path: an instance's directory, a Flink checkpoint, a directory of
  /// files, or a single file. Damage becomes a fault.
  /// Errors:   NotFound when the path does not exist, or contains nothing of Lava's.
  Status Load(const std::string& path);

 private:
  void LoadDb(const std::string& directory);
  Status LoadDirectory(const std::string& directory, const std::vector<std::string>& names);
  Status LoadFile(const std::string& path);
  void AddLoose(const LooseFile& file);
  void AddForeign(const std::string& path);
};

}  // namespace lava::inspect
