// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/block_access.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "base/block.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "table/block_loader.h"
#include "table/index_block.h"
#include "table/index_partition.h"

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

Status BlockAccess::LoadIndexPartition(const BlockHandle& handle, uint64_t base,
                                       std::shared_ptr<const CachedIndexPartition>* out) const {
  CountBlockRead();
  LAVA_RETURN_IF_ERROR(loader->LoadIndexPartitionAt(handle, base, out));
  *out = std::static_pointer_cast<const CachedIndexPartition>(
      cache->Insert({file_id, handle.offset}, BlockCache::Segment::kIndex, std::move(*out), use()));
  return Status::OK();
}

void BlockAccess::AddIndexPartition(const IndexBlock& top, uint32_t i, Slice raw,
                                    uint32_t version) const {
  const BlockHandle handle = BlockAt(top, i);
  std::shared_ptr<CachedIndexPartition> index_partition;
  if (ksst::LoadIndexPartition(raw, version, top.extent_begin(i), handle.offset,
                               &index_partition) == nullptr)
    (void)cache->Insert({file_id, handle.offset}, BlockCache::Segment::kIndex,
                        std::move(index_partition), use());
}

}  // namespace lava::ksst
