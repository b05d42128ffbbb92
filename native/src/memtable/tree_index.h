// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>

#include "memtable/entry.h"

namespace lava {

/// Keeps a memtable's entries in record order: a B+tree in an arena. A node knows the prefix that
/// all keys routed to it share, from the separators around it. Beside each reference it keeps the
/// four key bytes behind this prefix, so a search seldom reads an entry.
/// Threads:    const methods may run beside each other; a writer must be alone.
/// Ownership:  entries and nodes are in two arenas, which must outlive the tree. They are separate
///             so that a sealed run can be put in order while its entries are read without a lock.
class TreeIndex {
 public:
  TreeIndex(const Arena* entries, Arena* nodes) : entries_(*entries), nodes_(*nodes) {}

  /// The tree must not have an entry with the same sort key. Errors: std::bad_alloc; the entries
  /// in the tree have not changed then.
  void Insert(Arena::Ref entry);
  /// Removes the entry, which must be in the tree. Allocates nothing.
  void Erase(Arena::Ref entry);

  /// A position in the tree. Invalidated by Insert and Erase.
  struct Position {
    Arena::Ref leaf = Arena::kNull;
    uint32_t index = 0;
    bool valid() const { return leaf != Arena::kNull; }
  };
  Position First() const;
  /// The first entry with this sort key or a higher one.
  Position Seek(const SortKey& sort_key) const;
  Position Next(Position position) const;
  Arena::Ref At(Position position) const { return LeafAt(position.leaf)->refs[position.index]; }

 private:
  static constexpr uint32_t kFanout = 62;
  static constexpr uint32_t kDepthMax = 16;

  struct Node {
    uint16_t count = 0;
    bool is_leaf = false;
    uint8_t slot_class = 0;
    uint32_t shared_bytes = 0;  // prefix of all keys that are routed here
    uint32_t fragments[kFanout];
  };
  struct Leaf : Node {
    Arena::Ref previous = Arena::kNull, next = Arena::kNull;
    Arena::Ref refs[kFanout];
  };
  // Child i holds the keys from separators[i] (child 0: from the node's own lower bound) on.
  struct Inner : Node {
    Arena::Ref separators[kFanout];
    Arena::Ref children[kFanout];
  };
  struct Separator {
    uint32_t bytes;
    uint8_t slot_class;
    Slice key() const { return {reinterpret_cast<const char*>(this) + sizeof(Separator), bytes}; }
  };
  // The bounds of the keys routed to a node; nodes at an edge of the tree lack one or both.
  struct Fences {
    Slice low, high;
    bool has_low = false, has_high = false;
    uint32_t SharedBytes() const;
  };
  struct Path {
    struct Step {
      Arena::Ref node;
      uint32_t child;
      Fences fences;  // of this node
    };
    std::array<Step, kDepthMax> steps;
    uint32_t depth = 0;  // inner nodes above the leaf
    Arena::Ref leaf = Arena::kNull;
    Fences leaf_fences;
  };

  Node* NodeAt(Arena::Ref ref) { return reinterpret_cast<Node*>(nodes_.At(ref)); }
  const Node* NodeAt(Arena::Ref ref) const { return reinterpret_cast<const Node*>(nodes_.At(ref)); }
  Leaf* LeafAt(Arena::Ref ref) { return static_cast<Leaf*>(NodeAt(ref)); }
  const Leaf* LeafAt(Arena::Ref ref) const { return static_cast<const Leaf*>(NodeAt(ref)); }
  Inner* InnerAt(Arena::Ref ref) { return static_cast<Inner*>(NodeAt(ref)); }
  const Inner* InnerAt(Arena::Ref ref) const { return static_cast<const Inner*>(NodeAt(ref)); }
  Slice SeparatorAt(Arena::Ref ref) const {
    return reinterpret_cast<const Separator*>(nodes_.At(ref))->key();
  }

  template <typename T>
  Arena::Ref NewNode();
  Arena::Ref NewSeparator(Slice key);
  void FreeSeparator(Arena::Ref ref);

  uint32_t FindInLeaf(const Leaf& leaf, const SortKey& sort_key) const;
  uint32_t FindChild(const Inner& inner, Slice key) const;
  Fences ChildFences(const Inner& inner, uint32_t child, const Fences& own) const;
  void Descend(Slice key, Path* path) const;
  Arena::Ref FindLeaf(Slice key) const;

  void SetShared(Node* node, uint32_t shared_bytes);
  void InsertInLeaf(Leaf* leaf, uint32_t at, Arena::Ref entry);
  void MakeSpares(const Path& path);
  void SplitLeaf(Path* path, uint32_t at, Arena::Ref entry);
  void InsertChild(Path* path, uint32_t level, Arena::Ref separator, Arena::Ref child);
  void RemoveLeaf(const Path& path);
  void Refence(Slice key);

  const Arena& entries_;
  Arena& nodes_;
  Arena::Ref root_ = Arena::kNull;
  std::array<Arena::Ref, kDepthMax + 1> spares_{};  // inner nodes for splits
  uint32_t spare_count_ = 0;
  // The last leaf, for entries that are inserted in order.
  Arena::Ref last_leaf_ = Arena::kNull;
};

}  // namespace lava
