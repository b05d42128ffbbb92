// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/data_block.h"

#include <emmintrin.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/coding.h"
#include "base/record.h"
#include "table/format.h"

namespace lava::ksst {
namespace {

constexpr uint8_t kKindMask = 7;
constexpr uint8_t kHasPrefix = 8;

}  // namespace

void DataBlockBuilder::Add(const Record& record, uint64_t hash, size_t shared) {
  if (count_ % kRestartInterval == 0) {
    PutFixed32(&restarts_, static_cast<uint32_t>(entries_.size()));
    shared = 0;
  }
  uint8_t tag = static_cast<uint8_t>(record.kind);
  if (record.prefix_bytes != 0) tag |= kHasPrefix;
  char head[1 + 4 * kVarint32BytesMax];
  head[0] = static_cast<char>(tag);
  char* p = EncodeVarint32(head + 1, static_cast<uint32_t>(shared));
  p = EncodeVarint32(p, static_cast<uint32_t>(record.key.size() - shared));
  p = EncodeVarint32(p, static_cast<uint32_t>(record.value.size()));
  if (record.prefix_bytes != 0) p = EncodeVarint32(p, record.prefix_bytes);
  entries_.append(head, static_cast<size_t>(p - head));
  entries_.append(record.key.substr(shared));
  entries_.append(record.value);
  fingerprints_.push_back(static_cast<char>(FingerprintOf(hash)));
  ++count_;
}

Slice DataBlockBuilder::Finish() {
  entries_.append(fingerprints_);
  entries_.append(restarts_);
  PutFixed32(&entries_, count_);
  PutFixed32(&entries_, kRestartInterval);
  return entries_;
}

void DataBlockBuilder::Reset() {
  entries_.clear();
  fingerprints_.clear();
  restarts_.clear();
  count_ = 0;
}

uint32_t DataBlock::GroupCount(Slice bytes) {
  if (bytes.size() < kDataBlockTailBytes) return 0;
  const char* tail = bytes.data() + bytes.size() - kDataBlockTailBytes;
  const uint32_t count = DecodeFixed32(tail);
  const uint32_t interval = DecodeFixed32(tail + 4);
  if (count == 0 || interval == 0 || interval > kRestartIntervalMax) return 0;
  const uint32_t groups = (count - 1) / interval + 1;
  const uint64_t tables = uint64_t{count} + uint64_t{groups} * sizeof(uint32_t);
  return tables > bytes.size() - kDataBlockTailBytes ? 0 : groups;
}

const char* DataBlock::Check(Slice bytes, RecordKinds kinds) {
  group_count_ = GroupCount(bytes);
  if (group_count_ == 0)
    return "a data block's record count or restart interval is impossible in its length";
  const char* tail = bytes.data() + bytes.size() - kDataBlockTailBytes;
  count_ = DecodeFixed32(tail);
  interval_ = DecodeFixed32(tail + 4);
  data_ = bytes.data();
  restarts_ = tail - group_count_ * sizeof(uint32_t);
  fingerprints_ = restarts_ - count_;
  return CheckEntries(kinds);
}

const char* DataBlock::CheckEntries(RecordKinds kinds) const {
  const char* p = data_;
  const char* limit = fingerprints_;
  uint64_t key_bytes = 0;
  uint32_t to_restart = 0;
  uint32_t group_index = 0;
  for (uint32_t i = 0; i < count_; ++i, --to_restart) {
    if (to_restart == 0) {
      if (group(group_index) != p) return "a restart does not point at its record";
      ++group_index;
      to_restart = interval_;
      key_bytes = 0;
    }
    if (p >= limit) return "a data block holds fewer records than it counts";
    uint8_t tag = static_cast<uint8_t>(*p++);
    uint32_t shared = 0, unshared = 0, value_bytes = 0, prefix_bytes = 0;
    if ((p = DecodeVarint32(p, limit, &shared)) == nullptr ||
        (p = DecodeVarint32(p, limit, &unshared)) == nullptr ||
        (p = DecodeVarint32(p, limit, &value_bytes)) == nullptr ||
        ((tag & kHasPrefix) != 0 && (p = DecodeVarint32(p, limit, &prefix_bytes)) == nullptr))
      return "a record's lengths end behind their block";
    if ((kinds >> (tag & kKindMask) & 1) == 0 || tag > (kHasPrefix | kKindMask))
      return "a record's kind is unknown, reserved or that of another place";
    if (shared > key_bytes) return "a record shares more than the key before it has";
    key_bytes = uint64_t{shared} + unshared;
    if (key_bytes > kInternalKeyBytesMax || prefix_bytes > key_bytes ||
        uint64_t{unshared} + value_bytes > static_cast<uint64_t>(limit - p))
      return "a record ends behind its block, or its key is too long";
    p += unshared + value_bytes;
  }
  return p == limit ? nullptr : "a data block has bytes behind its records";
}

DataBlockEntry DataBlock::DecodeSlow(const char* p) {
  DataBlockEntry entry;
  uint8_t tag = static_cast<uint8_t>(*p);
  const char* limit = p + 1 + 4 * kVarint32BytesMax;
  entry.kind = static_cast<RecordKind>(tag & kKindMask);
  p = DecodeVarint32(p + 1, limit, &entry.shared);
  p = DecodeVarint32(p, limit, &entry.unshared);
  p = DecodeVarint32(p, limit, &entry.value_bytes);
  entry.prefix_bytes = 0;
  if ((tag & kHasPrefix) != 0) p = DecodeVarint32(p, limit, &entry.prefix_bytes);
  entry.key_delta = p;
  return entry;
}

/// Skips from the start of the record's restart group to the record with this index, and notes
/// where each key's own bytes stand. Builds no key: compares from the end, where different keys are
/// most likely to differ.
bool DataBlock::FindAt(uint32_t index, Slice key, bool prefix_delete, DataBlockEntry* entry) const {
  struct KeyPart {
    uint32_t shared;
    const char* delta;
  };
  KeyPart parts[kRestartIntervalMax];
  uint32_t group_index = index / interval_;
  uint32_t steps = index - group_index * interval_;
  const char* p = group(group_index);
  for (uint32_t i = 0; i < steps; ++i) {
    DataBlockEntry before;
    Decode(p, &before);
    parts[i] = {before.shared, before.key_delta};
    p = before.end();
  }
  Decode(p, entry);
  uint32_t needed = entry->shared;
  if (needed + entry->unshared != key.size() ||
      (entry->kind == RecordKind::kPrefixDelete) != prefix_delete ||
      std::memcmp(entry->key_delta, key.data() + needed, entry->unshared) != 0)
    return false;
  // The first `needed` bytes come from earlier records: each provides the bytes behind its own
  // shared.
  for (uint32_t i = steps; needed > 0; --i) {
    const KeyPart& part = parts[i - 1];
    if (part.shared >= needed) continue;
    if (std::memcmp(part.delta, key.data() + part.shared, needed - part.shared) != 0) return false;
    needed = part.shared;
  }
  return true;
}

bool DataBlock::FindInGroups(Slice key, uint64_t hash, bool prefix_delete, uint32_t begin,
                             uint32_t end, DataBlockEntry* entry) const {
  const __m128i wanted = _mm_set1_epi8(static_cast<char>(FingerprintOf(hash)));
  const uint32_t last = end == group_count_ ? count_ : end * interval_;
  for (uint32_t base = begin * interval_; base < last; base += 16) {
    __m128i prints = _mm_loadu_si128(reinterpret_cast<const __m128i*>(fingerprints_ + base));
    uint32_t hits = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(prints, wanted)));
    if (hits == 0) [[likely]]
      continue;
    if (last - base < 16) hits &= (1u << (last - base)) - 1;
    for (; hits != 0; hits &= hits - 1) {
      uint32_t index = base + static_cast<uint32_t>(std::countr_zero(hits));
      if (FindAt(index, key, prefix_delete, entry)) return true;
    }
  }
  return false;
}

uint32_t DataBlock::SeekGroup(Slice target, uint32_t low, uint32_t high) const {
  // An equal first key may be the second record of the target, behind its prefix delete in the
  // group before. So this finds the last group whose first key is less than target.
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (group_key(middle) < target) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

void DataBlockCursor::Start(const DataBlock& block, const char* from) {
  next_ = from;
  end_ = block.entries_end();
  key_.clear();
  Next();
}

void DataBlockCursor::SeekToFirst(const DataBlock& block) { Start(block, block.entries()); }

void DataBlockCursor::Seek(const DataBlock& block, Slice target) {
  Start(block, block.group(block.SeekGroup(target)));
  while (valid_ && record_.key < target) Next();
}

void DataBlockCursor::Next() {
  valid_ = next_ < end_;
  if (!valid_) return;
  DataBlockEntry entry;
  DataBlock::Decode(next_, &entry);
  key_.resize(entry.shared);
  key_.append(entry.key_delta, entry.unshared);
  record_ = Record{key_, entry.kind, entry.prefix_bytes, entry.value()};
  next_ = entry.end();
}

}  // namespace lava::ksst
