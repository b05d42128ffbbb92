#pragma once

#include <memory>
#include <string>
#include <vector>

#include "inspect/file_kind.h"
#include "inspect/instance.h"
#include "inspect/report.h"

namespace lava::inspect {

/// A file that stands for itself: no description that was given names it.
struct LooseFile {
  std::string path;
  FileKind kind = FileKind::kOther;
};

/// Something that the given paths lead to and that this tool cannot verify.
struct Unverified {
  std::string path;
  std::string what;  // a sentence without its end: what it is, and why
};

/// Files that hold several are looked through up to this size: Flink's merged ones (by default 32
/// MiB) and the plugin's packs (16 MiB).
inline constexpr uint64_t kMergedBytesMax = 256ull << 20;

/// What a file within another is called.
std::string Inside(const std::string& path, uint64_t offset);

/// All that the given paths lead to.
/// Threads:    one.
/// Ownership:  the base file system must outlive it.
struct Store {
  explicit Store(fs::FileSystem* base);

  ReadOnlyFiles files;
  std::unique_ptr<BlockCache> cache;
  std::vector<Instance> instances;
  std::vector<LooseFile> loose;
  std::vector<Fault> faults;       // of what describes instances
  std::vector<std::string> notes;  // what could not be decided
  std::vector<Unverified> unverified;

  /// Adds what path leads to: an instance's directory, a Flink checkpoint, a directory of files, or
  /// a single file. What is damaged becomes a fault.
  /// Errors:   NotFound when nothing is there, or nothing of Lava's.
  Status Load(const std::string& path);

 private:
  void LoadDb(const std::string& directory);
  Status LoadDirectory(const std::string& directory, const std::vector<std::string>& names);
  Status LoadFile(const std::string& path);
  void AddLoose(const LooseFile& file);
  void AddForeign(const std::string& path);
};

}  // namespace lava::inspect
