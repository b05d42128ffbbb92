// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fs/block_device.h"
#include "lavafs/extent_map.h"
#include "lavafs/journal.h"
#include "lavafs/metadata.h"

namespace lava::lavafs {

/// The content of a volume, read without changing anything.
/// Threads:    a value.
/// Ownership:  owns its content; borrows nothing from the device.
struct Image {
  Superblock superblock;
  bool superblocks_agree = true;  // false: one is damaged or older; the next mount repairs it
  Metadata metadata{0};
  ExtentMap extents{0};
  std::vector<uint32_t> journal_extents;
  JournalWriter::Position
      end;  // where the journal continues, and its next sequence under this boot
  uint64_t last_sequence = 0;
  uint64_t transactions = 0;
  uint64_t transactions_left_out = 0;
};

/// Replays a volume's journal.
/// boot: the machine's current boot (TransactionHeader::boot). If the volume was last written
/// during another boot, the machine may have lost unsynced writes. The journal then ends at the
/// first transaction whose contents had not been synced, unless a later transaction says that they
/// were synced afterwards.
/// Errors:     Corruption with the offset, NotSupported for a newer format, IOError.
Result<Image> ReadImage(fs::BlockDevice* device, uint64_t boot);

/// The metadata according to the journal up to a transaction that has been written. Later
/// transactions may be written meanwhile. Errors: as ReadImage().
Result<Metadata> ReplayUpTo(fs::BlockDevice* device, const Superblock& superblock,
                            uint64_t last_sequence);

/// Upper bound of the number of files, and of directories, on a device of that size. Their memory
/// is thus at most about a twentieth of the device's size, whatever a journal says.
constexpr uint32_t NumbersMax(uint64_t device_bytes) {
  return static_cast<uint32_t>(std::min<uint64_t>(device_bytes / 1024 + 1024, UINT32_MAX / 2));
}

}  // namespace lava::lavafs
