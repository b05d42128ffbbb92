#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "lava/slice.h"

namespace lava::lavafs {

/// The names of all files of a volume: found by directory and name, walked by directory. About 30
/// bytes each, and the name itself, of which 32 hex digits at its beginning, an instance's id in
/// the engine's names, take 17. Threads:    one at a time.
class Names {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// kNone when it is not there.
  uint32_t Find(uint32_t directory, Slice name) const;
  /// A name that is not there yet; *first is where its directory's walk begins.
  void Add(uint32_t directory, Slice name, uint32_t inode, uint32_t* first);
  void Remove(uint32_t entry, uint32_t* first);

  std::string name(uint32_t entry) const;
  uint32_t inode(uint32_t entry) const { return entries_[entry].inode; }
  uint32_t directory(uint32_t entry) const { return entries_[entry].directory; }
  uint32_t next(uint32_t entry) const { return entries_[entry].next; }
  uint64_t bytes() const;

 private:
  struct Entry {
    std::unique_ptr<char[]> name;  // packed, behind its length; null: a free entry
    uint32_t directory = 0;
    uint32_t inode = 0;
    uint32_t next = kNone, previous = kNone;  // of the directory; next: of the free ones, too
  };
  static uint64_t HashOf(uint32_t directory, Slice packed);
  static std::string Pack(Slice name);
  Slice packed(uint32_t entry) const;
  size_t HomeOf(uint32_t entry) const;
  void Grow();

  std::deque<Entry> entries_;
  uint32_t first_free_ = kNone;
  // Open addressing, linear: entries, at most three quarters full; a power of two of places.
  std::vector<uint32_t> places_;
  uint32_t used_ = 0;
  uint64_t name_bytes_ = 0;
};

}  // namespace lava::lavafs
