#pragma once

#include <cstdint>

namespace lava::os {

/// A number for this start of the machine: what was written before it may have been lost in a power
/// cut, what was written since is there as long as the machine runs. 0: the kernel does not tell.
/// Threads:    any.
uint64_t BootId();

}  // namespace lava::os
