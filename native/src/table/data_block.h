// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "base/coding.h"
#include "base/record.h"
#include "lava/slice.h"
#include "table/format.h"

namespace lava::ksst {

/// Data blocks: records with prefix-compressed keys. At every restart a key is stored in full. A
/// block also holds one byte of each record's hash, so a point lookup decodes only the restart
/// groups that may hold its key.

inline constexpr uint32_t kRestartInterval = 16;
inline constexpr uint32_t kRestartIntervalMax = 64;
inline constexpr size_t kDataBlockTailBytes = 8;  // record count, restart interval
/// Readable bytes that must follow a data block in memory: fingerprints are read 16 at a time.
inline constexpr size_t kDataBlockSlackBytes = 16;

/// Builds blocks, one after the other.
/// Threads:    one thread.
class DataBlockBuilder {
 public:
  /// hash: PointHash() or PrefixDeleteHash() of the key. shared: number of leading bytes that key
  /// shares with the key before.
  void Add(const Record& record, uint64_t hash, size_t shared);
  bool empty() const { return count_ == 0; }
  size_t estimated_bytes() const {
    return entries_.size() + fingerprints_.size() + restarts_.size() + kDataBlockTailBytes;
  }
  /// The whole block, valid until the next non-const call; call Reset() before the next block.
  Slice Finish();
  void Reset();

 private:
  std::string entries_;
  std::string fingerprints_;
  std::string restarts_;
  uint32_t count_ = 0;
};

/// One decoded entry; key_delta and value borrow from the block.
struct DataBlockEntry {
  RecordKind kind;
  uint32_t shared, unshared, value_bytes, prefix_bytes;
  const char* key_delta;
  Slice value() const { return {key_delta + unshared, value_bytes}; }
  const char* end() const { return key_delta + unshared + value_bytes; }
};

/// A data block in memory, which has no records until Check(). Check() walks every entry once, so
/// later calls need no bounds checks. It does not check the order of keys: a wrong order gives
/// wrong answers, but no invalid memory access.
/// Threads:    any thread; const.
/// Ownership:  borrows the bytes.
class DataBlock {
 public:
  /// Returns null, or an error message. bytes must be followed by kDataBlockSlackBytes of readable
  /// memory. kinds: the kinds of record that may stand in this block.
  const char* Check(Slice bytes, RecordKinds kinds);

  /// Number of restart groups according to the tail of an unchecked block; 0 if bytes cannot hold
  /// so many.
  static uint32_t GroupCount(Slice bytes);

  uint32_t count() const { return count_; }
  const char* entries() const { return data_; }
  const char* entries_end() const { return fingerprints_; }

  /// Finds the record of exactly this key: its prefix delete if prefix_delete, otherwise its point
  /// record.
  bool Find(Slice key, uint64_t hash, bool prefix_delete, DataBlockEntry* entry) const {
    return FindInGroups(key, hash, prefix_delete, 0, group_count_, entry);
  }
  /// Like Find(), but only in the groups [begin, end).
  bool FindInGroups(Slice key, uint64_t hash, bool prefix_delete, uint32_t begin, uint32_t end,
                    DataBlockEntry* entry) const;
  /// The last restart group whose first key is less than target; the first group if there is none.
  /// The first record with key >= target stands in it or begins the next group.
  uint32_t SeekGroup(Slice target) const { return SeekGroup(target, 0, group_count_); }
  /// Like SeekGroup(target), if the result is known to be in [low, high).
  uint32_t SeekGroup(Slice target, uint32_t low, uint32_t high) const;
  /// The key of a group's first record, which stands there in full.
  Slice group_key(uint32_t index) const {
    DataBlockEntry entry;
    Decode(group(index), &entry);
    return {entry.key_delta, entry.unshared};
  }
  const char* group(uint32_t index) const {
    return data_ + DecodeFixed32(restarts_ + index * sizeof(uint32_t));
  }
  uint32_t group_count() const { return group_count_; }

  /// Decodes the entry at p, in a block that was checked.
  static void Decode(const char* p, DataBlockEntry* entry);

 private:
  const char* CheckEntries(RecordKinds kinds) const;
  static DataBlockEntry DecodeSlow(const char* p);
  bool FindAt(uint32_t index, Slice key, bool prefix_delete, DataBlockEntry* entry) const;

  const char* data_ = nullptr;
  const char* fingerprints_ = nullptr;
  const char* restarts_ = nullptr;
  uint32_t count_ = 0;
  uint32_t interval_ = 1;
  uint32_t group_count_ = 0;
};

/// Walks a checked data block forward, building each key.
/// Threads:    one thread.
/// Ownership:  borrows the block; record() is valid until the next move.
class DataBlockCursor {
 public:
  bool Valid() const { return valid_; }
  void SeekToFirst(const DataBlock& block);
  /// Moves to the first record with key >= target; invalid if there is none.
  void Seek(const DataBlock& block, Slice target);
  void Next();
  void Invalidate() { valid_ = false; }
  const Record& record() const { return record_; }

 private:
  void Start(const DataBlock& block, const char* from);

  bool valid_ = false;
  const char* next_ = nullptr;
  const char* end_ = nullptr;
  std::string key_;
  Record record_;
};

inline void DataBlock::Decode(const char* p, DataBlockEntry* entry) {
  // An entry: tag (kind, bit 3: has a prefix), varints of shared, unshared, value bytes and, if the
  // bit is set, prefix bytes; then the key's rest and the value. In most entries each number has
  // one byte. The slow path returns its entry by value, so that the caller's can live in registers.
  uint32_t head = DecodeFixed32(p);
  uint32_t has_prefix = (head >> 3) & 1;
  uint32_t prefix_bytes = has_prefix != 0 ? static_cast<unsigned char>(p[4]) : 0;
  if (((head | prefix_bytes) & 0x80808080u) != 0) [[unlikely]] {
    *entry = DecodeSlow(p);
    return;
  }
  entry->kind = static_cast<RecordKind>(head & 7);
  entry->shared = (head >> 8) & 0x7f;
  entry->unshared = (head >> 16) & 0x7f;
  entry->value_bytes = head >> 24;
  entry->prefix_bytes = prefix_bytes;
  entry->key_delta = p + 4 + has_prefix;
}

}  // namespace lava::ksst
