#include "manifest/version.h"

namespace lava {
namespace {

// What allocation adds to a thing, and a tree's node to its entry.
constexpr uint64_t kAllocationBytes = 16, kNodeBytes = 48;

uint64_t MemoryOf(const std::string& s) { return s.capacity() < sizeof(s) / 2 ? 0 : s.capacity(); }

uint64_t MemoryOf(const FileMeta& file) {
  return sizeof(file) + 2 * kAllocationBytes + MemoryOf(file.lower) + MemoryOf(file.upper) +
         file.tables.size() * (kNodeBytes + 24) + file.births.capacity() * sizeof(BirthShare);
}

uint64_t MemoryOf(const ValueFileMeta& file) {
  return sizeof(file) + 2 * kAllocationBytes + MemoryOf(file.lower) + MemoryOf(file.upper) +
         file.tables.size() * (kNodeBytes + 32) + file.births.capacity() * sizeof(BirthShare);
}

uint64_t MemoryOf(const Birth& birth) {
  uint64_t bytes = sizeof(birth) + 2 * kAllocationBytes + kNodeBytes + sizeof(FileId) +
                   birth.places.capacity() * sizeof(Placement) +
                   birth.expired_to_ms.size() * (kNodeBytes + 16);
  for (const Placement& place : birth.places)
    bytes += MemoryOf(place.lower) + MemoryOf(place.upper);
  return bytes;
}

}  // namespace

uint64_t Version::LevelBytes(uint32_t level) const {
  uint64_t bytes = 0;
  for (const FileEntry& entry : levels[level]) bytes += entry.file->bytes;
  return bytes;
}

uint64_t MemoryOf(const Version& version) {
  uint64_t bytes = sizeof(version);
  for (const auto& level : version.levels) {
    bytes += level.capacity() * sizeof(FileEntry);
    for (const FileEntry& entry : level)
      bytes += MemoryOf(entry.lower) + MemoryOf(entry.upper) + MemoryOf(*entry.file);
  }
  for (const auto& [id, birth] : version.births) bytes += MemoryOf(*birth);
  for (const auto& [id, entry] : version.value_files)
    bytes += kNodeBytes + sizeof(id) + sizeof(entry) + MemoryOf(*entry.file);
  return bytes;
}

}  // namespace lava
