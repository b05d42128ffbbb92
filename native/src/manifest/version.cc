#include "manifest/version.h"

#include <cinttypes>
#include <cstdio>

namespace lava {

std::string Origin::ToString() const {
  char buffer[33];
  std::snprintf(buffer, sizeof(buffer), "%016" PRIx64 "%016" PRIx64, high, low);
  return std::string(buffer, 32);
}

std::string FileId::FileName() const {
  return origin.ToString() + "-" + std::to_string(number) + ".ksst";
}

uint64_t Version::LevelBytes(uint32_t level) const {
  uint64_t bytes = 0;
  for (const FileEntry& entry : levels[level]) bytes += entry.file->bytes;
  return bytes;
}

}  // namespace lava
