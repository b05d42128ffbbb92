// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "lavafs/names.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "lava/slice.h"

namespace lava::lavafs {
namespace {

constexpr size_t kHexDigits = 32;
constexpr Slice kDigits = "0123456789abcdef";

}  // namespace

uint64_t Names::HashOf(uint32_t directory, Slice packed) { return Hash64(packed, directory); }

// A name without leading hex digits stays as it is. A packed one begins with a zero byte, which no
// name contains.
std::string Names::Pack(Slice name) {
  std::string packed(1, '\0');
  for (size_t at = 0; at < kHexDigits && name.size() >= kHexDigits; at += 2) {
    const size_t high = kDigits.find(name[at]), low = kDigits.find(name[at + 1]);
    if (high == Slice::npos || low == Slice::npos) break;
    packed.push_back(static_cast<char>(high << 4 | low));
  }
  if (packed.size() <= kHexDigits / 2) return std::string(name);
  return packed.append(name.substr(kHexDigits));
}

std::string Names::name(uint32_t entry) const {
  const Slice all = packed(entry);
  if (all[0] != '\0') return std::string(all);
  std::string unpacked;
  for (const char byte : all.substr(1, kHexDigits / 2)) {
    unpacked.push_back(kDigits[static_cast<unsigned char>(byte) >> 4]);
    unpacked.push_back(kDigits[byte & 15]);
  }
  return unpacked.append(all.substr(1 + kHexDigits / 2));
}

Slice Names::packed(uint32_t entry) const {
  const char* const bytes = entries_[entry].name.get();
  return {bytes + 1, static_cast<unsigned char>(bytes[0])};
}

size_t Names::HomeOf(uint32_t entry) const {
  return HashOf(entries_[entry].directory, packed(entry)) & (slots_.size() - 1);
}

uint32_t Names::Find(uint32_t directory, Slice name) const {
  if (slots_.empty()) return kNone;
  const std::string wanted = Pack(name);
  const size_t mask = slots_.size() - 1;
  for (size_t at = HashOf(directory, wanted) & mask;; at = (at + 1) & mask) {
    const uint32_t entry = slots_[at];
    if (entry == kNone) return kNone;
    if (entries_[entry].directory == directory && packed(entry) == wanted) return entry;
  }
}

void Names::Grow() {
  std::vector<uint32_t> before(slots_.empty() ? 16 : 2 * slots_.size(), kNone);
  before.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (const uint32_t entry : before) {
    if (entry == kNone) continue;
    size_t at = HomeOf(entry);
    while (slots_[at] != kNone) at = (at + 1) & mask;
    slots_[at] = entry;
  }
}

void Names::Add(uint32_t directory, Slice name, uint32_t inode, uint32_t* first) {
  LAVA_DCHECK(Find(directory, name) == kNone && name.size() <= 255);
  const std::string bytes = Pack(name);
  if (slots_.size() * 3 < (used_ + 1) * size_t{4}) Grow();
  uint32_t number = first_free_;
  if (number == kNone) {
    number = static_cast<uint32_t>(entries_.size());
    entries_.emplace_back();
  } else {
    first_free_ = entries_[number].next;
  }
  Entry& entry = entries_[number];
  entry.name = std::make_unique<char[]>(1 + bytes.size());
  entry.name[0] = static_cast<char>(bytes.size());
  std::memcpy(entry.name.get() + 1, bytes.data(), bytes.size());
  entry.directory = directory;
  entry.inode = inode;
  entry.previous = kNone;
  entry.next = *first;
  if (*first != kNone) entries_[*first].previous = number;
  *first = number;
  const size_t mask = slots_.size() - 1;
  size_t at = HomeOf(number);
  while (slots_[at] != kNone) at = (at + 1) & mask;
  slots_[at] = number;
  used_++;
  name_bytes_ += 1 + bytes.size();
}

void Names::Remove(uint32_t number, uint32_t* first) {
  const size_t mask = slots_.size() - 1;
  size_t hole = HomeOf(number);
  while (slots_[hole] != number) hole = (hole + 1) & mask;
  // Entries after the hole move into it, unless it lies before their home.
  for (size_t at = (hole + 1) & mask; slots_[at] != kNone; at = (at + 1) & mask) {
    if (((at - HomeOf(slots_[at])) & mask) >= ((at - hole) & mask)) {
      slots_[hole] = slots_[at];
      hole = at;
    }
  }
  slots_[hole] = kNone;
  used_--;
  Entry& entry = entries_[number];
  name_bytes_ -= 1 + packed(number).size();
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
  return entries_.size() * sizeof(Entry) + slots_.size() * sizeof(uint32_t) + name_bytes_;
}

}  // namespace lava::lavafs
