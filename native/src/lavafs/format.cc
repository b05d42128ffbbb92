// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "lavafs/format.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/coding.h"
#include "base/hash.h"
#include "lava/slice.h"
#include "lava/status.h"

namespace lava::lavafs {
namespace {

constexpr Slice kSuperblockMagic("LavaFS\x01\x0a", 8);
// magic, version, block, extent, journal's extent; uuid, capacity, generation, sequence, previous
constexpr size_t kSuperblockBytes = 8 + 4 * 4 + 2 * 8 + 4 * 8;
constexpr uint32_t kTransactionMagic = 0x4e544a4c;  // "LJTN"
constexpr uint32_t kOrderedFlag = 1;
constexpr size_t kChecksumAt = kTransactionHeaderBytes - 8;

// Covers the header up to its checksum, and the payload.
uint64_t ChecksumOf(const Uuid& uuid, Slice header, Slice payload) {
  return Hash64(payload, Hash64(header.substr(0, kChecksumAt), uuid.high ^ uuid.low));
}

}  // namespace

std::string ToString(const Uuid& uuid) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint64_t half : {uuid.high, uuid.low}) {
    for (int shift = 60; shift >= 0; shift -= 4) text.push_back(kDigits[half >> shift & 15]);
  }
  return text;
}

std::string EncodeSuperblock(const Superblock& superblock) {
  std::string out(kSuperblockMagic);
  PutFixed32(&out, kFormatVersion);
  PutFixed32(&out, kBlockBytes);
  PutFixed32(&out, superblock.extent_bytes);
  PutFixed32(&out, superblock.journal.extent);
  PutFixed64(&out, superblock.uuid.high);
  PutFixed64(&out, superblock.uuid.low);
  PutFixed64(&out, superblock.capacity_bytes);
  PutFixed64(&out, superblock.generation);
  PutFixed64(&out, superblock.journal.sequence);
  PutFixed64(&out, superblock.journal.previous);
  LAVA_DCHECK(out.size() == kSuperblockBytes);
  PutFixed64(&out, Hash64(out));
  out.resize(kBlockBytes, '\0');
  return out;
}

Result<Superblock> DecodeSuperblock(Slice block) {
  LAVA_CHECK(block.size() == kBlockBytes);
  if (block.substr(0, kSuperblockMagic.size()) != kSuperblockMagic) {
    return Status::Corruption("no LavaFS superblock: its first bytes are others");
  }
  if (DecodeFixed64(block.data() + kSuperblockBytes) != Hash64(block.substr(0, kSuperblockBytes))) {
    return Status::Corruption("the superblock's checksum is not that of its bytes");
  }
  Slice in = block.substr(kSuperblockMagic.size());
  Superblock superblock;
  uint32_t version = 0, block_bytes = 0;
  const bool whole =
      GetFixed32(&in, &version) && GetFixed32(&in, &block_bytes) &&
      GetFixed32(&in, &superblock.extent_bytes) && GetFixed32(&in, &superblock.journal.extent) &&
      GetFixed64(&in, &superblock.uuid.high) && GetFixed64(&in, &superblock.uuid.low) &&
      GetFixed64(&in, &superblock.capacity_bytes) && GetFixed64(&in, &superblock.generation) &&
      GetFixed64(&in, &superblock.journal.sequence) &&
      GetFixed64(&in, &superblock.journal.previous);
  LAVA_CHECK(whole);
  if (version != kFormatVersion) {
    return Status::NotSupported("LavaFS format version " + std::to_string(version) +
                                "; this build reads version " + std::to_string(kFormatVersion) +
                                "; use the Lava that wrote the volume, or a newer one");
  }
  const uint32_t extent_bytes = superblock.extent_bytes;
  if (block_bytes != kBlockBytes || !std::has_single_bit(extent_bytes) ||
      extent_bytes < kExtentBytesMin || extent_bytes > kExtentBytesMax) {
    return Status::Corruption("blocks of " + std::to_string(block_bytes) + " and extents of " +
                              std::to_string(extent_bytes) + " bytes");
  }
  const uint64_t extents = superblock.capacity_bytes / extent_bytes;
  if (extents > kExtentsMax || superblock.journal.extent < kFirstExtent ||
      superblock.journal.extent >= extents) {
    return Status::Corruption("the journal in extent " + std::to_string(superblock.journal.extent) +
                              " of " + std::to_string(extents));
  }
  return superblock;
}

uint64_t EncodeTransaction(const Uuid& uuid, const TransactionHeader& header, Slice payload,
                           std::string* out) {
  const size_t begin = out->size();
  PutFixed32(out, kTransactionMagic);
  PutFixed32(out, static_cast<uint32_t>(payload.size()));
  PutFixed64(out, header.sequence);
  PutFixed64(out, header.previous);
  PutFixed64(out, header.mount);
  PutFixed64(out, header.boot);
  PutFixed64(out, header.durable);
  PutFixed32(out, header.ordered ? kOrderedFlag : 0);
  PutFixed32(out, 0);
  const uint64_t checksum = ChecksumOf(uuid, Slice(*out).substr(begin), payload);
  PutFixed64(out, checksum);
  out->append(payload);
  out->resize(begin + TransactionBytes(payload.size()), '\0');
  return checksum;
}

bool PeekTransaction(Slice block, uint64_t bytes_max, TransactionHeader* header) {
  uint32_t magic = 0, flags = 0, zero = 0;
  const bool whole = GetFixed32(&block, &magic) && GetFixed32(&block, &header->payload_bytes) &&
                     GetFixed64(&block, &header->sequence) &&
                     GetFixed64(&block, &header->previous) && GetFixed64(&block, &header->mount) &&
                     GetFixed64(&block, &header->boot) && GetFixed64(&block, &header->durable) &&
                     GetFixed32(&block, &flags) && GetFixed32(&block, &zero) &&
                     GetFixed64(&block, &header->checksum);
  header->ordered = (flags & kOrderedFlag) != 0;
  return whole && magic == kTransactionMagic &&
         TransactionBytes(header->payload_bytes) <= bytes_max;
}

bool CheckTransaction(const Uuid& uuid, const TransactionHeader& header, Slice bytes) {
  LAVA_CHECK(bytes.size() == TransactionBytes(header.payload_bytes));
  const Slice payload = bytes.substr(kTransactionHeaderBytes, header.payload_bytes);
  return ChecksumOf(uuid, bytes, payload) == header.checksum;
}

}  // namespace lava::lavafs
