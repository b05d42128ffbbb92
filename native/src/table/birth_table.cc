#include "table/birth_table.h"

#include "base/coding.h"

namespace lava::ksst {

void BirthTableBuilder::Add(uint64_t partition, const ValueReference& reference, std::string* out) {
  const auto [it, is_new] =
      indexes_.try_emplace(reference.birth, static_cast<uint32_t>(births_->size()));
  if (is_new) births_->push_back({reference.birth, {}});
  auto& partitions = (*births_)[it->second].partitions;
  // Keys ascend, and so do their partitions.
  if (partitions.empty() || partitions.back().partition != partition)
    partitions.push_back({partition, 0, 0});
  TableProperties::NamedBirth::Share& share = partitions.back();
  ++share.records;
  share.raw_bytes += reference.raw_bytes;
  PutVarint32(out, it->second);
  PutVarint64(out, reference.raw_bytes);
  if (reference.timestamp) PutFixed64(out, *reference.timestamp);
}

bool DecodeFileReference(Slice bytes, const std::vector<TableProperties::NamedBirth>& births,
                         ValueReference* reference) {
  uint32_t index = 0;
  if (!GetVarint32(&bytes, &index) || index >= births.size() ||
      !GetVarint64(&bytes, &reference->raw_bytes))
    return false;
  reference->birth = births[index].birth;
  reference->timestamp.reset();
  if (bytes.empty()) return true;
  uint64_t timestamp = 0;
  if (!GetFixed64(&bytes, &timestamp) || !bytes.empty()) return false;
  reference->timestamp = timestamp;
  return true;
}

}  // namespace lava::ksst
