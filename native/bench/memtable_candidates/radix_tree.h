// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <emmintrin.h>

#include "memtable/entry.h"

namespace lava::bench {

/// An adaptive radix tree with path compression: keys in byte order, nodes of 4, 16, 48 and 256
/// children. Sufficient for measurements: it cannot erase, and no key may be a prefix of another.
class RadixTree {
 public:
  explicit RadixTree(Arena* nodes) : arena_(*nodes) {}

  void Insert(MemtableEntry* entry) {
    if (root_ == nullptr) {
      root_ = Leaf(entry);
      return;
    }
    const Slice key = entry->key();
    void** link = &root_;
    for (uint32_t depth = 0;;) {
      if (IsLeaf(*link)) return SplitLeaf(link, entry, depth);
      Node* node = static_cast<Node*>(*link);
      const uint32_t match = MatchPrefix(node, key, depth);
      if (match < node->prefix_bytes) return SplitPrefix(link, entry, depth, match);
      depth += node->prefix_bytes;
      void** child = FindChild(node, ByteAt(key, depth));
      if (child == nullptr) return AddChild(link, ByteAt(key, depth), Leaf(entry));
      link = child;
      ++depth;
    }
  }
  MemtableEntry* Find(Slice key) {
    void* at = root_;
    for (uint32_t depth = 0; at != nullptr; ++depth) {
      if (IsLeaf(at)) {
        MemtableEntry* e = EntryOf(at);
        return e->key() == key ? e : nullptr;
      }
      Node* node = static_cast<Node*>(at);
      // Only the bytes stored in the node are compared on the way; the leaf verifies the rest.
      const uint32_t stored = std::min(node->prefix_bytes, kPrefixMax);
      for (uint32_t i = 0; i < stored; ++i)
        if (node->prefix[i] != ByteAt(key, depth + i)) return nullptr;
      depth += node->prefix_bytes;
      void** child = FindChild(node, ByteAt(key, depth));
      at = child == nullptr ? nullptr : *child;
    }
    return nullptr;
  }
  /// Calls visit for entries with keys >= from, in order, until visit returns false.
  template <typename F>
  void Walk(Slice from, const F& visit) {
    if (root_ != nullptr) WalkFrom(root_, from, 0, true, visit);
  }

 private:
  static constexpr uint32_t kPrefixMax = 10;
  enum Type : uint8_t { k4, k16, k48, k256 };
  struct Node {
    uint32_t prefix_bytes = 0;
    uint16_t count = 0;
    Type type;
    uint8_t prefix[kPrefixMax];
  };
  struct Node4 : Node {
    uint8_t keys[4] = {};
    void* children[4] = {};
  };
  struct Node16 : Node {
    uint8_t keys[16] = {};
    void* children[16] = {};
  };
  struct Node48 : Node {
    uint8_t index[256] = {};  // child + 1
    void* children[48] = {};
  };
  struct Node256 : Node {
    void* children[256] = {};
  };

  static uint8_t ByteAt(Slice key, uint32_t i) {
    return i < key.size() ? static_cast<uint8_t>(key[i]) : 0;
  }
  // Slots are 8-byte aligned, so bit 0 is free. Entries are in the other arena.
  static bool IsLeaf(void* p) { return (reinterpret_cast<uintptr_t>(p) & 1) != 0; }
  static void* Leaf(MemtableEntry* e) {
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(e) | 1);
  }
  static MemtableEntry* EntryOf(void* p) {
    return reinterpret_cast<MemtableEntry*>(reinterpret_cast<uintptr_t>(p) & ~uintptr_t{1});
  }
  template <typename T>
  T* New(Type type) {
    uint8_t slot_class;
    T* node = new (arena_.At(arena_.Allocate(sizeof(T), &slot_class))) T;
    node->type = type;
    return node;
  }
  static void CopyHead(Node* to, const Node* from) {
    to->prefix_bytes = from->prefix_bytes;
    to->count = from->count;
    std::memcpy(to->prefix, from->prefix, kPrefixMax);
  }
  static Slice MinKey(void* p) {
    while (!IsLeaf(p)) {
      Node* n = static_cast<Node*>(p);
      switch (n->type) {
        case k4:
          p = static_cast<Node4*>(n)->children[0];
          break;
        case k16:
          p = static_cast<Node16*>(n)->children[0];
          break;
        case k48: {
          auto* m = static_cast<Node48*>(n);
          uint32_t i = 0;
          while (m->index[i] == 0) ++i;
          p = m->children[m->index[i] - 1];
          break;
        }
        case k256: {
          auto* m = static_cast<Node256*>(n);
          uint32_t i = 0;
          while (m->children[i] == nullptr) ++i;
          p = m->children[i];
        }
      }
    }
    return EntryOf(p)->key();
  }
  uint32_t MatchPrefix(Node* node, Slice key, uint32_t depth) {
    uint32_t i = 0;
    for (; i < std::min(node->prefix_bytes, kPrefixMax); ++i)
      if (node->prefix[i] != ByteAt(key, depth + i)) return i;
    if (node->prefix_bytes > kPrefixMax) {
      const Slice full = MinKey(node);
      for (; i < node->prefix_bytes; ++i)
        if (ByteAt(full, depth + i) != ByteAt(key, depth + i)) return i;
    }
    return i;
  }
  void** FindChild(Node* node, uint8_t byte) {
    switch (node->type) {
      case k4: {
        auto* n = static_cast<Node4*>(node);
        for (uint32_t i = 0; i < n->count; ++i)
          if (n->keys[i] == byte) return &n->children[i];
        return nullptr;
      }
      case k16: {
        auto* n = static_cast<Node16*>(node);
        const __m128i found =
            _mm_cmpeq_epi8(_mm_set1_epi8(static_cast<char>(byte)),
                           _mm_loadu_si128(reinterpret_cast<const __m128i*>(n->keys)));
        const int mask = _mm_movemask_epi8(found) & ((1 << n->count) - 1);
        return mask == 0 ? nullptr : &n->children[__builtin_ctz(static_cast<unsigned>(mask))];
      }
      case k48: {
        auto* n = static_cast<Node48*>(node);
        return n->index[byte] == 0 ? nullptr : &n->children[n->index[byte] - 1];
      }
      case k256: {
        auto* n = static_cast<Node256*>(node);
        return n->children[byte] == nullptr ? nullptr : &n->children[byte];
      }
    }
    return nullptr;
  }
  template <typename T>
  static void InsertSorted(T* n, uint8_t byte, void* child) {
    uint32_t i = n->count;
    for (; i > 0 && n->keys[i - 1] > byte; --i) {
      n->keys[i] = n->keys[i - 1];
      n->children[i] = n->children[i - 1];
    }
    n->keys[i] = byte;
    n->children[i] = child;
    ++n->count;
  }
  void AddChild(void** link, uint8_t byte, void* child) {
    Node* node = static_cast<Node*>(*link);
    switch (node->type) {
      case k4: {
        auto* n = static_cast<Node4*>(node);
        if (n->count < 4) return InsertSorted(n, byte, child);
        auto* big = New<Node16>(k16);
        CopyHead(big, n);
        std::memcpy(big->keys, n->keys, 4);
        std::memcpy(big->children, n->children, sizeof(n->children));
        *link = big;
        return InsertSorted(big, byte, child);
      }
      case k16: {
        auto* n = static_cast<Node16*>(node);
        if (n->count < 16) return InsertSorted(n, byte, child);
        auto* big = New<Node48>(k48);
        CopyHead(big, n);
        for (uint8_t i = 0; i < 16; ++i) {
          big->index[n->keys[i]] = static_cast<uint8_t>(i + 1);
          big->children[i] = n->children[i];
        }
        *link = big;
        return AddChild(link, byte, child);
      }
      case k48: {
        auto* n = static_cast<Node48*>(node);
        if (n->count < 48) {
          n->children[n->count] = child;
          n->index[byte] = static_cast<uint8_t>(++n->count);
          return;
        }
        auto* big = New<Node256>(k256);
        CopyHead(big, n);
        for (uint32_t b = 0; b < 256; ++b)
          if (n->index[b] != 0) big->children[b] = n->children[n->index[b] - 1];
        *link = big;
        return AddChild(link, byte, child);
      }
      case k256:
        static_cast<Node256*>(node)->children[byte] = child;
        ++node->count;
    }
  }
  Node4* NewBranch(Slice key, uint32_t depth, uint32_t prefix_bytes) {
    auto* n = New<Node4>(k4);
    n->prefix_bytes = prefix_bytes;
    for (uint32_t i = 0; i < std::min(prefix_bytes, kPrefixMax); ++i)
      n->prefix[i] = ByteAt(key, depth + i);
    return n;
  }
  void SplitLeaf(void** link, MemtableEntry* entry, uint32_t depth) {
    const Slice a = EntryOf(*link)->key(), b = entry->key();
    uint32_t same = depth;
    while (ByteAt(a, same) == ByteAt(b, same)) ++same;
    Node4* n = NewBranch(b, depth, same - depth);
    InsertSorted(n, ByteAt(a, same), *link);
    InsertSorted(n, ByteAt(b, same), Leaf(entry));
    *link = n;
  }
  void SplitPrefix(void** link, MemtableEntry* entry, uint32_t depth, uint32_t match) {
    Node* node = static_cast<Node*>(*link);
    const Slice full = MinKey(node);
    Node4* n = NewBranch(entry->key(), depth, match);
    InsertSorted(n, ByteAt(full, depth + match), node);
    InsertSorted(n, ByteAt(entry->key(), depth + match), Leaf(entry));
    node->prefix_bytes -= match + 1;
    for (uint32_t i = 0; i < std::min(node->prefix_bytes, kPrefixMax); ++i)
      node->prefix[i] = ByteAt(full, depth + match + 1 + i);
    *link = n;
  }
  template <typename F>
  bool WalkFrom(void* p, Slice from, uint32_t depth, bool bounded, const F& visit) {
    if (IsLeaf(p)) {
      MemtableEntry* e = EntryOf(p);
      return (bounded && e->key() < from) || visit(e);
    }
    Node* node = static_cast<Node*>(p);
    if (bounded) {
      const Slice full = MinKey(node);
      for (uint32_t i = 0; i < node->prefix_bytes && bounded; ++i) {
        const uint8_t a = ByteAt(full, depth + i), b = ByteAt(from, depth + i);
        if (a < b) return true;
        if (a > b) bounded = false;
      }
    }
    depth += node->prefix_bytes;
    const uint32_t first = bounded ? ByteAt(from, depth) : 0;
    const auto go = [&](uint32_t byte, void* child) {
      return byte < first || WalkFrom(child, from, depth + 1, bounded && byte == first, visit);
    };
    switch (node->type) {
      case k4: {
        auto* n = static_cast<Node4*>(node);
        for (uint32_t i = 0; i < n->count; ++i)
          if (!go(n->keys[i], n->children[i])) return false;
        return true;
      }
      case k16: {
        auto* n = static_cast<Node16*>(node);
        for (uint32_t i = 0; i < n->count; ++i)
          if (!go(n->keys[i], n->children[i])) return false;
        return true;
      }
      case k48: {
        auto* n = static_cast<Node48*>(node);
        for (uint32_t b = first; b < 256; ++b)
          if (n->index[b] != 0 && !go(b, n->children[n->index[b] - 1])) return false;
        return true;
      }
      case k256: {
        auto* n = static_cast<Node256*>(node);
        for (uint32_t b = first; b < 256; ++b)
          if (n->children[b] != nullptr && !go(b, n->children[b])) return false;
        return true;
      }
    }
    return true;
  }

  Arena& arena_;
  void* root_ = nullptr;
};

}  // namespace lava::bench
