// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "memtable/tree_index.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

#include "base/check.h"
#include "lava/slice.h"
#include "memtable/arena.h"
#include "memtable/entry.h"

namespace lava {

namespace {

uint32_t SharedPrefix(Slice a, Slice b) {
  const size_t limit = std::min(a.size(), b.size());
  size_t n = 0;
  while (n < limit && a[n] == b[n]) ++n;
  return static_cast<uint32_t>(n);
}

// Four key bytes at the offset, big endian, padded with zeros. Unequal fragments have the order of
// their keys.
uint32_t FragmentOf(Slice key, uint32_t offset) {
  if (key.size() >= size_t{offset} + 4) {
    uint32_t word;
    std::memcpy(&word, key.data() + offset, 4);
    return __builtin_bswap32(word);
  }
  uint32_t word = 0;
  for (uint32_t i = 0; i < 4; ++i)
    word = word << 8 | (offset + i < key.size() ? static_cast<uint8_t>(key[offset + i]) : 0);
  return word;
}

// The first index in [begin, end) whose fragment is >= (kUpper: >) the given one.
template <bool kUpper>
uint32_t Bound(const uint32_t* fragments, uint32_t begin, uint32_t end, uint32_t fragment) {
  uint32_t size = end - begin;
  while (size > 0) {
    const uint32_t half = size / 2;
    const uint32_t f = fragments[begin + half];
    const bool right = kUpper ? f <= fragment : f < fragment;
    begin = right ? begin + half + 1 : begin;
    size = right ? size - half - 1 : half;
  }
  return begin;
}

template <typename T>
void InsertAt(T* array, uint32_t count, uint32_t at, T value) {
  std::memmove(array + at + 1, array + at, (count - at) * sizeof(T));
  array[at] = value;
}

template <typename T>
void RemoveAt(T* array, uint32_t count, uint32_t at) {
  std::memmove(array + at, array + at + 1, (count - at - 1) * sizeof(T));
}

}  // namespace

uint32_t TreeIndex::Fences::SharedBytes() const {
  return has_low && has_high ? SharedPrefix(low, high) : 0;
}

template <typename T>
Arena::Ref TreeIndex::NewNode() {
  uint8_t slot_class;
  const Arena::Ref ref = nodes_.Allocate(sizeof(T), &slot_class);
  T* node = new (nodes_.At(ref)) T;
  node->slot_class = slot_class;
  node->is_leaf = std::is_same_v<T, Leaf>;
  return ref;
}

Arena::Ref TreeIndex::NewSeparator(Slice key) {
  uint8_t slot_class;
  const Arena::Ref ref = nodes_.Allocate(sizeof(Separator) + key.size(), &slot_class);
  auto* separator = new (nodes_.At(ref)) Separator;
  separator->bytes = static_cast<uint32_t>(key.size());
  separator->slot_class = slot_class;
  std::memcpy(nodes_.At(ref) + sizeof(Separator), key.data(), key.size());
  return ref;
}

void TreeIndex::FreeSeparator(Arena::Ref ref) {
  nodes_.Free(ref, reinterpret_cast<const Separator*>(nodes_.At(ref))->slot_class);
}

uint32_t TreeIndex::FindInLeaf(const Leaf& leaf, const SortKey& sort_key) const {
  const uint32_t fragment = FragmentOf(sort_key.key, leaf.shared_bytes);
  uint32_t low = Bound<false>(leaf.fragments, 0, leaf.count, fragment);
  if (low == leaf.count || leaf.fragments[low] != fragment) return low;
  uint32_t high = Bound<true>(leaf.fragments, low, leaf.count, fragment);
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (Compare(SortKeyOf(*EntryAt(entries_, leaf.refs[middle])), sort_key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

uint32_t TreeIndex::FindChild(const Inner& inner, Slice key) const {
  const uint32_t fragment = FragmentOf(key, inner.shared_bytes);
  uint32_t low = Bound<false>(inner.fragments, 1, inner.count, fragment);
  if (low < inner.count && inner.fragments[low] == fragment) {
    uint32_t high = Bound<true>(inner.fragments, low, inner.count, fragment);
    while (low < high) {
      const uint32_t middle = (low + high) / 2;
      if (SeparatorAt(inner.separators[middle]) <= key)
        low = middle + 1;
      else
        high = middle;
    }
  }
  return low - 1;
}

TreeIndex::Fences TreeIndex::ChildFences(const Inner& inner, uint32_t child,
                                         const Fences& own) const {
  Fences fences = own;
  if (child > 0) {
    fences.low = SeparatorAt(inner.separators[child]);
    fences.has_low = true;
  }
  if (child + 1 < inner.count) {
    fences.high = SeparatorAt(inner.separators[child + 1]);
    fences.has_high = true;
  }
  return fences;
}

void TreeIndex::Descend(Slice key, Path* path) const {
  Arena::Ref ref = root_;
  Fences fences;
  while (!NodeAt(ref)->is_leaf) {
    const Inner& inner = *InnerAt(ref);
    const uint32_t child = FindChild(inner, key);
    LAVA_CHECK(path->depth < kDepthMax);  // with fanout 62, more than memory can hold
    path->steps[path->depth++] = {ref, child, fences};
    fences = ChildFences(inner, child, fences);
    ref = inner.children[child];
  }
  path->leaf = ref;
  path->leaf_fences = fences;
}

Arena::Ref TreeIndex::FindLeaf(Slice key) const {
  Arena::Ref ref = root_;
  while (!NodeAt(ref)->is_leaf) {
    const Inner& inner = *InnerAt(ref);
    ref = inner.children[FindChild(inner, key)];
  }
  return ref;
}

void TreeIndex::SetShared(Node* node, uint32_t shared_bytes) {
  node->shared_bytes = shared_bytes;
  if (node->is_leaf) {
    const auto* leaf = static_cast<Leaf*>(node);
    for (uint32_t i = 0; i < node->count; ++i)
      node->fragments[i] = FragmentOf(EntryAt(entries_, leaf->refs[i])->key(), shared_bytes);
  } else {
    const auto* inner = static_cast<Inner*>(node);
    for (uint32_t i = 1; i < node->count; ++i)
      node->fragments[i] = FragmentOf(SeparatorAt(inner->separators[i]), shared_bytes);
  }
}

void TreeIndex::InsertInLeaf(Leaf* leaf, uint32_t at, Arena::Ref entry) {
  LAVA_DCHECK(leaf->count < kFanout && at <= leaf->count);
  const uint32_t fragment = FragmentOf(EntryAt(entries_, entry)->key(), leaf->shared_bytes);
  InsertAt(leaf->fragments, leaf->count, at, fragment);
  InsertAt(leaf->refs, leaf->count, at, entry);
  ++leaf->count;
}

void TreeIndex::Insert(Arena::Ref entry) {
  const SortKey sort_key = SortKeyOf(*EntryAt(entries_, entry));
  if (root_ == Arena::kNull) root_ = last_leaf_ = NewNode<Leaf>();
  Leaf* last = LeafAt(last_leaf_);
  if (last->count > 0 && last->count < kFanout &&
      Compare(SortKeyOf(*EntryAt(entries_, last->refs[last->count - 1])), sort_key) < 0) {
    return InsertInLeaf(last, last->count, entry);
  }
  Leaf* leaf = LeafAt(FindLeaf(sort_key.key));
  const uint32_t at = FindInLeaf(*leaf, sort_key);
  if (leaf->count < kFanout) return InsertInLeaf(leaf, at, entry);
  Path path;
  Descend(sort_key.key, &path);
  SplitLeaf(&path, at, entry);
}

// Allocates the inner nodes that a split at the path's end needs: one for each full node above it,
// and one for a new root. Nodes that are not used remain for the next split.
void TreeIndex::MakeSpares(const Path& path) {
  uint32_t needed = 0, level = path.depth;
  while (level > 0 && InnerAt(path.steps[level - 1].node)->count == kFanout) {
    ++needed;
    --level;
  }
  if (level == 0) ++needed;
  while (spare_count_ < needed) {
    spares_[spare_count_] = NewNode<Inner>();
    ++spare_count_;
  }
}

// Splits the full leaf at the path's end, and puts the entry, which belongs at index `at`, into one
// of the halves. Entries that come in order leave full leaves behind. All memory is allocated
// before anything changes.
void TreeIndex::SplitLeaf(Path* path, uint32_t at, Arena::Ref entry) {
  MakeSpares(*path);
  const Arena::Ref right_ref = NewNode<Leaf>();
  Leaf* left = LeafAt(path->leaf);
  Leaf* right = LeafAt(right_ref);
  const auto key_at = [&](uint32_t i) { return EntryAt(entries_, left->refs[i])->key(); };
  const Slice key = EntryAt(entries_, entry)->key();
  uint32_t split = at == kFanout ? kFanout : kFanout / 2;
  // A prefix delete and a point record of one key must not be separated, because separators are
  // keys only.
  Slice right_key = split == kFanout ? key : key_at(split);
  if (key_at(split - 1) == right_key) right_key = key_at(--split);
  const Slice left_key = key_at(split - 1);
  const Arena::Ref separator =
      NewSeparator(right_key.substr(0, SharedPrefix(left_key, right_key) + 1));

  right->count = static_cast<uint16_t>(kFanout - split);
  std::memcpy(right->refs, left->refs + split, right->count * sizeof(Arena::Ref));
  left->count = static_cast<uint16_t>(split);
  right->previous = path->leaf;
  right->next = left->next;
  if (left->next != Arena::kNull) LeafAt(left->next)->previous = right_ref;
  left->next = right_ref;
  if (last_leaf_ == path->leaf) last_leaf_ = right_ref;

  Fences left_fences = path->leaf_fences, right_fences = path->leaf_fences;
  left_fences.high = right_fences.low = SeparatorAt(separator);
  left_fences.has_high = right_fences.has_low = true;
  if (left_fences.SharedBytes() != left->shared_bytes) SetShared(left, left_fences.SharedBytes());
  SetShared(right, right_fences.SharedBytes());

  Leaf* target = key < SeparatorAt(separator) ? left : right;
  InsertInLeaf(target, FindInLeaf(*target, SortKeyOf(*EntryAt(entries_, entry))), entry);
  InsertChild(path, path->depth, separator, right_ref);
}

// Puts a new child into the parent at this level, behind the child that the path takes.
void TreeIndex::InsertChild(Path* path, uint32_t level, Arena::Ref separator, Arena::Ref child) {
  if (level == 0) {
    const Arena::Ref ref = spares_[--spare_count_];
    Inner* root = InnerAt(ref);
    root->count = 2;
    root->children[0] = root_;
    root->children[1] = child;
    root->separators[0] = Arena::kNull;
    root->separators[1] = separator;
    root_ = ref;
    return SetShared(root, 0);
  }
  const Path::Step& step = path->steps[level - 1];
  Inner* inner = InnerAt(step.node);
  uint32_t at = step.child + 1;
  if (inner->count == kFanout) {
    const Arena::Ref right_ref = spares_[--spare_count_];
    Inner* right = InnerAt(right_ref);
    const uint32_t split = at == kFanout ? kFanout - 1 : kFanout / 2;
    const Arena::Ref middle = inner->separators[split];
    right->count = static_cast<uint16_t>(kFanout - split);
    std::memcpy(right->separators, inner->separators + split, right->count * sizeof(Arena::Ref));
    std::memcpy(right->children, inner->children + split, right->count * sizeof(Arena::Ref));
    right->separators[0] = Arena::kNull;
    inner->count = static_cast<uint16_t>(split);
    Fences left_fences = step.fences, right_fences = step.fences;
    left_fences.high = right_fences.low = SeparatorAt(middle);
    left_fences.has_high = right_fences.has_low = true;
    SetShared(inner, left_fences.SharedBytes());
    SetShared(right, right_fences.SharedBytes());
    InsertChild(path, level - 1, middle, right_ref);
    if (at > split) {
      inner = right;
      at -= split;
    }
  }
  InsertAt(inner->fragments, inner->count, at,
           FragmentOf(SeparatorAt(separator), inner->shared_bytes));
  InsertAt(inner->separators, inner->count, at, separator);
  InsertAt(inner->children, inner->count, at, child);
  ++inner->count;
}

void TreeIndex::Erase(Arena::Ref entry) {
  const SortKey sort_key = SortKeyOf(*EntryAt(entries_, entry));
  Leaf* leaf = LeafAt(FindLeaf(sort_key.key));
  const uint32_t at = FindInLeaf(*leaf, sort_key);
  LAVA_DCHECK(at < leaf->count && leaf->refs[at] == entry);
  RemoveAt(leaf->fragments, leaf->count, at);
  RemoveAt(leaf->refs, leaf->count, at);
  if (--leaf->count > 0) return;
  Path path;
  Descend(sort_key.key, &path);
  RemoveLeaf(path);
}

// Removes the empty leaf at the path's end; a neighbour takes over its range of keys. Allocates
// nothing.
void TreeIndex::RemoveLeaf(const Path& path) {
  const Slice low = path.leaf_fences.has_low ? path.leaf_fences.low : Slice();
  Leaf* leaf = LeafAt(path.leaf);
  if (leaf->previous != Arena::kNull) LeafAt(leaf->previous)->next = leaf->next;
  if (leaf->next != Arena::kNull) LeafAt(leaf->next)->previous = leaf->previous;
  if (last_leaf_ == path.leaf) last_leaf_ = leaf->previous;
  nodes_.Free(path.leaf, leaf->slot_class);

  uint32_t level = path.depth;
  while (level > 0 && InnerAt(path.steps[level - 1].node)->count == 1) {
    const Arena::Ref empty = path.steps[--level].node;
    nodes_.Free(empty, NodeAt(empty)->slot_class);
  }
  if (level == 0) {
    root_ = last_leaf_ = Arena::kNull;
    return;
  }
  Inner* inner = InnerAt(path.steps[level - 1].node);
  const uint32_t child = path.steps[level - 1].child;
  const Arena::Ref separator = inner->separators[std::max(child, 1u)];
  RemoveAt(inner->fragments, inner->count, std::max(child, 1u));
  RemoveAt(inner->separators, inner->count, std::max(child, 1u));
  RemoveAt(inner->children, inner->count, child);
  --inner->count;
  while (!NodeAt(root_)->is_leaf && NodeAt(root_)->count == 1) {
    const Arena::Ref old = root_;
    root_ = InnerAt(old)->children[0];
    nodes_.Free(old, NodeAt(old)->slot_class);
  }
  Refence(low);
  FreeSeparator(separator);  // low may point into it
}

// Corrects shared_bytes on the way to the key, whose nodes now cover more keys.
void TreeIndex::Refence(Slice key) {
  Arena::Ref ref = root_;
  Fences fences;
  for (;;) {
    Node* node = NodeAt(ref);
    if (node->shared_bytes != fences.SharedBytes()) SetShared(node, fences.SharedBytes());
    if (node->is_leaf) return;
    const Inner& inner = *InnerAt(ref);
    const uint32_t child = FindChild(inner, key);
    fences = ChildFences(inner, child, fences);
    ref = inner.children[child];
  }
}

TreeIndex::Position TreeIndex::First() const {
  if (root_ == Arena::kNull) return {};
  return {FindLeaf(Slice()), 0};
}

TreeIndex::Position TreeIndex::Seek(const SortKey& sort_key) const {
  if (root_ == Arena::kNull) return {};
  const Arena::Ref ref = FindLeaf(sort_key.key);
  const Leaf& leaf = *LeafAt(ref);
  const uint32_t at = FindInLeaf(leaf, sort_key);
  if (at < leaf.count) return {ref, at};
  return {leaf.next, 0};
}

TreeIndex::Position TreeIndex::Next(Position position) const {
  const Leaf& leaf = *LeafAt(position.leaf);
  if (++position.index < leaf.count) return position;
  return {leaf.next, 0};
}

}  // namespace lava
