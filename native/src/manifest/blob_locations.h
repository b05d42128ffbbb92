// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

namespace lava {

struct ValueFileMeta;

/// Where values of a blob file are now: the value file that holds those with keys in [lower,
/// upper).
struct BlobLocation {
  std::shared_ptr<ValueFileMeta> file;
  std::string lower, upper;
};

/// The locations of a blob file. Copies share one array until a copy changes, because each edit
/// copies many blob files and moves few.
/// Threads:    const methods may run concurrently, also on copies that share an array; a change
///             needs exclusive access to its own copy only.
/// Errors:     std::bad_alloc; nothing has changed then.
class BlobLocations {
 public:
  BlobLocations() = default;
  BlobLocations(std::initializer_list<BlobLocation> locations) {
    for (const BlobLocation& location : locations) push_back(location);
  }
  // Only one of several copies may use the free part of an array, so a copy has none.
  BlobLocations(const BlobLocations& other)
      : array_(other.array_), size_(other.size_), capacity_(other.size_) {}
  BlobLocations(BlobLocations&& other) noexcept { Swap(&other); }
  BlobLocations& operator=(BlobLocations other) noexcept {
    Swap(&other);
    return *this;
  }
  ~BlobLocations() = default;

  const BlobLocation* begin() const { return array_.get(); }
  const BlobLocation* end() const { return array_.get() + size_; }
  const BlobLocation* data() const { return array_.get(); }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const BlobLocation& operator[](size_t index) const { return array_[index]; }

  void push_back(BlobLocation location) {
    if (size_ == capacity_) Reallocate(std::max<size_t>(1, 2 * size_));
    array_[size_++] = std::move(location);
  }
  /// Returns the number of locations erased.
  template <typename Is>
  size_t EraseIf(const Is& is) {
    BlobLocations kept;
    const auto count = static_cast<size_t>(std::count_if(begin(), end(), is));
    if (count == 0) return 0;
    if (count < size_) kept.Reallocate(size_ - count);
    for (const BlobLocation& location : *this)
      if (!is(location)) kept.push_back(location);
    Swap(&kept);
    return count;
  }

 private:
  void Swap(BlobLocations* other) noexcept {
    array_.swap(other->array_);
    std::swap(size_, other->size_);
    std::swap(capacity_, other->capacity_);
  }
  void Reallocate(size_t capacity) {
    auto array = std::make_shared<BlobLocation[]>(capacity);
    std::copy(begin(), end(), array.get());
    array_ = std::move(array);
    capacity_ = capacity;
  }

  std::shared_ptr<BlobLocation[]> array_;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace lava
