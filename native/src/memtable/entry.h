// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/record.h"
#include "lava/slice.h"
#include "memtable/arena.h"

namespace lava {

/// One record of a memtable in its arena slot: this header and the key, followed by the value or,
/// if the value is external, by a ValueSlot that says where it lies. An entry never moves, so the
/// indexes can refer to it by its slot as long as it lives.
/// Threads:    guarded by the memtable's lock; in_tree is not written after the seal.
struct MemtableEntry {
  uint32_t value_bytes;
  uint32_t key_word;     // key bytes << 8 | RecordKind; kind 0: erased, still in pending_
  uint32_t prefix_word;  // prefix bytes << 8 | in_tree << 7 | external << 6 | slot class

  static constexpr uint32_t kInTree = 1u << 7;
  static constexpr uint32_t kExternal = 1u << 6;
  static constexpr uint32_t kClassMask = kExternal - 1;

  struct ValueSlot {
    Arena::Ref ref;
    uint32_t slot_class;
  };

  RecordKind kind() const { return static_cast<RecordKind>(key_word & 0xff); }
  bool erased() const { return (key_word & 0xff) == 0; }
  bool is_prefix_delete() const { return kind() == RecordKind::kPrefixDelete; }
  uint32_t key_bytes() const { return key_word >> 8; }
  uint32_t prefix_bytes() const { return prefix_word >> 8; }
  uint8_t slot_class() const { return static_cast<uint8_t>(prefix_word & kClassMask); }
  bool in_tree() const { return (prefix_word & kInTree) != 0; }
  bool external() const { return (prefix_word & kExternal) != 0; }

  void set_kind(RecordKind kind) { key_word = (key_word & ~0xffu) | static_cast<uint32_t>(kind); }
  void set_erased() { key_word &= ~0xffu; }
  void set_prefix_bytes(uint32_t bytes) { prefix_word = (bytes << 8) | (prefix_word & 0xff); }
  void set_in_tree() { prefix_word |= kInTree; }
  void set_external(bool on) {
    prefix_word = on ? (prefix_word | kExternal) : (prefix_word & ~kExternal);
  }

  char* data() { return reinterpret_cast<char*>(this) + sizeof(MemtableEntry); }
  const char* data() const { return reinterpret_cast<const char*>(this) + sizeof(MemtableEntry); }
  Slice key() const { return {data(), key_bytes()}; }
  char* value_area() { return data() + key_bytes(); }
  const char* value_area() const { return data() + key_bytes(); }

  ValueSlot value_slot() const {
    ValueSlot slot;
    std::memcpy(&slot, value_area(), sizeof(slot));
    return slot;
  }
  void set_value_slot(ValueSlot slot) { std::memcpy(value_area(), &slot, sizeof(slot)); }
};
static_assert(sizeof(MemtableEntry) == 12);

inline const MemtableEntry* EntryAt(const Arena& arena, Arena::Ref ref) {
  return reinterpret_cast<const MemtableEntry*>(arena.At(ref));
}
inline MemtableEntry* EntryAt(Arena& arena, Arena::Ref ref) {
  return reinterpret_cast<MemtableEntry*>(arena.At(ref));
}
inline Slice EntryValue(const Arena& arena, const MemtableEntry& entry) {
  const char* at = entry.external() ? arena.At(entry.value_slot().ref) : entry.value_area();
  return {at, entry.value_bytes};
}

/// The order of records: by key, with a prefix delete before a point record of the same key.
struct SortKey {
  Slice key;
  bool prefix_delete;
};
inline SortKey SortKeyOf(const MemtableEntry& e) { return {e.key(), e.is_prefix_delete()}; }
inline int Compare(const SortKey& a, const SortKey& b) {
  const int c = a.key.compare(b.key);
  return c != 0 ? c : static_cast<int>(b.prefix_delete) - static_cast<int>(a.prefix_delete);
}

}  // namespace lava
