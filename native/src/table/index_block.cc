// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/index_block.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "base/block.h"
#include "base/coding.h"
#include "lava/slice.h"

namespace lava::ksst {
namespace {

struct IndexHead {
  uint32_t count = 0;
  Slice common;
};

bool ReadHead(Slice* in, IndexHead* head) {
  // An entry has at least 3 bytes, so the size of the block bounds what a forged count allocates.
  return GetVarint32(in, &head->count) && GetLengthPrefixed(in, &head->common) && head->count > 0 &&
         head->count <= in->size() / 3;
}

constexpr size_t kEntryMemory = 2 * sizeof(uint64_t) + 2 * sizeof(uint32_t);

}  // namespace

void IndexBlockBuilder::Add(std::string key, uint64_t extent_bytes, uint32_t block_bytes) {
  estimated_bytes_ += key.size() + 2 * sizeof(uint32_t);
  entries_.push_back(Entry{std::move(key), extent_bytes, block_bytes});
}

void IndexBlockBuilder::Finish(std::string* out) {
  size_t common = 0;
  if (!entries_.empty()) {
    // Keys ascend, so the prefix that the first and the last share is common to all.
    const std::string& first = entries_.front().key;
    const std::string& last = entries_.back().key;
    size_t limit = std::min(first.size(), last.size());
    while (common < limit && first[common] == last[common]) ++common;
    PutVarint32(out, static_cast<uint32_t>(entries_.size()));
    PutLengthPrefixed(out, Slice(first).substr(0, common));
  }
  for (const Entry& entry : entries_) {
    PutLengthPrefixed(out, Slice(entry.key).substr(common));
    PutVarint64(out, entry.extent_bytes);
    PutVarint32(out, entry.block_bytes);
  }
  entries_.clear();
  estimated_bytes_ = 0;
}

size_t IndexBlock::MemoryBytes(Slice encoded) {
  IndexHead head;
  size_t all = encoded.size();
  if (all > kRawBlockBytesMax || !ReadHead(&encoded, &head)) return 0;
  return all + sizeof(uint64_t) + (head.count + size_t{1}) * kEntryMemory;
}

const char* IndexBlock::Load(Slice encoded, uint64_t base, uint64_t end, char* memory) {
  IndexHead head;
  if (!ReadHead(&encoded, &head)) return "an index block's head is malformed";
  const uint32_t count = head.count;
  size_t slots = size_t{count} + 1;
  // The common prefix comes first: searches compare it first, and the processor then prefetches the
  // lines behind it.
  std::memcpy(memory, head.common.data(), head.common.size());
  const size_t common_bytes =
      (head.common.size() + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
  auto* heads = reinterpret_cast<uint64_t*>(memory + common_bytes);
  auto* ends = heads + slots;
  auto* blocks = reinterpret_cast<uint32_t*>(ends + slots);
  auto* offsets = blocks + slots;
  char* bytes = reinterpret_cast<char*>(offsets + slots);
  heads_ = KeyHeads(Slice(memory, head.common.size()), heads, count);
  suffixes_ = bytes;
  ends_ = ends, block_bytes_ = blocks, offsets_ = offsets;
  ends[0] = base;
  offsets[0] = 0;
  for (uint32_t i = 0; i < count; ++i) {
    Slice rest;
    uint64_t extent = 0;
    if (!GetLengthPrefixed(&encoded, &rest) || !GetVarint64(&encoded, &extent) ||
        !GetVarint32(&encoded, &blocks[i]))
      return "an index entry is cut short";
    if (extent > end - ends[i] || extent < blocks[i] + uint64_t{kBlockTrailerBytes})
      return "an index entry's extent does not fit where it stands";
    std::memcpy(bytes + offsets[i], rest.data(), rest.size());
    offsets[i + 1] = offsets[i] + static_cast<uint32_t>(rest.size());
    ends[i + 1] = ends[i] + extent;
    heads[i] = KeyHeads::HeadOf(rest);
    if (i > 0 && suffix(i - 1) >= rest) return "an index block's keys do not ascend";
  }
  if (ends[count] != end) return "an index block's extents do not end where they must";
  return encoded.empty() ? nullptr : "an index block has bytes behind its entries";
}

uint32_t IndexBlock::Find(Slice target) const {
  auto [at, limit] = heads_.Find(target);
  if (at == limit) return at;
  target.remove_prefix(heads_.common().size());
  while (at < limit) {
    uint32_t middle = at + (limit - at) / 2;
    if (KeyHeads::LessBehindHead(suffix(middle), target)) {
      at = middle + 1;
    } else {
      limit = middle;
    }
  }
  return at;
}

std::string IndexBlock::key(uint32_t i) const {
  std::string result(heads_.common());
  result.append(suffix(i));
  return result;
}

bool IndexBlock::KeyStartsWith(uint32_t i, Slice prefix) const {
  const Slice common = heads_.common();
  size_t in_common = std::min(prefix.size(), common.size());
  return prefix.substr(0, in_common) == common.substr(0, in_common) &&
         suffix(i).starts_with(prefix.substr(in_common));
}

bool IndexBlock::Reaches(uint32_t i, Slice key) const {
  const Slice common = heads_.common();
  const int order = key.substr(0, common.size()).compare(common);
  return order < 0 || (order == 0 && key.substr(common.size()) <= suffix(i));
}

}  // namespace lava::ksst
