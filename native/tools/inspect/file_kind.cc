// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/file_kind.h"

#include <algorithm>
#include <charconv>

#include "base/coding.h"
#include "base/framing.h"
#include "inspect/checkpoint.h"
#include "table/format.h"
#include "value/format.h"

namespace lava::inspect {
namespace {

constexpr std::string_view kManifestPrefix = "MANIFEST-";
constexpr std::string_view kManifestMagic = "LAVAMANI";
constexpr size_t kHeadBytes = kFrameHeaderBytes + 8;
constexpr size_t kTailBytes = std::max(ksst::kFooterBytes, vsst::kFooterBytes);

FileKind KindByName(const std::string& base) {
  if (base.ends_with(".ksst")) return FileKind::kKeySst;
  if (base.ends_with(".vsst")) return FileKind::kValueSst;
  if (base == "CURRENT") return FileKind::kCurrent;
  if (base == "_metadata") return FileKind::kFlinkMetadata;
  if (base == kLavaCheckpointName) return FileKind::kLavaCheckpoint;
  if (ManifestNumber(base)) return FileKind::kManifest;
  return FileKind::kOther;
}

// From an intact footer of either kind.
std::optional<uint64_t> UniqueIdOf(FileKind kind, const std::string& path, uint64_t bytes,
                                   Slice tail) {
  if (kind == FileKind::kKeySst) {
    ksst::Footer footer;
    tail = tail.substr(tail.size() - std::min(tail.size(), ksst::kFooterBytes));
    if (ksst::DecodeFooter(path, bytes, tail, &footer).ok()) return footer.unique_id;
  } else {
    vsst::Footer footer;
    tail = tail.substr(tail.size() - std::min(tail.size(), vsst::kFooterBytes));
    if (vsst::DecodeFooter(path, bytes, tail, &footer).ok()) return footer.unique_id;
  }
  return std::nullopt;
}

}  // namespace

const char* NameOf(FileKind kind) {
  switch (kind) {
    case FileKind::kKeySst:
      return "key SST";
    case FileKind::kValueSst:
      return "value SST";
    case FileKind::kCurrent:
      return "CURRENT";
    case FileKind::kManifest:
      return "manifest";
    case FileKind::kMetadata:
      return "checkpoint metadata";
    case FileKind::kLavaCheckpoint:
      return "LAVA-CHECKPOINT";
    case FileKind::kFlinkMetadata:
      return "Flink's _metadata";
    case FileKind::kOther:
      break;
  }
  return "not recognized";
}

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string BaseOf(const std::string& path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

std::optional<uint64_t> ManifestNumber(const std::string& base) {
  if (!base.starts_with(kManifestPrefix)) return std::nullopt;
  uint64_t number = 0;
  const char* end = base.data() + base.size();
  const auto parsed = std::from_chars(base.data() + kManifestPrefix.size(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

Result<Recognized> Recognize(ReadOnlyFiles* files, const std::string& path) {
  LAVA_ASSIGN_OR_RETURN(const std::unique_ptr<fs::RandomFile> file, files->OpenRandom(path));
  Recognized found;
  found.bytes = file->size();
  std::string head(std::min<uint64_t>(found.bytes, kHeadBytes), '\0');
  std::string tail(std::min<uint64_t>(found.bytes, kTailBytes), '\0');
  LAVA_RETURN_IF_ERROR(file->Read(0, head.size(), head.data()));
  LAVA_RETURN_IF_ERROR(file->Read(found.bytes - tail.size(), tail.size(), tail.data()));
  const uint64_t magic = tail.size() < 8 ? 0 : DecodeFixed64(tail.data() + tail.size() - 8);
  const std::string base = BaseOf(path);
  if (base == "_metadata") {  // may end with an embedded file
    found.kind = FileKind::kFlinkMetadata;
  } else if (magic == ksst::kMagic || magic == vsst::kMagic) {
    found.kind = magic == ksst::kMagic ? FileKind::kKeySst : FileKind::kValueSst;
    found.unique_id = UniqueIdOf(found.kind, path, found.bytes, tail);
  } else if (Slice(head).starts_with(kCheckpointMagic)) {
    found.kind = IsLavaCheckpoint(head) ? FileKind::kLavaCheckpoint : FileKind::kMetadata;
  } else if (Slice(head).substr(std::min(head.size(), kFrameHeaderBytes)) == kManifestMagic) {
    found.kind = FileKind::kManifest;
  } else {
    found.kind = KindByName(base);
  }
  return found;
}

std::string ForeignKind(ReadOnlyFiles* files, const std::string& path) {
  constexpr uint64_t kRocksTableMagic = 0x88e241b785f4cff7, kRocksPlainMagic = 0x8242229663bf9564;
  const auto file = files->OpenRandom(path);
  char tail[8] = {};
  if (file.ok() && file.value()->size() >= sizeof(tail) &&
      file.value()->Read(file.value()->size() - sizeof(tail), sizeof(tail), tail).ok()) {
    const uint64_t magic = DecodeFixed64(tail);
    if (magic == kRocksTableMagic || magic == kRocksPlainMagic) return "an SST of RocksDB";
  }
  return "not a file that lava-inspect knows, or one of Lava's whose beginning and end are damaged";
}

}  // namespace lava::inspect
