#pragma once

#include <memory>

#include "job/compaction_job.h"

namespace lava {

/// What the compaction must know of input.version: the entries in the range of its inputs, and of
/// the births that these name what had expired, what is in input.merged_values, and what has values
/// of lists, whose parts may have to be put together. It keeps no other value file, so that what is
/// collected meanwhile is given back at once.
/// Threads:    any thread. Its time grows with the inputs and what overlaps them.
std::shared_ptr<const Version> ScopeOf(const CompactionInput& input);

}  // namespace lava
