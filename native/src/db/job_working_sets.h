#pragma once

#include <cstdint>

#include "collection/collection_job.h"
#include "compaction/compaction_job.h"
#include "compaction/flush_job.h"
#include "db/instance_context.h"

namespace lava {

/// Estimates of the memory that jobs take at once, which JobMemory grants. Units: bytes.
uint64_t WorkingSetOf(const InstanceContext& instance, const FlushInput& input);
uint64_t WorkingSetOf(const InstanceContext& instance, const CompactionInput& input);
uint64_t WorkingSetOf(const InstanceContext& instance, const CollectionInput& input);

}  // namespace lava
