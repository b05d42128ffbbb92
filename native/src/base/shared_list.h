// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

namespace lava {

/// A sequence whose copies share the chunks that no copy has changed since: a copy costs one
/// reference for each chunk of kChunkItems items, and a change copies only its own chunk (a
/// persistent vector, for immutable versions of a large set of files).
/// Threads:    const methods may run concurrently, also on copies that share chunks; a change needs
///             exclusive access to its own copy only.
/// Errors:     std::bad_alloc; the list may then only be assigned to or destroyed.
template <typename T, size_t kChunkItems = 64>
class SharedList {
  static_assert(kChunkItems >= 4);

  struct Chunk {
    std::vector<T> items;
    mutable std::atomic<uint32_t> references{0};
  };

  /// A counted reference to a chunk.
  class ChunkRef {
   public:
    ChunkRef() = default;
    explicit ChunkRef(Chunk* chunk) : chunk_(chunk) {
      chunk_->references.fetch_add(1, std::memory_order_relaxed);
    }
    ChunkRef(const ChunkRef& other) : ChunkRef(other.chunk_) {}
    ChunkRef(ChunkRef&& other) noexcept : chunk_(std::exchange(other.chunk_, nullptr)) {}
    ChunkRef& operator=(ChunkRef other) noexcept {
      std::swap(chunk_, other.chunk_);
      return *this;
    }
    ~ChunkRef() {
      if (chunk_ != nullptr && chunk_->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
        delete chunk_;
    }
    const std::vector<T>& items() const { return chunk_->items; }
    const Chunk* get() const { return chunk_; }
    /// The items for modification; copies the chunk first if it is shared. The acquire pairs with
    /// the release of a former holder, which may have read the items.
    std::vector<T>& Own() {
      if (chunk_->references.load(std::memory_order_acquire) != 1) {
        auto copy = ChunkRef(new Chunk);
        copy.chunk_->items.reserve(kChunkItems + 1);
        copy.chunk_->items = chunk_->items;
        *this = std::move(copy);
      }
      return chunk_->items;
    }

   private:
    Chunk* chunk_ = nullptr;
  };

 public:
  using value_type = T;

  /// A position in a list. A change of the list invalidates it; changes of copies do not.
  class const_iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    const_iterator() = default;
    reference operator*() const { return list_->chunks_[chunk_].items()[item_]; }
    pointer operator->() const { return &**this; }
    reference operator[](difference_type n) const { return *(*this + n); }
    const_iterator& operator++() {
      if (++item_ == list_->chunks_[chunk_].items().size()) {
        ++chunk_;
        item_ = 0;
      }
      return *this;
    }
    const_iterator operator++(int) {
      const_iterator before = *this;
      ++*this;
      return before;
    }
    const_iterator& operator--() { return *this += -1; }
    const_iterator operator--(int) {
      const_iterator before = *this;
      --*this;
      return before;
    }
    const_iterator& operator+=(difference_type n) {
      return *this = list_->At(static_cast<size_t>(static_cast<difference_type>(index()) + n));
    }
    const_iterator& operator-=(difference_type n) { return *this += -n; }
    friend const_iterator operator+(const_iterator it, difference_type n) { return it += n; }
    friend const_iterator operator+(difference_type n, const_iterator it) { return it += n; }
    friend const_iterator operator-(const_iterator it, difference_type n) { return it -= n; }
    friend difference_type operator-(const const_iterator& a, const const_iterator& b) {
      return static_cast<difference_type>(a.index()) - static_cast<difference_type>(b.index());
    }
    bool operator==(const const_iterator& other) const {
      return chunk_ == other.chunk_ && item_ == other.item_;
    }
    auto operator<=>(const const_iterator& other) const {
      return chunk_ != other.chunk_ ? chunk_ <=> other.chunk_ : item_ <=> other.item_;
    }
    const SharedList* list() const { return list_; }
    /// Position in the list, from 0.
    size_t index() const { return (chunk_ == 0 ? 0 : list_->ends_[chunk_ - 1]) + item_; }

   private:
    friend class SharedList;
    const_iterator(const SharedList* list, size_t chunk, size_t item)
        : list_(list), chunk_(chunk), item_(item) {}

    const SharedList* list_ = nullptr;
    size_t chunk_ = 0, item_ = 0;
  };
  using iterator = const_iterator;

  SharedList() = default;
  SharedList(std::initializer_list<T> items) {
    for (const T& item : items) push_back(item);
  }

  size_t size() const { return ends_.empty() ? 0 : ends_.back(); }
  bool empty() const { return ends_.empty(); }
  const_iterator begin() const { return {this, 0, 0}; }
  const_iterator end() const { return {this, chunks_.size(), 0}; }
  const T& operator[](size_t index) const { return *At(index); }
  const T& front() const { return chunks_.front().items().front(); }
  const T& back() const { return chunks_.back().items().back(); }

  /// The first item for which before() is false; before() must be true for all items in front of it
  /// and false behind it. std::partition_point that searches the chunks first.
  template <typename Before>
  const_iterator PartitionPoint(const Before& before) const {
    const auto chunk =
        std::partition_point(chunks_.begin(), chunks_.end(),
                             [&](const ChunkRef& ref) { return before(ref.items().back()); });
    if (chunk == chunks_.end()) return end();
    const std::vector<T>& items = chunk->items();
    const auto item = std::partition_point(items.begin(), items.end(), before);
    return {this, static_cast<size_t>(chunk - chunks_.begin()),
            static_cast<size_t>(item - items.begin())};
  }

  /// The same within [first, last). The whole list must be partitioned, not only this range.
  template <typename Before>
  const_iterator PartitionPoint(const_iterator first, const_iterator last,
                                const Before& before) const {
    return std::clamp(PartitionPoint(before), first, last);
  }

  /// Calls visit(item) for each item of a chunk that the lists do not share. If `before` is an
  /// earlier copy of this list, these include all items that were added or changed since.
  template <typename Visit>
  void ForEachUnshared(const SharedList& before, const Visit& visit) const {
    std::vector<const Chunk*> shared;
    shared.reserve(before.chunks_.size());
    for (const ChunkRef& ref : before.chunks_) shared.push_back(ref.get());
    std::sort(shared.begin(), shared.end());
    for (const ChunkRef& ref : chunks_) {
      if (std::binary_search(shared.begin(), shared.end(), ref.get())) continue;
      for (const T& item : ref.items()) visit(item);
    }
  }

  /// Inserts the item before `at`.
  void insert(const_iterator at, T item) {
    if (chunks_.empty()) {
      chunks_.push_back(ChunkRef(new Chunk));
      ends_.push_back(0);
      at = {this, 0, 0};
    } else if (at.chunk_ > 0 && at.item_ == 0) {
      at = {this, at.chunk_ - 1, chunks_[at.chunk_ - 1].items().size()};
    }
    std::vector<T>& items = chunks_[at.chunk_].Own();
    items.insert(items.begin() + static_cast<ptrdiff_t>(at.item_), std::move(item));
    if (items.size() > kChunkItems) Split(at.chunk_, at.item_ + 1 == items.size());
    Count(at.chunk_);
  }
  void push_back(T item) { insert(end(), std::move(item)); }
  /// Returns the new position of the item that followed `at`.
  const_iterator erase(const_iterator at) {
    const size_t index = at.index();
    std::vector<T>& items = chunks_[at.chunk_].Own();
    items.erase(items.begin() + static_cast<ptrdiff_t>(at.item_));
    size_t chunk = at.chunk_;
    if (items.empty()) {
      chunks_.erase(chunks_.begin() + static_cast<ptrdiff_t>(chunk));
      ends_.pop_back();
    } else if (items.size() < kChunkItems / 4) {
      chunk = Merge(chunk);
    }
    Count(chunk);
    return At(index);
  }
  /// The item at `at` for modification in place.
  T& Mutable(const_iterator at) { return chunks_[at.chunk_].Own()[at.item_]; }
  void clear() {
    chunks_.clear();
    ends_.clear();
  }

  /// Number of chunks, for tests.
  size_t chunk_count() const { return chunks_.size(); }

 private:
  const_iterator At(size_t index) const {
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), index);
    const auto chunk = static_cast<size_t>(end - ends_.begin());
    return {this, chunk, index - (chunk == 0 ? 0 : ends_[chunk - 1])};
  }
  // Splits a chunk in half; after an append to the last chunk only the new item moves, so that
  // appending leaves full chunks.
  void Split(size_t chunk, bool at_end) {
    auto next = ChunkRef(new Chunk);
    std::vector<T>& to = next.Own();
    to.reserve(kChunkItems + 1);
    std::vector<T>& from = chunks_[chunk].Own();
    const size_t kept = at_end && chunk + 1 == chunks_.size() ? kChunkItems : from.size() / 2;
    const auto first = from.begin() + static_cast<ptrdiff_t>(kept);
    to.insert(to.end(), std::make_move_iterator(first), std::make_move_iterator(from.end()));
    from.erase(first, from.end());
    chunks_.insert(chunks_.begin() + static_cast<ptrdiff_t>(chunk) + 1, std::move(next));
    ends_.push_back(0);
  }
  // Merges a chunk with a neighbour if both fit into one. Returns the first chunk that changed.
  size_t Merge(size_t chunk) {
    const auto size = [this](size_t n) { return chunks_[n].items().size(); };
    size_t left = chunk;
    if (chunk > 0 && size(chunk - 1) + size(chunk) <= kChunkItems)
      left = chunk - 1;
    else if (chunk + 1 == chunks_.size() || size(chunk) + size(chunk + 1) > kChunkItems)
      return chunk;
    const std::vector<T>& from = chunks_[left + 1].items();
    std::vector<T>& to = chunks_[left].Own();
    to.insert(to.end(), from.begin(), from.end());
    chunks_.erase(chunks_.begin() + static_cast<ptrdiff_t>(left) + 1);
    ends_.pop_back();
    return left;
  }
  // Recomputes ends_ from this chunk on.
  void Count(size_t chunk) {
    size_t end = chunk == 0 ? 0 : ends_[chunk - 1];
    for (; chunk < chunks_.size(); ++chunk) ends_[chunk] = end += chunks_[chunk].items().size();
  }

  std::vector<ChunkRef> chunks_;  // none is empty
  std::vector<size_t> ends_;      // number of items up to the end of each chunk
};

}  // namespace lava
