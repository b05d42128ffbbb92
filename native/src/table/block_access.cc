#include "table/block_access.h"

namespace lava::ksst {

Status BlockAccess::LoadData(const BlockHandle& handle,
                             std::shared_ptr<const CachedDataBlock>* out) const {
  CountBlockRead();
  LAVA_RETURN_IF_ERROR(loader->LoadData(handle, out));
  AddData(handle, out);
  return Status::OK();
}

Status BlockAccess::LoadDataFrom(const BlockHandle& handle, Slice stored,
                                 std::shared_ptr<const CachedDataBlock>* out) const {
  CountBlockRead();
  LAVA_RETURN_IF_ERROR(loader->LoadDataFrom(handle, stored, out));
  AddData(handle, out);
  return Status::OK();
}

void BlockAccess::AddData(const BlockHandle& handle,
                          std::shared_ptr<const CachedDataBlock>* block) const {
  *block = std::static_pointer_cast<const CachedDataBlock>(cache->Insert(
      {file_id, handle.offset}, BlockCache::Segment::kData, std::move(*block), use()));
}

Status BlockAccess::LoadPartition(const BlockHandle& handle, uint64_t base,
                                  std::shared_ptr<const CachedPartition>* out) const {
  CountBlockRead();
  LAVA_RETURN_IF_ERROR(loader->LoadPartitionAt(handle, base, out));
  *out = std::static_pointer_cast<const CachedPartition>(
      cache->Insert({file_id, handle.offset}, BlockCache::Segment::kIndex, std::move(*out), use()));
  return Status::OK();
}

void BlockAccess::AddPartition(const IndexBlock& top, uint32_t i, Slice raw,
                               uint32_t version) const {
  const BlockHandle handle = BlockAt(top, i);
  std::shared_ptr<CachedPartition> partition;
  if (ksst::LoadPartition(raw, version, top.extent_begin(i), handle.offset, &partition) == nullptr)
    (void)cache->Insert({file_id, handle.offset}, BlockCache::Segment::kIndex, std::move(partition),
                        use());
}

}  // namespace lava::ksst
