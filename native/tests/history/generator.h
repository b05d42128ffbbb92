#pragma once

#include "tests/history/operation.h"

namespace lava::testing {

struct GeneratorOptions {
  size_t operations = 1000;
  /// Only what changes an instance, and little of it at a time: for crashes.
  bool writes_only = false;
  /// One in so many values is large.
  uint32_t large_one_in = 60;
  /// One in so many puts ends an entry of the layer above, and one in so many runs of jobs is
  /// something else that this layer does.
  uint32_t entries_one_in = 8;
};

/// A history over every public call. The same seed and options give the same history; a shorter
/// one is the longer one's beginning. Time only goes on and TTLs only become shorter, so that what
/// has expired once stays so.
History GenerateHistory(uint64_t seed, const GeneratorOptions& options);

}  // namespace lava::testing
