// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "lava/slice.h"
#include "lava/status.h"

namespace lava::lavafs {

/// The format of a volume; docs/lavafs-format.md describes it. Numbers are little endian.
/// Threads:    none shared.
/// Errors:     Corruption that says what is wrong but not where: the caller knows the offset.

inline constexpr uint32_t kFormatVersion = 1;
inline constexpr uint32_t kBlockBytes = 4096;
/// Both superblocks have the same content. The device's first block is left alone.
inline constexpr std::array<uint64_t, 2> kSuperblockOffsets = {kBlockBytes,
                                                               uint64_t{2} * kBlockBytes};
/// Extent 0 is reserved for the superblocks.
inline constexpr uint32_t kFirstExtent = 1;
inline constexpr uint32_t kExtentBytesMin = 16 << 10;
inline constexpr uint32_t kExtentBytesMax = 64 << 20;
inline constexpr uint32_t kExtentsMax = 1u << 30;
inline constexpr uint32_t kNameBytesMax = 255;
/// A directory's name is its whole path.
inline constexpr uint32_t kDirectoryNameBytesMax = 4096 - 1;

struct Uuid {
  uint64_t high = 0, low = 0;
  friend bool operator==(const Uuid&, const Uuid&) = default;
};
std::string ToString(const Uuid& uuid);

/// Where the journal's first transaction is, and its expected sequence and predecessor.
struct JournalStart {
  uint32_t extent = 0;
  uint64_t sequence = 0;
  uint64_t previous = 0;  // the checksum of the predecessor, which the transaction must name
  friend bool operator==(const JournalStart&, const JournalStart&) = default;
};

struct Superblock {
  Uuid uuid = {};
  uint32_t extent_bytes = 0;
  uint64_t capacity_bytes = 0;
  uint64_t generation = 0;  // incremented by each write
  JournalStart journal = {};
  friend bool operator==(const Superblock&, const Superblock&) = default;
};

/// Returns kBlockBytes.
std::string EncodeSuperblock(const Superblock& superblock);
/// block: kBlockBytes. NotSupported for a newer version.
Result<Superblock> DecodeSuperblock(Slice block);

/// A transaction is a header and a payload of changes, padded to whole blocks.
struct TransactionHeader {
  uint32_t payload_bytes = 0;
  uint64_t sequence = 0;
  uint64_t previous = 0;  // checksum of the transaction before
  uint64_t mount = 0;     // random number of the mount
  uint64_t boot = 0;      // identifies the machine's boot during the mount; 0: unknown
  uint64_t durable = 0;   // everything up to this sequence had been synced when this was written
  /// The contents of the files whose sizes it changes had been synced when it was written.
  bool ordered = false;
  uint64_t checksum = 0;  // set by EncodeTransaction()
};
inline constexpr uint32_t kTransactionHeaderBytes = 64;

/// Appends the transaction, padded; returns its checksum.
uint64_t EncodeTransaction(const Uuid& uuid, const TransactionHeader& header, Slice payload,
                           std::string* out);
constexpr uint64_t TransactionBytes(uint64_t payload_bytes) {
  return (kTransactionHeaderBytes + payload_bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
}
/// Reads a header before its checksum can be verified. False: the block has no header, or its
/// transaction would not fit into bytes_max.
bool PeekTransaction(Slice block, uint64_t bytes_max, TransactionHeader* header);
/// bytes: TransactionBytes(header.payload_bytes). False: the checksum does not match.
bool CheckTransaction(const Uuid& uuid, const TransactionHeader& header, Slice bytes);

}  // namespace lava::lavafs
