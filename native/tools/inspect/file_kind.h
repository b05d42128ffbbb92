#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/file_id.h"
#include "inspect/read_only_files.h"

namespace lava::inspect {

enum class FileKind : uint8_t {
  kOther,
  kKeySst,
  kValueSst,
  kCurrent,
  kManifest,
  kMetadata,        // an engine's checkpoint metadata by itself
  kLavaCheckpoint,  // the plugin's private file of a checkpoint, which holds such metadata
  kFlinkMetadata,   // Flink's _metadata, which may hold any of the above
};
const char* NameOf(FileKind kind);

/// What a file is, told by its content; by its name only where damage hides the content.
struct Recognized {
  FileKind kind = FileKind::kOther;
  uint64_t bytes = 0;
  /// Of a sound footer: the hash of the name that the file was written under.
  std::optional<uint64_t> unique_id;
};
/// Reads the file's ends alone. Errors: NotFound, IOError.
Result<Recognized> Recognize(ReadOnlyFiles* files, const std::string& path);

/// What a file of kind kOther is, as far as its content tells: the end of a sentence.
std::string ForeignKind(ReadOnlyFiles* files, const std::string& path);

std::string DirectoryOf(const std::string& path);
/// The path without its directory.
std::string BaseOf(const std::string& path);
/// The number of a "MANIFEST-<number>".
std::optional<uint64_t> ManifestNumber(const std::string& base);

}  // namespace lava::inspect
