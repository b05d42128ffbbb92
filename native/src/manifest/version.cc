#include "manifest/version.h"

namespace lava {

uint64_t Version::LevelBytes(uint32_t level) const {
  uint64_t bytes = 0;
  for (const FileEntry& entry : levels[level]) bytes += entry.file->bytes;
  return bytes;
}

}  // namespace lava
