// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/thread_annotations.h"
#include "memtable/arena.h"
#include "memtable/hash_index.h"
#include "memtable/memtable.h"
#include "memtable/rw_spin_lock.h"
#include "memtable/tree_index.h"

namespace lava {

/// Entries in an arena, found by key through a hash index, and in order through a tree. New entries
/// wait in pending_ until an ordered access sorts them and puts them into the tree. After the first
/// such access, many pending entries have the same effect. Point reads and writes, which are most
/// of what Flink does, never touch the tree, and entries that are erased early never reach it.
///
/// Invariants:
/// 1. An entry with kind != 0 is in the hash index, and either in pending_ or in the tree.
/// 2. An entry with kind == 0 is in pending_ only. Emptying pending_ frees it, unless sealed_.
/// 3. After sealed_ only Order() changes anything: pending_ and the tree, under the lock, once.
///    So point reads of a sealed run take no lock, and ordered reads none once ordered_ is set.
class MemTableImpl final : public MemTable, public std::enable_shared_from_this<MemTableImpl> {
 public:
  explicit MemTableImpl(MemoryCounter* counter);
  ~MemTableImpl() override;

  void Put(Slice key, uint32_t prefix_bytes, Slice value) override LAVA_EXCLUDES(lock_);
  void PutReference(Slice key, uint32_t prefix_bytes, Slice reference) override
      LAVA_EXCLUDES(lock_);
  void PutParts(Slice key, uint32_t prefix_bytes, Slice parts) override LAVA_EXCLUDES(lock_);
  void Delete(Slice key, uint32_t prefix_bytes) override LAVA_EXCLUDES(lock_);
  void Append(Slice key, uint32_t prefix_bytes, Slice segments) override LAVA_EXCLUDES(lock_);
  void AppendParts(Slice key, uint32_t prefix_bytes, Slice parts) override LAVA_EXCLUDES(lock_);
  Slice Tail(Slice key, size_t bytes) const override LAVA_EXCLUDES(lock_);
  void ReplaceTail(Slice key, size_t bytes, Slice parts) override LAVA_EXCLUDES(lock_);
  void DeletePrefix(Slice prefix) override LAVA_EXCLUDES(lock_);
  void DeleteRange(Slice begin, Slice end) override LAVA_EXCLUDES(lock_);
  void ErasePrefix(Slice prefix) override LAVA_EXCLUDES(lock_);
  void Erase(Slice key) override LAVA_EXCLUDES(lock_);

  void Get(Lookup* lookup) const override LAVA_EXCLUDES(lock_);
  void CopyRange(Slice from, bool exclusive, Slice upper, size_t count, bool keys_only,
                 Copied* out) const override LAVA_EXCLUDES(lock_);
  std::unique_ptr<RecordIterator> NewIterator(bool keys_only) const override;
  bool HasPrefixDelete(Slice prefix) const override LAVA_EXCLUDES(lock_);

  void Seal() override LAVA_EXCLUDES(lock_);
  bool sealed() const override { return sealed_.load(std::memory_order_acquire); }
  RangeTombstoneSet range_tombstones() const override LAVA_EXCLUDES(lock_);

  bool empty() const override { return record_count() == 0 && !has_range_tombstones(); }
  uint64_t record_count() const override { return Load(record_count_); }
  bool has_prefix_deletes() const override { return Load(prefix_delete_count_) != 0; }
  bool has_range_tombstones() const override { return Load(has_range_tombstones_) != 0; }
  void Attach(std::shared_ptr<const Attachment> attachment) override LAVA_EXCLUDES(lock_);
  std::shared_ptr<const Attachment> attachment() const override LAVA_EXCLUDES(lock_);
  uint64_t arena_bytes() const override { return Load(charged_bytes_); }
  uint64_t killed_bytes() const override { return Load(killed_bytes_); }
  uint64_t live_bytes() const override { return Load(live_bytes_); }

  /// Walks a sealed run in place. Order() must have been called before.
  TreeIndex::Position FirstSealed() const {
    AssertSettled();
    return tree_.First();
  }
  TreeIndex::Position SeekSealed(const SortKey& sort_key) const {
    AssertSettled();
    return tree_.Seek(sort_key);
  }
  TreeIndex::Position NextSealed(TreeIndex::Position p) const {
    AssertSettled();
    return tree_.Next(p);
  }
  void RecordAt(TreeIndex::Position position, Record* record) const;
  /// Puts pending entries into the tree.
  void Order() const LAVA_EXCLUDES(lock_);

 private:
  class Reading;
  enum class Verdict { kErase, kKeep, kEnd };
  class Writing;
  class Ordering;
  class FreeUnless;
  using Counter = std::atomic<uint64_t>;
  static uint64_t Load(const Counter& c) { return c.load(std::memory_order_relaxed); }
  // Counters are written under the lock only, so no read-modify-write instruction is needed.
  void Add(Counter* c, uint64_t n) LAVA_REQUIRES(lock_) {
    c->store(c->load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  // For use after Order(): nothing of a sealed run changes any more, so readers need no lock.
  void AssertSettled() const LAVA_ASSERT_SHARED_CAPABILITY(lock_) { LAVA_DCHECK(sealed()); }

  MemtableEntry* FindEntry(Slice key, bool prefix_delete, uint32_t* hash) LAVA_REQUIRES(lock_);
  const MemtableEntry* FindEntry(Slice key, bool prefix_delete) const LAVA_REQUIRES_SHARED(lock_);
  void NewEntry(uint32_t hash, Slice key, RecordKind kind, uint32_t prefix_bytes, Slice value)
      LAVA_REQUIRES(lock_);
  size_t InlineCapacity(const MemtableEntry& entry) const LAVA_REQUIRES_SHARED(lock_);
  // Bytes of the slot of an external value.
  size_t SlotBytes(const MemtableEntry& entry) const LAVA_REQUIRES_SHARED(lock_);
  void SetValue(MemtableEntry* entry, Slice value) LAVA_REQUIRES(lock_);
  void AppendValue(MemtableEntry* entry, size_t kept, Slice tail) LAVA_REQUIRES(lock_);
  void GrowPending() LAVA_REQUIRES(lock_);
  void OrderIfThereIsMemory() const LAVA_REQUIRES(lock_);
  void FreeExternal(MemtableEntry* entry) LAVA_REQUIRES(lock_);
  void EraseEntry(Arena::Ref ref) LAVA_REQUIRES(lock_);
  void ReadRecord(TreeIndex::Position position, Record* record) const LAVA_REQUIRES_SHARED(lock_);
  void CopyLocked(Slice from, bool exclusive, Slice upper, size_t count, bool keys_only,
                  Copied* out) const LAVA_REQUIRES_SHARED(lock_);
  template <typename Covered>
  void EraseRange(Slice begin, Slice end, const Covered& covered) LAVA_REQUIRES(lock_);
  bool CoveredByTombstone(Slice key, uint32_t prefix_bytes) const LAVA_REQUIRES_SHARED(lock_);
  void OrderLocked() const LAVA_REQUIRES(lock_);
  void UpdateCharge() const LAVA_REQUIRES(lock_);
  void ChargeTombstones() LAVA_REQUIRES(lock_);

  MemoryCounter* const counter_;
  mutable RwSpinLock lock_;
  std::atomic<bool> sealed_{false};
  mutable std::atomic<bool> ordered_{true};          // pending_ is empty
  Arena arena_ LAVA_GUARDED_BY(lock_);               // entries and values
  mutable Arena tree_arena_ LAVA_GUARDED_BY(lock_);  // nodes of tree_
  HashIndex hash_ LAVA_GUARDED_BY(lock_);
  mutable TreeIndex tree_ LAVA_GUARDED_BY(lock_);
  mutable std::vector<Arena::Ref> pending_ LAVA_GUARDED_BY(lock_);
  mutable uint64_t pending_charged_ LAVA_GUARDED_BY(lock_) = 0;
  mutable bool read_in_order_ LAVA_GUARDED_BY(lock_) = false;
  RangeTombstoneSet range_tombstones_ LAVA_GUARDED_BY(lock_);
  // Lengths of all prefix deletes that this run has had.
  std::set<uint32_t> prefix_delete_lengths_ LAVA_GUARDED_BY(lock_);
  // Memory of range_tombstones_ and prefix_delete_lengths_.
  uint64_t tombstones_charged_ LAVA_GUARDED_BY(lock_) = 0;

  void PutKind(RecordKind kind, Slice key, uint32_t prefix_bytes, Slice value) LAVA_EXCLUDES(lock_);
  void AppendKind(RecordKind append, Slice key, uint32_t prefix_bytes, Slice segments)
      LAVA_EXCLUDES(lock_);
  std::shared_ptr<const Attachment> attachment_ LAVA_GUARDED_BY(lock_);
  Counter record_count_{0}, prefix_delete_count_{0}, has_range_tombstones_{0};
  mutable Counter charged_bytes_{0};
  Counter killed_bytes_{0}, live_bytes_{0};
};

}  // namespace lava
