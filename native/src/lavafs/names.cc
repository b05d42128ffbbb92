#include "lavafs/names.h"

#include <cstring>

#include "base/check.h"
#include "base/hash.h"

namespace lava::lavafs {

uint64_t Names::HashOf(uint32_t directory, Slice name) { return Hash64(name, directory); }

Slice Names::name(uint32_t entry) const {
  const char* const bytes = entries_[entry].name.get();
  return {bytes + 1, static_cast<unsigned char>(bytes[0])};
}

size_t Names::HomeOf(uint32_t entry) const {
  return HashOf(entries_[entry].directory, name(entry)) & (places_.size() - 1);
}

uint32_t Names::Find(uint32_t directory, Slice wanted) const {
  if (places_.empty()) return kNone;
  const size_t mask = places_.size() - 1;
  for (size_t at = HashOf(directory, wanted) & mask;; at = (at + 1) & mask) {
    const uint32_t entry = places_[at];
    if (entry == kNone) return kNone;
    if (entries_[entry].directory == directory && name(entry) == wanted) return entry;
  }
}

void Names::Grow() {
  std::vector<uint32_t> before(places_.empty() ? 16 : 2 * places_.size(), kNone);
  before.swap(places_);
  const size_t mask = places_.size() - 1;
  for (const uint32_t entry : before) {
    if (entry == kNone) continue;
    size_t at = HomeOf(entry);
    while (places_[at] != kNone) at = (at + 1) & mask;
    places_[at] = entry;
  }
}

void Names::Add(uint32_t directory, Slice name, uint32_t inode, uint32_t* first) {
  LAVA_DCHECK(Find(directory, name) == kNone && name.size() <= 255);
  if (places_.size() * 3 < (used_ + 1) * size_t{4}) Grow();
  uint32_t number = first_free_;
  if (number == kNone) {
    number = static_cast<uint32_t>(entries_.size());
    entries_.emplace_back();
  } else {
    first_free_ = entries_[number].next;
  }
  Entry& entry = entries_[number];
  entry.name = std::make_unique<char[]>(1 + name.size());
  entry.name[0] = static_cast<char>(name.size());
  std::memcpy(entry.name.get() + 1, name.data(), name.size());
  entry.directory = directory;
  entry.inode = inode;
  entry.previous = kNone;
  entry.next = *first;
  if (*first != kNone) entries_[*first].previous = number;
  *first = number;
  const size_t mask = places_.size() - 1;
  size_t at = HomeOf(number);
  while (places_[at] != kNone) at = (at + 1) & mask;
  places_[at] = number;
  used_++;
  name_bytes_ += 1 + name.size();
}

void Names::Remove(uint32_t number, uint32_t* first) {
  const size_t mask = places_.size() - 1;
  size_t hole = HomeOf(number);
  while (places_[hole] != number) hole = (hole + 1) & mask;
  // What stands behind the hole moves into it unless that is before its home.
  for (size_t at = (hole + 1) & mask; places_[at] != kNone; at = (at + 1) & mask) {
    if (((at - HomeOf(places_[at])) & mask) >= ((at - hole) & mask)) {
      places_[hole] = places_[at];
      hole = at;
    }
  }
  places_[hole] = kNone;
  used_--;
  Entry& entry = entries_[number];
  name_bytes_ -= 1 + name(number).size();
  if (entry.previous == kNone) {
    *first = entry.next;
  } else {
    entries_[entry.previous].next = entry.next;
  }
  if (entry.next != kNone) entries_[entry.next].previous = entry.previous;
  entry.name.reset();
  entry.next = first_free_;
  first_free_ = number;
}

uint64_t Names::bytes() const {
  return entries_.size() * sizeof(Entry) + places_.size() * sizeof(uint32_t) + name_bytes_;
}

}  // namespace lava::lavafs
