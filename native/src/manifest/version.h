#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file_id.h"
#include "base/record.h"
#include "lava/options.h"
#include "lava/slice.h"

namespace lava {

inline constexpr uint32_t kLevelCountMax = 8;

/// An immutable key SST as versions name it. The same FileMeta object stands in all versions.
struct FileMeta {
  FileId id;
  uint64_t bytes = 0;
  uint32_t crc32c = 0;
  uint64_t records = 0, deletes = 0, prefix_deletes = 0, range_tombstones = 0;
  uint64_t raw_bytes = 0;
  std::string lower, upper;  // own bounds, [lower, upper) over everything it holds
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> tables;  // id -> records, raw bytes
  /// The open reader, hung on before the file is first installed in a version; not persisted.
  std::shared_ptr<Attachment> reader;
};

/// A file with the bounds that this version shows of it: [lower, upper), within the file's own.
/// One file may stand several times in a version, with disjoint bounds.
struct FileEntry {
  std::shared_ptr<FileMeta> file;
  std::string lower, upper;
  bool clipped() const { return lower != file->lower || upper != file->upper; }
};

/// An immutable state of the tree. L0: newest first, may overlap. Deeper levels: ascending,
/// disjoint.
struct Version {
  std::array<std::vector<FileEntry>, kLevelCountMax> levels;
  uint64_t LevelBytes(uint32_t level) const;
};

/// A registered table in the manifest.
struct TableRegistration {
  std::string name;
  uint64_t id = 0;
  TableOptions options;
};

}  // namespace lava
