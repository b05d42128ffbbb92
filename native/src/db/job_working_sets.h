// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "collection/collection_job.h"
#include "compaction/compaction_job.h"
#include "compaction/flush_job.h"
#include "db/instance_context.h"

namespace lava {

/// Estimates of the memory that a job takes at one time, for a grant of JobMemory.
/// Threads: any. Units: bytes.
uint64_t WorkingSetOf(const InstanceContext& instance, const FlushInput& input);
uint64_t WorkingSetOf(const InstanceContext& instance, const CompactionInput& input);
uint64_t WorkingSetOf(const InstanceContext& instance, const CollectionInput& input);

}  // namespace lava
