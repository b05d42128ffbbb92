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

/// The active memtable, and after Seal() an immutable run. Holds at most one point record per
/// key: an update replaces in place, an append to a put or delete of this run makes a put.
/// A deletion of a prefix or range removes what this run holds under it at once and leaves a
/// tombstone that hides older runs.
/// Threads:    one writer; readers beside it. No lock needed by callers.
/// Ownership:  all bytes in its arena, charged to the counter until destruction.
class MemTable {
 public:
  virtual ~MemTable() = default;
  static std::shared_ptr<MemTable> Create(MemoryCounter* counter);

  virtual void Put(Slice key, uint32_t prefix_bytes, Slice value) = 0;
  /// A put whose value is where the reference says (EncodeReference).
  virtual void PutReference(Slice key, uint32_t prefix_bytes, Slice reference) = 0;
  /// A put of a list of which some segments stand for what is elsewhere.
  virtual void PutParts(Slice key, uint32_t prefix_bytes, Slice parts) = 0;
  virtual void Delete(Slice key, uint32_t prefix_bytes) = 0;
  /// Becomes a put when the key's put or delete, or a tombstone over it, is in this run.
  virtual void Append(Slice key, uint32_t prefix_bytes, Slice segments) = 0;
  /// The same of segments of which some stand for what is elsewhere.
  virtual void AppendParts(Slice key, uint32_t prefix_bytes, Slice parts) = 0;
  /// The last bytes of a list, as the last Append() of this key put them there; the writer's, valid
  /// until its next write. Empty: the key has not so many here.
  virtual Slice Tail(Slice key, size_t bytes) const = 0;
  /// Replaces what Tail() gave by segments of which some stand for what is elsewhere.
  virtual void ReplaceTail(Slice key, size_t bytes, Slice parts) = 0;
  virtual void DeletePrefix(Slice prefix) = 0;
  virtual void DeleteRange(Slice begin, Slice end) = 0;
  /// As DeletePrefix, but leaves no tombstone: for when nothing older can hold the prefix.
  virtual void ErasePrefix(Slice prefix) = 0;
  /// Removes the key's record and leaves none: for when nothing older can hold the key.
  virtual void Erase(Slice key) = 0;

  /// Tells lookup what this run knows.
  virtual void Get(Lookup* lookup) const = 0;
  /// Copies of up to count records with key >= from (> from when exclusive) and < upper (empty:
  /// no end), prefix tombstones in their places: how readers walk an active memtable. A prefix
  /// tombstone counts as a record, and one at `from` is left out when exclusive.
  struct Copied {
    std::string bytes;  // keys and values, referred to by offsets
    struct Entry {
      uint64_t key_offset, value_offset;
      uint32_t key_bytes, value_bytes, prefix_bytes;
      RecordKind kind;
    };
    std::vector<Entry> entries;
    bool end = false;  // nothing further below upper; values of references come with keys alone
  };
  virtual void CopyRange(Slice from, bool exclusive, Slice upper, size_t count, bool keys_only,
                         Copied* out) const = 0;
  /// A walk over all records. On an active run it copies pages by CopyRange and sees what is
  /// written ahead of it; a sealed run is walked in place. The iterator must not outlive the
  /// memtable, and one made before the seal stays usable after it.
  virtual std::unique_ptr<RecordIterator> NewIterator(bool keys_only) const = 0;

  /// Whether this run has a prefix tombstone at exactly this prefix.
  virtual bool HasPrefixDelete(Slice prefix) const = 0;

  /// No write may follow; sealed runs are read without a lock.
  virtual void Seal() = 0;
  virtual bool sealed() const = 0;
  /// The run's range tombstones. A copy while active; stable once sealed.
  virtual RangeTombstoneSet range_tombstones() const = 0;

  virtual bool empty() const = 0;
  virtual uint64_t record_count() const = 0;  // point records and prefix tombstones
  virtual bool has_prefix_deletes() const = 0;
  virtual bool has_range_tombstones() const = 0;
  /// What references refer to; set by the writer before the first one. Null: nothing.
  virtual void Attach(std::shared_ptr<const Attachment> attachment) = 0;
  virtual std::shared_ptr<const Attachment> attachment() const = 0;
  virtual uint64_t arena_bytes() const = 0;   // what is charged
  virtual uint64_t killed_bytes() const = 0;  // keys and values that died in this run
  virtual uint64_t live_bytes() const = 0;    // keys and values that a flush would write
};

}  // namespace lava
