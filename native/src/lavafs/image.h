#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fs/block_device.h"
#include "lavafs/extent_map.h"
#include "lavafs/journal.h"
#include "lavafs/metadata.h"

namespace lava::lavafs {

/// What a volume's bytes say, read without changing any.
struct Image {
  Superblock superblock;
  bool superblocks_agree = true;  // false: one is damaged or older; the next mount mends it
  Metadata metadata{0};
  ExtentMap extents{0};
  std::vector<uint32_t> journal_extents;
  JournalWriter::Place end;  // where the journal goes on, and how under this start
  uint64_t last_sequence = 0;
  uint64_t transactions = 0;
  uint64_t transactions_left_out = 0;
};

/// Replays a volume's journal.
/// boot: this start of the machine (TransactionHeader::boot). Under another one than the volume was
/// last written in, what the machine may have lost counts: the journal ends at the first
/// transaction that speaks of contents that had not been synced, unless a later one says that they
/// have been since.
/// Errors:     Corruption with the offset, NotSupported for a newer format, IOError.
Result<Image> ReadImage(fs::BlockDevice* device, uint64_t boot);

/// The metadata that a volume's journal says up to a transaction that has been written, beside
/// whoever writes the next ones. Errors: as ReadImage().
Result<Metadata> ReplayUpTo(fs::BlockDevice* device, const Superblock& superblock,
                            uint64_t last_sequence);

/// How many files, and how many directories, a device of that size may have: so many that they take
/// a twentieth of its size in memory, whatever a journal says.
constexpr uint32_t NumbersMax(uint64_t device_bytes) {
  return static_cast<uint32_t>(std::min<uint64_t>(device_bytes / 1024 + 1024, UINT32_MAX / 2));
}

}  // namespace lava::lavafs
