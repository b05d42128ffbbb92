// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fs/block_device.h"
#include "fs/direct_io.h"
#include "lavafs/format.h"

namespace lava::lavafs {

/// Writes transactions one after another: fills an extent, then continues in the next one.
/// Threads:    one at a time.
/// Ownership:  the device must outlive it.
/// Errors:     the device's; the writer is useless afterwards.
class JournalWriter {
 public:
  struct Identity {
    Uuid uuid = {};
    uint32_t extent_bytes = 0;
    uint64_t mount = 0, boot = 0;  // as in TransactionHeader
  };
  /// Where the next transaction goes, and its sequence and predecessor.
  struct Position {
    JournalStart start = {};
    uint64_t offset = 0;  // within the extent
  };
  JournalWriter(fs::BlockDevice* device, const Identity& identity, const Position& position)
      : device_(device), identity_(identity), position_(position) {}

  /// Whether a payload fits in this extent; otherwise Jump() must come first.
  bool Fits(uint64_t payload_bytes) const;
  /// Largest payload of a transaction: it fits into an empty extent, and its write is so short that
  /// other writes hardly wait.
  uint64_t payload_bytes_max() const;
  /// durable: everything up to that sequence has been synced. ordered: see TransactionHeader.
  Status Write(Slice payload, uint64_t durable, bool ordered);
  /// Continues in another extent.
  Status Jump(uint32_t extent, uint64_t durable);
  /// Writes the last transaction of a checkpoint: the journal continues at `start`.
  Status Resume(const JournalStart& start);

  const Position& position() const { return position_; }
  /// Of the last transaction.
  uint64_t sequence() const { return position_.start.sequence - 1; }
  uint64_t bytes_written() const { return bytes_written_; }

 private:
  Status Put(Slice payload, uint64_t durable, bool ordered);

  fs::BlockDevice* const device_;
  const Identity identity_;
  Position position_;
  std::string encoded_;
  fs::AlignedBuffer memory_;
  uint64_t bytes_written_ = 0;
};

/// A transaction read from a journal.
struct Transaction {
  TransactionHeader header;
  uint64_t offset = 0;  // on the device
  bool checkpoint = false;
  std::string payload = {};
};

/// A whole journal. Owns its payloads.
struct JournalContent {
  std::vector<Transaction> transactions;
  std::vector<uint32_t> extents;
  JournalWriter::Position end;  // where the next transaction goes
  /// The highest sequence that leftover transactions after the end declare to have been synced.
  uint64_t durable_behind = 0;
};

/// The first sequence that another boot writes after transaction `sequence` - 1. The gap is larger
/// than anything that earlier boots can have written and lost. Without it, their leftovers in an
/// extent that the journal reuses would have the same numbers, and their statements about synced
/// transactions would be accepted.
constexpr uint64_t SequenceOfNextBoot(uint64_t sequence) { return ((sequence >> 32) + 1) << 32; }

/// Reads from a superblock's start to the first transaction that is not whole: a power cut tore it,
/// or none was written there. With last_sequence it reads exactly up to that transaction, so that a
/// writer may continue meanwhile.
/// Errors:     Corruption with the offset: a checkpoint that is not whole, a journal that goes in
///             circles, or a damaged transaction that a later one declares to have been synced.
Result<JournalContent> ReadJournal(fs::BlockDevice* device, const Superblock& superblock,
                                   uint64_t last_sequence = UINT64_MAX);

/// Reads length bytes into memory that is aligned for the device, and grows the memory if needed.
Status ReadAligned(fs::BlockDevice* device, uint64_t offset, size_t length, fs::AlignedBuffer* to);

}  // namespace lava::lavafs
