// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "base/hash.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"

namespace lava {

/// Blocks of key SSTs and value SSTs: a stored payload, then codec, raw length and a checksum.

inline constexpr size_t kBlockTrailerBytes = 13;  // codec, raw bytes, checksum
/// Largest block before compression. A block holds at least one whole record, and the largest value
/// is a list with all its appends. Block lengths have 32 bits.
inline constexpr uint64_t kRawBlockBytesMax = kListBytesMax + (64u << 20);
static_assert(kRawBlockBytesMax <= UINT32_MAX);

/// Location of a block; bytes excludes the trailer. Offset 0 with 0 bytes: no block.
struct BlockHandle {
  uint64_t offset = 0;
  uint32_t bytes = 0;
  uint64_t end() const { return offset + bytes + kBlockTrailerBytes; }
};

/// The checksum of a block. Covers the stored bytes, codec, raw length, offset and file id.
uint64_t BlockChecksum(uint64_t unique_id, uint64_t offset, Slice payload_and_head);
/// Appends the trailer to *block, which must hold only the stored payload.
void SealBlock(uint64_t unique_id, uint64_t offset, Compression codec, uint32_t raw_bytes,
               std::string* block);

/// The checksum of a block that arrives in pieces, cut at any byte. Threads: one.
class PieceChecksum {
 public:
  PieceChecksum(uint64_t unique_id, uint64_t offset);
  void Add(Slice piece);
  /// The checksum of all bytes added so far.
  uint64_t Sum() const;
  /// Returns the block's trailer; call after the whole payload was added.
  std::string Seal(Compression codec, uint32_t raw_bytes);

 private:
  XXH3_state_t state_;
};

/// A block's trailer, after its checksum was verified.
struct BlockTrailer {
  Compression codec = Compression::kNone;
  uint32_t raw_bytes = 0;
};
/// Verifies a stored block and fills *trailer.
/// stored: payload and trailer, handle.bytes + kBlockTrailerBytes bytes.
/// Errors: Corruption on a wrong checksum, an unknown codec or an impossible raw length.
Status CheckBlock(const std::string& path, uint64_t unique_id, const BlockHandle& handle,
                  Slice stored, BlockTrailer* trailer);

/// A Corruption with the message "<path>: at offset <offset>: <what>".
Status CorruptionAt(const std::string& path, uint64_t offset, const std::string& what);

}  // namespace lava
