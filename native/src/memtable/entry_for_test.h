// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <new>

#include "memtable/entry.h"

namespace lava {

/// An entry with a key and no value. For tests of this folder.
inline Arena::Ref NewTestEntry(Arena* arena, Slice key, bool prefix_delete) {
  uint8_t slot_class;
  const Arena::Ref ref = arena->Allocate(sizeof(MemtableEntry) + key.size() + 8, &slot_class);
  auto* entry = new (arena->At(ref)) MemtableEntry;
  entry->value_bytes = 0;
  const auto kind = prefix_delete ? RecordKind::kPrefixDelete : RecordKind::kPut;
  entry->key_word = static_cast<uint32_t>(key.size() << 8) | static_cast<uint32_t>(kind);
  entry->prefix_word = slot_class;
  std::memcpy(entry->data(), key.data(), key.size());
  return ref;
}

}  // namespace lava
