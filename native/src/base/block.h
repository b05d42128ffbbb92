#pragma once

#include <cstdint>
#include <string>

#include "base/hash.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"

namespace lava {

/// Blocks of all kinds of SST: a stored payload, then codec, raw length and a checksum.

inline constexpr size_t kBlockTrailerBytes = 13;  // codec, raw bytes, checksum
/// Before compression; a block has at least one record, so it may be larger than a value, which is
/// a list with all its appends at most. Lengths of blocks are 32 bits.
inline constexpr uint64_t kRawBlockBytesMax = kListBytesMax + (64u << 20);
static_assert(kRawBlockBytesMax <= UINT32_MAX);

/// Where a block stands; bytes without the trailer. bytes 0 with offset 0: there is none.
struct BlockHandle {
  uint64_t offset = 0;
  uint32_t bytes = 0;
  uint64_t end() const { return offset + bytes + kBlockTrailerBytes; }
};

/// The checksum of a block: its stored bytes, codec and raw length, its place and its file.
uint64_t BlockChecksum(uint64_t unique_id, uint64_t offset, Slice payload_and_head);
/// Appends the trailer to *block, which holds the stored payload alone.
void SealBlock(uint64_t unique_id, uint64_t offset, Compression codec, uint32_t raw_bytes,
               std::string* block);

/// The checksum of a block that comes in pieces, which may be cut anywhere. Threads: one.
class PieceChecksum {
 public:
  PieceChecksum(uint64_t unique_id, uint64_t offset);
  void Add(Slice piece);
  /// Of what was added so far.
  uint64_t Sum() const;
  /// The trailer of a block whose payload was added.
  std::string Seal(Compression codec, uint32_t raw_bytes);

 private:
  XXH3_state_t state_;
};

/// A block's trailer, once its checksum is right.
struct BlockTrailer {
  Compression codec = Compression::kNone;
  uint32_t raw_bytes = 0;
};
/// stored: payload and trailer, handle.bytes + kBlockTrailerBytes bytes.
Status CheckBlock(const std::string& path, uint64_t unique_id, const BlockHandle& handle,
                  Slice stored, BlockTrailer* trailer);

/// "<path>: <what> at offset <offset>": a Corruption that says where and what was expected.
Status CorruptionAt(const std::string& path, uint64_t offset, const std::string& what);

}  // namespace lava
