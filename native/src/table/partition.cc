#include "table/partition.h"

#include <cstring>

#include "base/coding.h"

namespace lava::ksst {
namespace {

constexpr size_t kPartitionHeadBytes = 5;
constexpr uint8_t kProbesMax = 16;

}  // namespace

void EncodePartition(IndexBlockBuilder* index, std::span<const uint64_t> hashes,
                     uint32_t bits_per_key, uint8_t probes, std::string* out) {
  std::string encoded;
  index->Finish(&encoded);
  PutFixed32(out, static_cast<uint32_t>(encoded.size()));
  out->push_back(static_cast<char>(probes));
  out->append(encoded);
  BuildBloom(hashes, bits_per_key, probes, out);
}

const char* LoadPartition(Slice raw, uint64_t base, uint64_t end,
                          std::shared_ptr<CachedPartition>* out) {
  if (raw.size() < kPartitionHeadBytes) return "a partition is shorter than its head";
  uint32_t index_bytes = DecodeFixed32(raw.data());
  uint8_t probes = static_cast<uint8_t>(raw[4]);
  raw.remove_prefix(kPartitionHeadBytes);
  if (index_bytes > raw.size()) return "a partition's index ends behind it";
  Slice filter = raw.substr(index_bytes);
  if (filter.size() % kBloomLineBytes != 0 || (!filter.empty() && probes > kProbesMax))
    return "a partition's filter has an impossible length or number of probes";
  size_t index_memory = IndexBlock::MemoryBytes(raw.substr(0, index_bytes));
  if (index_memory == 0) return "a partition's index is malformed";
  // The filter first: its lines must not straddle cache lines.
  char* memory = nullptr;
  auto partition = MakeTrailing<CachedPartition>(filter.size() + index_memory, &memory);
  std::memcpy(memory, filter.data(), filter.size());
  partition->filter =
      BloomView(memory, static_cast<uint32_t>(filter.size() / kBloomLineBytes), probes);
  const char* error =
      partition->index.Load(raw.substr(0, index_bytes), base, end, memory + filter.size());
  if (error == nullptr) *out = std::move(partition);
  return error;
}

}  // namespace lava::ksst
