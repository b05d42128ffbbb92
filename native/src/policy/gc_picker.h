#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lava {

/// What a choice of value files to collect goes by. Units: raw bytes of values.
struct GcFile {
  uint64_t raw_bytes = 0;
  uint64_t garbage = 0;  // thought to be; never more than raw_bytes counts
  bool busy = false;
  bool hot = false;  // of keys that are written often
  bool in_checkpoint = false;
};
struct GcOptions {
  uint32_t garbage_percent = 25;          // a file with less is left alone; above 100: all are
  uint32_t checkpoint_percent = 25;       // the same for what a checkpoint has
  uint64_t live_bytes_max = 64ull << 20;  // one job copies about so much at most
  bool last_resort = false;               // writes wait for room
};
inline constexpr size_t kGcFilesMax = 8;  // of one job

/// The files that one job should collect together, the dirtiest first: what they free for each byte
/// copied is most; none that is much cleaner than the first, which can wait for more garbage. Of
/// equals a hot one (Scavenger 3.4.2), then the one that stands first. Empty when none is worth it.
/// Pure.
std::vector<size_t> PickGarbage(const std::vector<GcFile>& files, const GcOptions& options);

}  // namespace lava
