// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "memtable/memtable_impl.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/lookup.h"
#include "base/record.h"
#include "base/thread_annotations.h"
#include "base/value_reference.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "memory/memory_counter.h"
#include "memtable/arena.h"
#include "memtable/entry.h"
#include "memtable/key_sort.h"
#include "memtable/memtable_iterator.h"

namespace lava {

namespace {

// Values up to this size are stored in their entry, larger ones in a slot of their own.
constexpr size_t kInlineValueBytesMax = 1024;
// Every entry has space for the slot of an external value.
constexpr size_t kInlineBytesMin = sizeof(MemtableEntry::ValueSlot);
// Once a run has been read in order, at most this many new entries wait for the next ordered read,
// which limits its cost. A run that is never read in order is sorted only by its flush.
constexpr size_t kPendingMax = size_t{16} << 10;
// Memory of a number in a std::set: its node and the allocator's overhead.
constexpr uint64_t kLengthNodeBytes = 64;

// Whether a slot should be replaced by a smaller one.
bool IsMuchTooLarge(size_t slot_bytes, size_t value_bytes) {
  return slot_bytes > value_bytes * 4 + 64;
}

// Whether a record of this kind is or may be a list.
bool IsList(RecordKind kind) {
  return kind == RecordKind::kPut || IsAppend(kind) || HasParts(kind);
}

}  // namespace

// Takes no lock of a sealed run, since only its pending_ and tree may still change.
class LAVA_SCOPED_CAPABILITY MemTableImpl::Reading {
 public:
  explicit Reading(const MemTableImpl& table) LAVA_ACQUIRE_SHARED(table.lock_)
      : lock_(table.sealed() ? nullptr : &table.lock_) {
    if (lock_ != nullptr) lock_->LockShared();
  }
  ~Reading() LAVA_RELEASE() {
    if (lock_ != nullptr) lock_->UnlockShared();
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

 private:
  RwSpinLock* const lock_;
};

// Frees a slot unless it is kept.
class MemTableImpl::FreeUnless {
 public:
  FreeUnless(Arena* arena, Arena::Ref ref, uint8_t slot_class)
      : arena_(arena), ref_(ref), slot_class_(slot_class) {}
  ~FreeUnless() {
    if (arena_ != nullptr) arena_->Free(ref_, slot_class_);
  }
  FreeUnless(const FreeUnless&) = delete;
  FreeUnless& operator=(const FreeUnless&) = delete;
  void Keep() { arena_ = nullptr; }

 private:
  Arena* arena_;
  const Arena::Ref ref_;
  const uint8_t slot_class_;
};

// Lock for a reader that puts entries in order.
class LAVA_SCOPED_CAPABILITY MemTableImpl::Ordering {
 public:
  explicit Ordering(const MemTableImpl& table) LAVA_ACQUIRE(table.lock_) : table_(table) {
    table_.lock_.Lock();
  }
  ~Ordering() LAVA_RELEASE() {
    table_.UpdateCharge();
    table_.lock_.Unlock();
  }
  Ordering(const Ordering&) = delete;
  Ordering& operator=(const Ordering&) = delete;

 private:
  const MemTableImpl& table_;
};

class LAVA_SCOPED_CAPABILITY MemTableImpl::Writing {
 public:
  explicit Writing(const MemTableImpl& table) LAVA_ACQUIRE(table.lock_) : table_(table) {
    LAVA_DCHECK(!table.sealed());
    table_.lock_.Lock();
  }
  ~Writing() LAVA_RELEASE() {
    table_.UpdateCharge();
    table_.lock_.Unlock();
  }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;

 private:
  const MemTableImpl& table_;
};

std::shared_ptr<MemTable> MemTable::Create(MemoryCounter* counter) {
  return std::make_shared<MemTableImpl>(counter);
}

MemTableImpl::MemTableImpl(MemoryCounter* counter)
    : counter_(counter),
      arena_(counter),
      tree_arena_(counter),
      hash_(counter),
      tree_(&arena_, &tree_arena_) {}

MemTableImpl::~MemTableImpl() { counter_->Release(pending_charged_ + tombstones_charged_); }

void MemTableImpl::UpdateCharge() const {
  charged_bytes_.store(arena_.charged_bytes() + tree_arena_.charged_bytes() +
                           hash_.charged_bytes() + pending_charged_ + tombstones_charged_,
                       std::memory_order_relaxed);
}

const MemtableEntry* MemTableImpl::FindEntry(Slice key, bool prefix_delete) const {
  const uint32_t hash = HashIndex::HashOf(key, prefix_delete);
  const Arena::Ref ref = hash_.Find(arena_, hash, key, prefix_delete);
  return ref == Arena::kNull ? nullptr : EntryAt(arena_, ref);
}

MemtableEntry* MemTableImpl::FindEntry(Slice key, bool prefix_delete, uint32_t* hash) {
  *hash = HashIndex::HashOf(key, prefix_delete);
  const Arena::Ref ref = hash_.Find(arena_, *hash, key, prefix_delete);
  return ref == Arena::kNull ? nullptr : EntryAt(arena_, ref);
}

void MemTableImpl::NewEntry(uint32_t hash, Slice key, RecordKind kind, uint32_t prefix_bytes,
                            Slice value) {
  static_assert(kKeyBytesMax + 64 < (1u << 24));
  LAVA_DCHECK(prefix_bytes <= key.size() && key.size() < (1u << 24));
  // All memory is allocated before anything changes.
  hash_.ReserveOne();
  if (pending_.size() == pending_.capacity()) GrowPending();
  size_t capacity = kInlineBytesMin;
  if (value.size() <= kInlineValueBytesMax &&
      sizeof(MemtableEntry) + key.size() + value.size() <= Arena::kSlotBytesMax) {
    capacity = std::max(capacity, value.size());
  }
  uint8_t slot_class;
  const Arena::Ref ref =
      arena_.Allocate(sizeof(MemtableEntry) + key.size() + capacity, &slot_class);
  auto* entry = new (arena_.At(ref)) MemtableEntry;
  entry->value_bytes = 0;
  entry->key_word = static_cast<uint32_t>(key.size() << 8) | static_cast<uint32_t>(kind);
  entry->prefix_word = prefix_bytes << 8 | slot_class;
  std::memcpy(entry->data(), key.data(), key.size());
  if (value.size() > capacity) {
    FreeUnless guard(&arena_, ref, slot_class);
    SetValue(entry, value);
    guard.Keep();
  } else {
    SetValue(entry, value);
  }
  hash_.Insert(hash, ref);
  pending_.push_back(ref);
  ordered_.store(false, std::memory_order_relaxed);
  Add(&record_count_, 1);
  Add(&live_bytes_, key.size());
  if (read_in_order_ && pending_.size() >= kPendingMax) OrderIfThereIsMemory();
}

void MemTableImpl::GrowPending() {
  const size_t grown = std::max<size_t>(64, pending_.capacity() * 2);
  ScopedCharge charge(counter_, grown * sizeof(Arena::Ref));
  pending_.reserve(grown);
  charge.Keep();
  counter_->Release(pending_charged_);
  pending_charged_ = grown * sizeof(Arena::Ref);
}

// Entries that could not be put in order stay pending until the next ordered read.
void MemTableImpl::OrderIfThereIsMemory() const {
  try {
    OrderLocked();
  } catch (const std::bad_alloc&) {
  }
}

size_t MemTableImpl::InlineCapacity(const MemtableEntry& entry) const {
  if (entry.slot_class() == Arena::kOwnChunk) return kInlineBytesMin;
  return arena_.SlotBytes(Arena::kNull, entry.slot_class()) - sizeof(MemtableEntry) -
         entry.key_bytes();
}

size_t MemTableImpl::SlotBytes(const MemtableEntry& entry) const {
  const MemtableEntry::ValueSlot slot = entry.value_slot();
  return arena_.SlotBytes(slot.ref, static_cast<uint8_t>(slot.slot_class));
}

void MemTableImpl::FreeExternal(MemtableEntry* entry) {
  if (!entry->external()) return;
  const MemtableEntry::ValueSlot slot = entry->value_slot();
  arena_.Free(slot.ref, static_cast<uint8_t>(slot.slot_class));
  entry->set_external(false);
}

// Replaces the value. Counts live bytes, but not killed ones. Memory is allocated before anything
// changes.
void MemTableImpl::SetValue(MemtableEntry* entry, Slice value) {
  const size_t old_bytes = entry->value_bytes;
  if (value.size() <= InlineCapacity(*entry)) {
    FreeExternal(entry);
    if (!value.empty()) std::memcpy(entry->value_area(), value.data(), value.size());
  } else {
    const size_t bytes = entry->external() ? SlotBytes(*entry) : 0;
    if (bytes < value.size() || IsMuchTooLarge(bytes, value.size())) {
      uint8_t slot_class;
      const Arena::Ref ref = arena_.Allocate(value.size(), &slot_class);
      FreeExternal(entry);
      entry->set_value_slot({ref, slot_class});
      entry->set_external(true);
    }
    std::memcpy(arena_.At(entry->value_slot().ref), value.data(), value.size());
  }
  entry->value_bytes = static_cast<uint32_t>(value.size());
  Add(&live_bytes_, value.size() - old_bytes);
}

// Puts the tail behind the first `kept` bytes of the value. Memory is allocated before anything
// changes.
void MemTableImpl::AppendValue(MemtableEntry* entry, size_t kept, Slice tail) {
  const size_t total = kept + tail.size();
  LAVA_CHECK(total <= UINT32_MAX);  // twice the largest value; the owner seals before
  const size_t capacity = entry->external() ? SlotBytes(*entry) : InlineCapacity(*entry);
  if (total > capacity) {
    // Doubling keeps the cost of copying linear in the bytes appended.
    uint8_t slot_class;
    const Arena::Ref ref = arena_.Allocate(std::max(total, kept * 2), &slot_class);
    const Slice old = EntryValue(arena_, *entry).substr(0, kept);
    if (!old.empty()) std::memcpy(arena_.At(ref), old.data(), old.size());
    FreeExternal(entry);
    entry->set_value_slot({ref, slot_class});
    entry->set_external(true);
  }
  char* value = entry->external() ? arena_.At(entry->value_slot().ref) : entry->value_area();
  if (!tail.empty()) std::memcpy(value + kept, tail.data(), tail.size());
  Add(&live_bytes_, total - entry->value_bytes);
  entry->value_bytes = static_cast<uint32_t>(total);
}

void MemTableImpl::Put(Slice key, uint32_t prefix_bytes, Slice value) {
  PutKind(RecordKind::kPut, key, prefix_bytes, value);
}

void MemTableImpl::PutReference(Slice key, uint32_t prefix_bytes, Slice reference) {
  PutKind(RecordKind::kPutReference, key, prefix_bytes, reference);
}

void MemTableImpl::PutParts(Slice key, uint32_t prefix_bytes, Slice parts) {
  PutKind(RecordKind::kPutParts, key, prefix_bytes, parts);
}

void MemTableImpl::Attach(std::shared_ptr<const Attachment> attachment) {
  Writing writing(*this);
  attachment_ = std::move(attachment);
}

std::shared_ptr<const Attachment> MemTableImpl::attachment() const {
  Reading reading(*this);
  return attachment_;
}

void MemTableImpl::PutKind(RecordKind kind, Slice key, uint32_t prefix_bytes, Slice value) {
  Writing writing(*this);
  uint32_t hash;
  MemtableEntry* entry = FindEntry(key, false, &hash);
  if (entry == nullptr) return NewEntry(hash, key, kind, prefix_bytes, value);
  const uint64_t killed = entry->value_bytes;
  SetValue(entry, value);
  Add(&killed_bytes_, killed);
  entry->set_kind(kind);
  entry->set_prefix_bytes(prefix_bytes);
}

void MemTableImpl::Delete(Slice key, uint32_t prefix_bytes) {
  Writing writing(*this);
  uint32_t hash;
  MemtableEntry* entry = FindEntry(key, false, &hash);
  if (entry == nullptr) return NewEntry(hash, key, RecordKind::kDelete, prefix_bytes, Slice());
  Add(&killed_bytes_, entry->value_bytes);
  entry->set_kind(RecordKind::kDelete);
  entry->set_prefix_bytes(prefix_bytes);
  SetValue(entry, Slice());
}

void MemTableImpl::Append(Slice key, uint32_t prefix_bytes, Slice segments) {
  AppendKind(RecordKind::kAppend, key, prefix_bytes, segments);
}

void MemTableImpl::AppendParts(Slice key, uint32_t prefix_bytes, Slice parts) {
  AppendKind(RecordKind::kAppendParts, key, prefix_bytes, parts);
}

void MemTableImpl::AppendKind(RecordKind append, Slice key, uint32_t prefix_bytes, Slice segments) {
  Writing writing(*this);
  uint32_t hash;
  MemtableEntry* entry = FindEntry(key, false, &hash);
  if (entry == nullptr) {
    RecordKind kind = append;
    if (CoveredByTombstone(key, prefix_bytes))
      kind = HasParts(append) ? RecordKind::kPutParts : RecordKind::kPut;
    return NewEntry(hash, key, kind, prefix_bytes, segments);
  }
  LAVA_CHECK(entry->kind() != RecordKind::kPutReference);  // lists have parts instead of references
  AppendValue(entry, entry->value_bytes, segments);
  if (entry->kind() == RecordKind::kDelete) entry->set_kind(RecordKind::kPut);
  if (HasParts(append)) entry->set_kind(WithParts(entry->kind()));
  entry->set_prefix_bytes(prefix_bytes);
}

Slice MemTableImpl::Tail(Slice key, size_t bytes) const {
  Reading reading(*this);  // a reader may be putting entries in order meanwhile
  const MemtableEntry* entry = FindEntry(key, false);
  if (entry == nullptr || entry->value_bytes < bytes || !IsList(entry->kind())) return {};
  Slice value = EntryValue(arena_, *entry);
  value.remove_prefix(value.size() - bytes);
  return value;
}

void MemTableImpl::ReplaceTail(Slice key, size_t bytes, Slice parts) {
  Writing writing(*this);
  uint32_t hash;
  MemtableEntry* entry = FindEntry(key, false, &hash);
  LAVA_CHECK(entry != nullptr && entry->value_bytes >= bytes && IsList(entry->kind()));
  AppendValue(entry, entry->value_bytes - bytes, parts);
  entry->set_kind(WithParts(entry->kind()));
  if (!entry->external() || !IsMuchTooLarge(SlotBytes(*entry), entry->value_bytes)) return;
  try {
    const std::string left(EntryValue(arena_, *entry));
    SetValue(entry, left);
  } catch (const std::bad_alloc&) {  // keeps the larger slot
  }
}

bool MemTableImpl::CoveredByTombstone(Slice key, uint32_t prefix_bytes) const {
  if (range_tombstones_.Covers(key)) return true;
  if (Load(prefix_delete_count_) == 0) return false;
  for (const uint32_t length : prefix_delete_lengths_) {
    if (length > prefix_bytes) break;
    if (FindEntry(key.substr(0, length), true) != nullptr) return true;
  }
  return false;
}

void MemTableImpl::EraseEntry(Arena::Ref ref) {
  MemtableEntry* entry = EntryAt(arena_, ref);
  LAVA_DCHECK(!entry->erased());
  const bool prefix_delete = entry->is_prefix_delete();
  const uint64_t bytes = entry->key_bytes() + entry->value_bytes;
  hash_.Erase(HashIndex::HashOf(entry->key(), prefix_delete), ref);
  Add(&record_count_, uint64_t{0} - 1);
  if (prefix_delete) Add(&prefix_delete_count_, uint64_t{0} - 1);
  Add(&live_bytes_, uint64_t{0} - bytes);
  Add(&killed_bytes_, bytes);
  FreeExternal(entry);
  if (!entry->in_tree()) return entry->set_erased();
  tree_.Erase(ref);
  arena_.Free(ref, entry->slot_class());
}

// Erases the entries in [begin, end) for which covered() says kErase; an empty end means no end.
// All entries must be in the tree, but for new ones that are kept. Allocates nothing.
template <typename Covered>
void MemTableImpl::EraseRange(Slice begin, Slice end, const Covered& covered) {
  TreeIndex::Position position = tree_.Seek({begin, true});
  while (position.valid()) {
    const Arena::Ref ref = tree_.At(position);
    const MemtableEntry* entry = EntryAt(arena_, ref);
    if (!end.empty() && entry->key() >= end) return;
    const TreeIndex::Position next = tree_.Next(position);
    const auto verdict = covered(*entry);
    if (verdict == Verdict::kEnd) return;
    if (verdict == Verdict::kKeep) {
      position = next;
      continue;
    }
    const Arena::Ref next_ref = next.valid() ? tree_.At(next) : Arena::kNull;
    EraseEntry(ref);
    if (next_ref == Arena::kNull) return;
    position = tree_.Seek(SortKeyOf(*EntryAt(arena_, next_ref)));
  }
}

void MemTableImpl::DeletePrefix(Slice prefix) {
  Writing writing(*this);
  OrderLocked();
  const auto bytes = static_cast<uint32_t>(prefix.size());
  if (prefix_delete_lengths_.insert(bytes).second) ChargeTombstones();
  uint32_t hash;
  if (FindEntry(prefix, true, &hash) == nullptr) {
    NewEntry(hash, prefix, RecordKind::kPrefixDelete, bytes, Slice());
    Add(&prefix_delete_count_, 1);
  }
  EraseRange(prefix, Slice(), [&](const MemtableEntry& entry) {
    if (!entry.key().starts_with(prefix)) return Verdict::kEnd;
    const bool self = entry.is_prefix_delete() && entry.key_bytes() == prefix.size();
    return self ? Verdict::kKeep : Verdict::kErase;
  });
}

// Charges the memory outside of the arena. It grows in small steps, so it is charged after it has
// grown.
void MemTableImpl::ChargeTombstones() {
  const uint64_t charge =
      range_tombstones_.memory_bytes() + prefix_delete_lengths_.size() * kLengthNodeBytes;
  counter_->Charge(charge);
  counter_->Release(tombstones_charged_);
  tombstones_charged_ = charge;
}

void MemTableImpl::ErasePrefix(Slice prefix) {
  Writing writing(*this);
  OrderLocked();
  EraseRange(prefix, Slice(), [&](const MemtableEntry& entry) {
    return entry.key().starts_with(prefix) ? Verdict::kErase : Verdict::kEnd;
  });
}

void MemTableImpl::DeleteRange(Slice begin, Slice end) {
  if (begin >= end) return;
  Writing writing(*this);
  OrderLocked();
  range_tombstones_.Add(begin, end);
  has_range_tombstones_.store(1, std::memory_order_relaxed);
  EraseRange(begin, end, [&](const MemtableEntry& entry) {
    // A prefix tombstone that reaches beyond the end still hides keys there.
    const bool beyond = entry.is_prefix_delete() && end.starts_with(entry.key());
    return beyond ? Verdict::kKeep : Verdict::kErase;
  });
  ChargeTombstones();
}

void MemTableImpl::Erase(Slice key) {
  Writing writing(*this);
  const uint32_t hash = HashIndex::HashOf(key, false);
  const Arena::Ref ref = hash_.Find(arena_, hash, key, false);
  if (ref != Arena::kNull) EraseEntry(ref);
}

void MemTableImpl::Get(Lookup* lookup) const {
  Reading reading(*this);
  const uint32_t hash = HashIndex::HashOf(lookup->key_hash(), false);
  const Arena::Ref ref = hash_.Find(arena_, hash, lookup->key(), false);
  if (ref != Arena::kNull) {
    const MemtableEntry* entry = EntryAt(arena_, ref);
    if (entry->kind() == RecordKind::kPutReference) {
      ValueReference reference;
      LAVA_CHECK(DecodeReference(EntryValue(arena_, *entry), &reference));
      return lookup->TellReference(reference);
    }
    lookup->Tell(entry->kind(), EntryValue(arena_, *entry), nullptr);
    if (lookup->done()) return;
  }
  if (lookup->has_prefix() && Load(prefix_delete_count_) != 0 &&
      FindEntry(lookup->prefix(), true) != nullptr) {
    return lookup->Hide();
  }
  if (Load(has_range_tombstones_) != 0 && range_tombstones_.Covers(lookup->key())) lookup->Hide();
}

void MemTableImpl::OrderLocked() const {
  if (pending_.empty()) return;
  read_in_order_ = true;
  // After the seal, point readers look at entries without a lock, so entries must not be written.
  const bool active = !sealed();
  auto& arena = const_cast<Arena&>(arena_);
  std::erase_if(pending_, [&](Arena::Ref ref) {
    MemtableEntry* entry = EntryAt(arena, ref);
    if (!entry->erased()) return false;
    if (active) arena.Free(ref, entry->slot_class());
    return true;
  });
  SortEntries(arena_, &pending_);
  size_t inserted = 0;
  try {
    for (; inserted < pending_.size(); ++inserted) {
      tree_.Insert(pending_[inserted]);
      if (active) EntryAt(arena, pending_[inserted])->set_in_tree();
    }
  } catch (const std::bad_alloc&) {
    // The others stay pending until the next ordered read.
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(inserted));
    throw;
  }
  pending_.clear();
  if (!active) {
    pending_.shrink_to_fit();
    counter_->Release(pending_charged_);
    pending_charged_ = 0;
  }
  ordered_.store(true, std::memory_order_release);
}

void MemTableImpl::Order() const {
  if (ordered_.load(std::memory_order_acquire)) return;
  Ordering ordering(*this);
  OrderLocked();
}

void MemTableImpl::Seal() {
  // Under the lock, so that an Order() that began before ends before readers stop locking.
  lock_.Lock();
  sealed_.store(true, std::memory_order_release);
  lock_.Unlock();
}

void MemTableImpl::RecordAt(TreeIndex::Position position, Record* record) const {
  AssertSettled();
  ReadRecord(position, record);
}

void MemTableImpl::ReadRecord(TreeIndex::Position position, Record* record) const {
  const MemtableEntry& entry = *EntryAt(arena_, tree_.At(position));
  record->key = entry.key();
  record->kind = entry.kind();
  record->prefix_bytes = entry.prefix_bytes();
  record->value = EntryValue(arena_, entry);
}

void MemTableImpl::CopyRange(Slice from, bool exclusive, Slice upper, size_t count, bool keys_only,
                             Copied* out) const {
  out->bytes.clear();
  out->entries.clear();
  if (sealed()) {
    Order();
    AssertSettled();
    return CopyLocked(from, exclusive, upper, count, keys_only, out);
  }
  {
    // The run may have been sealed meanwhile, so that `reading` took no lock. Then ordered_, set by
    // the thread that put it in order, says that nothing changes any more.
    Reading reading(*this);
    if (ordered_.load(std::memory_order_acquire))
      return CopyLocked(from, exclusive, upper, count, keys_only, out);
  }
  Ordering ordering(*this);
  OrderLocked();
  CopyLocked(from, exclusive, upper, count, keys_only, out);
}

void MemTableImpl::CopyLocked(Slice from, bool exclusive, Slice upper, size_t count, bool keys_only,
                              Copied* out) const {
  TreeIndex::Position position = tree_.Seek({from, !exclusive});
  Record record;
  bool last_is_prefix_delete = false;
  for (; position.valid(); position = tree_.Next(position)) {
    ReadRecord(position, &record);
    if (exclusive && record.key == from) continue;
    if (!upper.empty() && record.key >= upper) break;
    if (out->entries.size() >= count) {
      // The next page begins behind the last key of this one, so a page must not end between the
      // two records of a key.
      const Copied::Entry& last = out->entries.back();
      const Slice last_key(out->bytes.data() + last.key_offset, last.key_bytes);
      if (!last_is_prefix_delete || last_key != record.key) {
        out->end = false;
        return;
      }
    }
    // A reference is copied, because it says whether the value has expired.
    if (keys_only && record.kind != RecordKind::kPutReference) record.value = Slice();
    const uint64_t key_offset = out->bytes.size();
    out->bytes.append(record.key).append(record.value);
    out->entries.push_back(
        {key_offset, key_offset + record.key.size(), static_cast<uint32_t>(record.key.size()),
         static_cast<uint32_t>(record.value.size()), record.prefix_bytes, record.kind});
    last_is_prefix_delete = record.kind == RecordKind::kPrefixDelete;
  }
  out->end = true;
}

std::unique_ptr<RecordIterator> MemTableImpl::NewIterator(bool keys_only) const {
  if (sealed()) return NewSealedIterator(this);
  return NewPagingIterator(this, keys_only);
}

bool MemTableImpl::HasPrefixDelete(Slice prefix) const {
  Reading reading(*this);
  return Load(prefix_delete_count_) != 0 && FindEntry(prefix, true) != nullptr;
}

RangeTombstoneSet MemTableImpl::range_tombstones() const {
  Reading reading(*this);
  return range_tombstones_;
}

}  // namespace lava
