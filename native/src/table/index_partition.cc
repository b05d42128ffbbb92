// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/index_partition.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "base/coding.h"
#include "lava/slice.h"
#include "table/bloom.h"
#include "table/data_block.h"
#include "table/format.h"
#include "table/index_block.h"
#include "table/key_heads.h"

namespace lava::ksst {
namespace {

constexpr size_t kHeadBytes = 5;  // bytes of index, probes
constexpr uint8_t kProbesMax = 16;
constexpr uint8_t kHasDecoupled =
    128;  // added to the probes: u32 bytes of decoupled records follow

struct IndexPartitionParts {
  Slice index, decoupled, filter;
  uint8_t probes = 0;
};

const char* Split(Slice raw, uint32_t version, IndexPartitionParts* parts) {
  if (raw.size() < kHeadBytes) return "a partition is shorter than its head";
  const uint32_t index_bytes = DecodeFixed32(raw.data());
  parts->probes = static_cast<uint8_t>(raw[4]);
  raw.remove_prefix(kHeadBytes);
  uint32_t decoupled_bytes = 0;
  if (version >= kFormatVersionDecoupled && (parts->probes & kHasDecoupled) != 0) {
    if (!GetFixed32(&raw, &decoupled_bytes)) return "a partition is shorter than its head";
    if (decoupled_bytes == 0) return "a partition has decoupled records, but none";
    parts->probes ^= kHasDecoupled;
  }
  if (index_bytes > raw.size()) return "a partition's index ends behind it";
  parts->index = raw.substr(0, index_bytes);
  raw.remove_prefix(index_bytes);
  if (decoupled_bytes > raw.size()) return "a partition's decoupled records end behind it";
  parts->decoupled = raw.substr(0, decoupled_bytes);
  parts->filter = raw.substr(decoupled_bytes);
  if (parts->filter.size() % kBloomLineBytes != 0 ||
      (!parts->filter.empty() && parts->probes > kProbesMax))
    return "a partition's filter has an impossible length or number of probes";
  return nullptr;
}

}  // namespace

void IndexPartitionBuilder::Finish(std::string* out) {
  std::string encoded;
  index.Finish(&encoded);
  const Slice records = decoupled.empty() ? Slice() : decoupled.Finish();
  PutFixed32(out, static_cast<uint32_t>(encoded.size()));
  out->push_back(static_cast<char>(records.empty() ? probes_ : probes_ | kHasDecoupled));
  if (!records.empty()) PutFixed32(out, static_cast<uint32_t>(records.size()));
  out->append(encoded);
  out->append(records);
  BuildBloom(hashes, bits_per_key_, probes_, out);
  decoupled.Reset();
  hashes.clear();
}

size_t DecoupledRecords::MemoryBytes(Slice encoded) {
  const size_t groups = DataBlock::GroupCount(encoded);
  return groups == 0 ? 0 : groups * sizeof(uint64_t) + encoded.size() + kDataBlockSlackBytes;
}

const char* DecoupledRecords::Load(Slice encoded, char* memory) {
  const uint32_t groups = DataBlock::GroupCount(encoded);
  auto* heads = reinterpret_cast<uint64_t*>(memory);
  char* bytes = memory + groups * sizeof(uint64_t);
  std::memcpy(bytes, encoded.data(), encoded.size());
  const char* error = block_.Check(Slice(bytes, encoded.size()), kDecoupledKinds);
  if (error != nullptr) return error;
  // Keys ascend, so the prefix that the first and the last share is common to all. If the keys of a
  // broken block do not ascend, all accesses are still within bounds.
  const Slice first = block_.group_key(0), last = block_.group_key(groups - 1);
  const size_t limit = std::min(first.size(), last.size());
  size_t common = 0;
  while (common < limit && first[common] == last[common]) ++common;
  for (uint32_t i = 0; i < groups; ++i) {
    const Slice key = block_.group_key(i);
    heads[i] = KeyHeads::HeadOf(key.substr(std::min(common, key.size())));
  }
  groups_ = KeyHeads(first.substr(0, common), heads, groups);
  return nullptr;
}

bool DecoupledRecords::Find(Slice key, uint64_t hash, bool prefix_delete,
                            DataBlockEntry* entry) const {
  if (groups_.count() == 0) return false;
  const KeyHeads::Range range = groups_.Find(key);
  const uint32_t before = range.begin == 0 ? 0 : range.begin - 1;
  const uint32_t at = block_.SeekGroup(key, before, std::max(range.end, before + 1));
  // The key's records stand in the last group that begins below the key, unless they begin groups
  // of their own.
  const bool begin_groups = range.begin < range.end || key.size() <= groups_.common().size();
  const uint32_t end = begin_groups ? std::min(at + 3, groups_.count()) : at + 1;
  return block_.FindInGroups(key, hash, prefix_delete, at, end, entry);
}

const char* LoadIndexPartition(Slice raw, uint32_t version, uint64_t base, uint64_t end,
                               std::shared_ptr<CachedIndexPartition>* out) {
  IndexPartitionParts parts;
  if (const char* error = Split(raw, version, &parts); error != nullptr) return error;
  const size_t index_memory = parts.index.empty() ? 0 : IndexBlock::MemoryBytes(parts.index);
  const size_t records_memory =
      parts.decoupled.empty() ? 0 : DecoupledRecords::MemoryBytes(parts.decoupled);
  if (records_memory == 0 && !parts.decoupled.empty())
    return "a partition's decoupled records are malformed";
  if (index_memory == 0 && !parts.index.empty()) return "a partition's index is malformed";
  if (index_memory == 0 && (records_memory == 0 || base != end))
    return "a partition has no index, but data blocks or no records";
  // The filter comes first, because its lines must not straddle cache lines; the index has an odd
  // length.
  char* memory = nullptr;
  auto index_partition = MakeTrailing<CachedIndexPartition>(
      parts.filter.size() + (records_memory + 7) / 8 * 8 + index_memory, &memory);
  std::memcpy(memory, parts.filter.data(), parts.filter.size());
  index_partition->filter =
      BloomView(memory, static_cast<uint32_t>(parts.filter.size() / kBloomLineBytes), parts.probes);
  memory += parts.filter.size();
  if (records_memory != 0) {
    const char* error = index_partition->decoupled.Load(parts.decoupled, memory);
    if (error != nullptr) return error;
    memory += (records_memory + 7) / 8 * 8;
  }
  if (index_memory != 0) {
    const char* error = index_partition->index.Load(parts.index, base, end, memory);
    if (error != nullptr) return error;
  }
  *out = std::move(index_partition);
  return nullptr;
}

}  // namespace lava::ksst
