#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "manifest/version.h"

namespace lava {

/// What of a value file in a version no reference reaches, in raw bytes of values, as far as the
/// version tells: references that a newer record hides still count as reaching (Scavenger calls
/// that hidden garbage), until a compaction drops them.
/// Costs a look at each birth that the file holds.
ValueGarbage GarbageOf(const Version& version, const ValueFileMeta& file);

/// The same of a version's file, with the file.
struct ValueFileGarbage {
  std::shared_ptr<ValueFileMeta> file;
  uint64_t raw_bytes = 0;
  /// Equal when everything in the file was born there and no key file that names it is clipped.
  uint64_t garbage_min = 0, garbage_max = 0;
  /// In between: the garbage of a birth that several files hold is shared out by what they hold.
  uint64_t garbage_estimate = 0;
  /// What references name of the births that the file holds; falls as values die.
  uint64_t referenced = 0;
};

/// One for each value file, ascending by id: what the version knows of it.
std::vector<ValueFileGarbage> GarbageOf(const Version& version);

}  // namespace lava
