// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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
  kMetadata,        // a separate file with an engine's checkpoint metadata
  kLavaCheckpoint,  // the plugin's private file of a checkpoint, which contains such metadata
  kFlinkMetadata,   // Flink's _metadata, which may contain any of the above
};
const char* NameOf(FileKind kind);

/// The kind of a file, determined by its content, and by its name only where damage hides the
/// content.
struct Recognized {
  FileKind kind = FileKind::kOther;
  uint64_t bytes = 0;
  /// From an intact footer: the hash of the name under which the file was written.
  std::optional<uint64_t> unique_id;
};
/// Reads only the begin and the end of the file. Errors: NotFound, IOError.
Result<Recognized> Recognize(ReadOnlyFiles* files, const std::string& path);

/// Describes a file of kind kOther as far as its content shows: the end of a sentence.
std::string ForeignKind(ReadOnlyFiles* files, const std::string& path);

std::string DirectoryOf(const std::string& path);
/// The path without its directory.
std::string BaseOf(const std::string& path);
/// The number of a "MANIFEST-<number>".
std::optional<uint64_t> ManifestNumber(const std::string& base);

}  // namespace lava::inspect
