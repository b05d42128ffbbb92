// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "lavafs/image.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fs/block_device.h"
#include "fs/direct_io.h"
#include "lava/status.h"
#include "lavafs/change.h"
#include "lavafs/format.h"
#include "lavafs/journal.h"

namespace lava::lavafs {
namespace {

Status At(const fs::BlockDevice& device, uint64_t offset, const std::string& what) {
  return Status::Corruption("volume " + device.name() + " at offset " + std::to_string(offset) +
                            ": " + what);
}

Status ReadSuperblock(fs::BlockDevice* device, Image* image) {
  std::optional<Superblock> found;
  Status first_error;
  fs::AlignedBuffer memory(kBlockBytes, kBlockBytes);
  for (const uint64_t offset : kSuperblockOffsets) {
    if (device->size() < offset + kBlockBytes) {
      return At(*device, offset,
                "it ends before its superblock, at " + std::to_string(device->size()) + " bytes");
    }
    LAVA_RETURN_IF_ERROR(device->Read(offset, kBlockBytes, memory.data()));
    Result<Superblock> read = DecodeSuperblock({memory.data(), kBlockBytes});
    if (!read.ok()) {
      image->superblocks_agree = false;
      if (first_error.ok()) {
        first_error = read.status().WithContext("volume " + device->name() + " at offset " +
                                                std::to_string(offset));
      }
    } else if (!found.has_value()) {
      found = *read;
    } else if (!(*found == *read)) {
      image->superblocks_agree = false;
      if (found->uuid != read->uuid) return At(*device, offset, "another volume's superblock");
      if (read->generation > found->generation) found = *read;
    }
  }
  if (!found.has_value()) return first_error;
  image->superblock = *found;
  return Status::OK();
}

// Number of transactions that count: after another boot, those before the first doubtful one.
size_t Trusted(const JournalContent& journal, bool same_boot) {
  const std::vector<Transaction>& transactions = journal.transactions;
  if (same_boot) return transactions.size();
  uint64_t durable = journal.durable_behind;
  for (const Transaction& transaction : transactions) {
    if (!transaction.checkpoint) durable = std::max(durable, transaction.header.durable);
  }
  const auto doubtful = [&](const Transaction& transaction) {
    return !transaction.checkpoint && !transaction.header.ordered &&
           transaction.header.sequence > durable;
  };
  return static_cast<size_t>(std::find_if(transactions.begin(), transactions.end(), doubtful) -
                             transactions.begin());
}

// The position of the first transaction that does not count; the next one is written there.
JournalWriter::Position PositionOf(const Transaction& transaction, uint32_t extent_bytes) {
  return {.start = {.extent = static_cast<uint32_t>(transaction.offset / extent_bytes),
                    .sequence = transaction.header.sequence,
                    .previous = transaction.header.previous},
          .offset = transaction.offset % extent_bytes};
}

bool IsOfTheJournal(const Change& change) {
  return change.type == Change::Type::kJump || change.type == Change::Type::kResume;
}

Status Replay(const Change& change, Image* image) {
  if (IsOfTheJournal(change)) return Status::OK();
  std::vector<ExtentRange> freed;
  LAVA_RETURN_IF_ERROR(image->metadata.Apply(change, &freed));
  for (const ExtentRange& range : change.ranges) {
    if (image->extents.Take(range)) continue;
    return Status::Corruption("extents " + std::to_string(range.first) + " to " +
                              std::to_string(range.first + range.count - 1) +
                              " belong to another file, or are not on the device");
  }
  for (const ExtentRange& range : freed) image->extents.Give(range);
  return Status::OK();
}

// Calls replay(change) for each change of a transaction.
template <typename ReplayChange>
Status ReplayEach(const fs::BlockDevice& device, const Transaction& transaction,
                  const ReplayChange& replay) {
  for (Slice in = transaction.payload; !in.empty();) {
    const uint64_t at = transaction.offset + kTransactionHeaderBytes +
                        static_cast<uint64_t>(in.data() - transaction.payload.data());
    Result<Change> change = DecodeChange(&in);
    const Status done = change.ok() ? replay(*change) : change.status();
    if (!done.ok()) return At(device, at, std::string(done.message()));
  }
  return Status::OK();
}

Status CheckWhole(const fs::BlockDevice& device, const Image& image) {
  Status bad = image.metadata.CheckFiles(image.superblock.extent_bytes);
  if (!bad.ok()) return bad.WithContext("volume " + device.name());
  return Status::OK();
}

}  // namespace

Result<Image> ReadImage(fs::BlockDevice* device, uint64_t boot) {
  Image image;
  LAVA_RETURN_IF_ERROR(ReadSuperblock(device, &image));
  const uint32_t extent_bytes = image.superblock.extent_bytes;
  const uint64_t extents = std::min(device->size(), image.superblock.capacity_bytes) / extent_bytes;
  image.metadata = Metadata(NumbersMax(extents * extent_bytes));
  image.extents = ExtentMap(static_cast<uint32_t>(extents));
  LAVA_ASSIGN_OR_RETURN(JournalContent journal, ReadJournal(device, image.superblock));
  const bool same_boot =
      boot != 0 && !journal.transactions.empty() && journal.transactions.back().header.boot == boot;
  const size_t trusted = Trusted(journal, same_boot);
  image.end = journal.end;
  image.transactions = trusted;
  image.transactions_left_out = journal.transactions.size() - trusted;
  if (image.transactions_left_out > 0) {
    image.end = PositionOf(journal.transactions[trusted], extent_bytes);
    // Later extents no longer belong to the journal.
    const auto last =
        std::find(journal.extents.begin(), journal.extents.end(), image.end.start.extent);
    journal.extents.erase(last + 1, journal.extents.end());
  }
  image.last_sequence = image.end.start.sequence - 1;
  if (!same_boot) image.end.start.sequence = SequenceOfNextBoot(image.end.start.sequence);
  for (size_t number = 0; number < trusted; number++) {
    LAVA_RETURN_IF_ERROR(ReplayEach(*device, journal.transactions[number],
                                    [&](const Change& change) { return Replay(change, &image); }));
  }
  for (const uint32_t extent : journal.extents) {
    if (image.extents.Take({extent, 1})) continue;
    return At(*device, uint64_t{extent} * extent_bytes,
              "extent " + std::to_string(extent) + " belongs to the journal and to a file");
  }
  image.journal_extents = std::move(journal.extents);
  LAVA_RETURN_IF_ERROR(CheckWhole(*device, image));
  return image;
}

Result<Metadata> ReplayUpTo(fs::BlockDevice* device, const Superblock& superblock,
                            uint64_t last_sequence) {
  LAVA_ASSIGN_OR_RETURN(const JournalContent journal,
                        ReadJournal(device, superblock, last_sequence));
  const uint64_t found = journal.transactions.back().header.sequence;
  if (found != last_sequence) {
    return Status::Corruption("journal of volume " + device->name() + ": transaction " +
                              std::to_string(last_sequence) + " was written, and it ends at " +
                              std::to_string(found));
  }
  Metadata metadata(NumbersMax(device->size()));
  std::vector<ExtentRange> freed;
  for (const Transaction& transaction : journal.transactions) {
    LAVA_RETURN_IF_ERROR(ReplayEach(*device, transaction, [&](const Change& change) {
      return IsOfTheJournal(change) ? Status::OK() : metadata.Apply(change, &freed);
    }));
    freed.clear();
  }
  return metadata;
}

}  // namespace lava::lavafs
