#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "lava/slice.h"
#include "lava/status.h"

namespace lava::lavafs {

/// The bytes of a volume; docs/lavafs-format.md says what they mean. Numbers are little endian.
/// Threads:    none shared.
/// Errors:     Corruption with what is wrong, without place: the caller knows the offset.

inline constexpr uint32_t kFormatVersion = 1;
inline constexpr uint32_t kBlockBytes = 4096;
/// Both hold the same; the first block is left alone.
inline constexpr std::array<uint64_t, 2> kSuperblockOffsets = {1 * kBlockBytes, 2 * kBlockBytes};
/// The superblocks' extent is nobody else's.
inline constexpr uint32_t kFirstExtent = 1;
inline constexpr uint32_t kExtentBytesMin = 16 << 10;
inline constexpr uint32_t kExtentBytesMax = 64 << 20;
inline constexpr uint32_t kExtentsMax = 1u << 30;
inline constexpr uint32_t kNameBytesMax = 255;
/// Directories are named by whole paths.
inline constexpr uint32_t kDirectoryNameBytesMax = 4096 - 1;

struct Uuid {
  uint64_t high = 0, low = 0;
  friend bool operator==(const Uuid&, const Uuid&) = default;
};
std::string ToString(const Uuid& uuid);

/// Where the journal's first transaction stands, and what it must say.
struct JournalStart {
  uint32_t extent = 0;
  uint64_t sequence = 0;
  uint64_t previous = 0;  // the checksum that it must name as its predecessor's
  friend bool operator==(const JournalStart&, const JournalStart&) = default;
};

struct Superblock {
  Uuid uuid = {};
  uint32_t extent_bytes = 0;
  uint64_t capacity_bytes = 0;
  uint64_t generation = 0;  // one more each time that it is written
  JournalStart journal = {};
  friend bool operator==(const Superblock&, const Superblock&) = default;
};

/// kBlockBytes.
std::string EncodeSuperblock(const Superblock& superblock);
/// block: kBlockBytes. NotSupported for a newer version.
Result<Superblock> DecodeSuperblock(Slice block);

/// A transaction is a header and a payload of changes, padded to whole blocks.
struct TransactionHeader {
  uint32_t payload_bytes = 0;
  uint64_t sequence = 0;
  uint64_t previous = 0;  // checksum of the transaction before
  uint64_t mount = 0;     // random, another one for each mount
  uint64_t boot = 0;      // which start of the machine the mount belongs to; 0: unknown
  uint64_t durable = 0;   // all up to this sequence had been synced when this was written
  /// The contents of files that its sizes speak of had been synced when it was written.
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
/// What a header says of itself, before its checksum can be looked at. False: this is no header, or
/// its transaction would not fit into bytes_max.
bool PeekTransaction(Slice block, uint64_t bytes_max, TransactionHeader* header);
/// bytes: TransactionBytes(header.payload_bytes). False: the checksum is another one.
bool CheckTransaction(const Uuid& uuid, const TransactionHeader& header, Slice bytes);

}  // namespace lava::lavafs
