// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <utility>

#include "base/check.h"
#include "base/shared_list.h"

namespace lava {

/// A sorted map whose copies share unchanged chunks; see SharedList, also for threads and errors.
template <typename Key, typename Value>
class SharedMap {
 public:
  using value_type = std::pair<Key, Value>;
  using const_iterator = typename SharedList<value_type>::const_iterator;
  using iterator = const_iterator;

  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  const_iterator begin() const { return items_.begin(); }
  const_iterator end() const { return items_.end(); }
  const_iterator lower_bound(const Key& key) const {
    return items_.PartitionPoint([&key](const value_type& item) { return item.first < key; });
  }
  const_iterator find(const Key& key) const {
    const const_iterator at = lower_bound(key);
    return at != end() && at->first == key ? at : end();
  }
  bool contains(const Key& key) const { return find(key) != end(); }
  /// The value at the key, which must exist.
  const Value& at(const Key& key) const {
    const const_iterator found = find(key);
    LAVA_CHECK(found != end());
    return found->second;
  }

  /// Calls visit(item) for each item that may differ from `before`, an earlier copy of this map.
  /// Items that were erased since are not visited.
  template <typename Visit>
  void ForEachUnshared(const SharedMap& before, const Visit& visit) const {
    items_.ForEachUnshared(before.items_, visit);
  }

  /// The value at the key for modification; created if there is none.
  Value& operator[](const Key& key) { return *emplace(key, Value()).first; }
  /// Inserts the value unless the key exists. Returns the key's value for modification, and whether
  /// it was inserted.
  std::pair<Value*, bool> emplace(const Key& key, Value value) {
    const_iterator at = lower_bound(key);
    const bool is_new = at == end() || at->first != key;
    if (is_new) {
      const size_t index = at.index();
      items_.insert(at, value_type(key, std::move(value)));
      at = items_.begin() + static_cast<ptrdiff_t>(index);
    }
    return {&items_.Mutable(at).second, is_new};
  }
  /// The value at `at` for modification.
  Value& Mutable(const_iterator at) { return items_.Mutable(at).second; }
  const_iterator erase(const_iterator at) { return items_.erase(at); }
  /// Returns the number of items erased.
  size_t erase(const Key& key) {
    const const_iterator at = find(key);
    if (at == end()) return 0;
    items_.erase(at);
    return 1;
  }
  void clear() { items_.clear(); }

 private:
  SharedList<value_type> items_;
};

}  // namespace lava
