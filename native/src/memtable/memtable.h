// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/lookup.h"
#include "base/range_tombstones.h"
#include "base/record.h"
#include "lava/status.h"
#include "memory/memory_counter.h"

namespace lava {

/// The active memtable, and after Seal() an immutable run. Holds at most one point record for each
/// key: an update replaces it in place, and an append to a put or delete of this run becomes a put.
/// A deletion of a prefix or range removes the records of this run at once, and leaves a tombstone
/// that hides those of older runs.
/// Threads:    one writer, beside any number of readers. Callers need no lock.
/// Ownership:  all bytes are in its arena, which is charged to the counter until destruction.
/// Errors:     std::bad_alloc of writes and of ordered reads; no record has changed then.
class MemTable {
 public:
  virtual ~MemTable() = default;
  static std::shared_ptr<MemTable> Create(MemoryCounter* counter);

  virtual void Put(Slice key, uint32_t prefix_bytes, Slice value) = 0;
  /// A put of a reference to the value (EncodeReference()).
  virtual void PutReference(Slice key, uint32_t prefix_bytes, Slice reference) = 0;
  /// A put of a list, some segments of which are references.
  virtual void PutParts(Slice key, uint32_t prefix_bytes, Slice parts) = 0;
  virtual void Delete(Slice key, uint32_t prefix_bytes) = 0;
  /// Appends to the key's list. The record becomes a put if this run has a put or delete of the
  /// key, or a tombstone over it.
  virtual void Append(Slice key, uint32_t prefix_bytes, Slice segments) = 0;
  /// Like Append(), but some of the segments are references.
  virtual void AppendParts(Slice key, uint32_t prefix_bytes, Slice parts) = 0;
  /// The last bytes of a list, as the last Append() of this key wrote them. Only for the writer;
  /// valid until its next write. Empty if this run has fewer bytes of the list.
  virtual Slice Tail(Slice key, size_t bytes) const = 0;
  /// Replaces the bytes that Tail() gave by segments, some of which are references.
  virtual void ReplaceTail(Slice key, size_t bytes, Slice parts) = 0;
  virtual void DeletePrefix(Slice prefix) = 0;
  virtual void DeleteRange(Slice begin, Slice end) = 0;
  /// Like DeletePrefix(), but leaves no tombstone: for prefixes of which no older run has records.
  virtual void ErasePrefix(Slice prefix) = 0;
  /// Removes the key's record, and leaves no tombstone: for keys that no older run has.
  virtual void Erase(Slice key) = 0;

  /// Tells the lookup about the records and tombstones that this run has for its key.
  virtual void Get(Lookup* lookup) const = 0;
  /// Copies up to count records with key >= from (> from if exclusive) and < upper (empty: no end),
  /// with prefix tombstones in their places. Readers walk an active memtable with this. A prefix
  /// tombstone counts as a record; one at `from` is left out if exclusive. keys_only: copies no
  /// values but references.
  struct Copied {
    std::string bytes;  // keys and values; entries have offsets into it
    struct Entry {
      uint64_t key_offset, value_offset;
      uint32_t key_bytes, value_bytes, prefix_bytes;
      RecordKind kind;
    };
    std::vector<Entry> entries;
    bool end = false;  // no more records below upper
  };
  virtual void CopyRange(Slice from, bool exclusive, Slice upper, size_t count, bool keys_only,
                         Copied* out) const = 0;
  /// A walk over all records. An iterator of an active run copies pages with CopyRange(), so it
  /// sees records that are written ahead of it. A sealed run is walked in place. The iterator must
  /// not outlive the memtable; one made before the seal stays usable after it.
  virtual std::unique_ptr<RecordIterator> NewIterator(bool keys_only) const = 0;

  /// Whether this run has a prefix tombstone of exactly this prefix.
  virtual bool HasPrefixDelete(Slice prefix) const = 0;

  /// No write may follow. Sealed runs are read without a lock.
  virtual void Seal() = 0;
  virtual bool sealed() const = 0;
  /// A copy of the run's range tombstones; they no longer change once the run is sealed.
  virtual RangeTombstoneSet range_tombstones() const = 0;

  virtual bool empty() const = 0;
  virtual uint64_t record_count() const = 0;  // point records and prefix tombstones
  virtual bool has_prefix_deletes() const = 0;
  virtual bool has_range_tombstones() const = 0;
  /// Keeps the values alive that references point to. Set by the writer before the first reference;
  /// null: the run has none.
  virtual void Attach(std::shared_ptr<const Attachment> attachment) = 0;
  virtual std::shared_ptr<const Attachment> attachment() const = 0;
  virtual uint64_t arena_bytes() const = 0;   // bytes charged
  virtual uint64_t killed_bytes() const = 0;  // keys and values that this run erased or replaced
  virtual uint64_t live_bytes() const = 0;    // keys and values that a flush would write
};

}  // namespace lava
