// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/block.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/coding.h"
#include "base/hash.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"

namespace lava {

Status CorruptionAt(const std::string& path, uint64_t offset, const std::string& what) {
  return Status::Corruption(path + ": at offset " + std::to_string(offset) + ": " + what);
}

namespace {

uint64_t SeedOf(uint64_t unique_id, uint64_t offset) {
  return unique_id ^ (offset * 0x9e3779b97f4a7c15ull);
}

}  // namespace

uint64_t BlockChecksum(uint64_t unique_id, uint64_t offset, Slice payload_and_head) {
  return Hash64(payload_and_head, SeedOf(unique_id, offset));
}

void SealBlock(uint64_t unique_id, uint64_t offset, Compression codec, uint32_t raw_bytes,
               std::string* block) {
  block->push_back(static_cast<char>(codec));
  PutFixed32(block, raw_bytes);
  PutFixed64(block, BlockChecksum(unique_id, offset, *block));
}

PieceChecksum::PieceChecksum(uint64_t unique_id, uint64_t offset) {
  XXH3_INITSTATE(&state_);
  XXH3_64bits_reset_withSeed(&state_, SeedOf(unique_id, offset));
}

void PieceChecksum::Add(Slice piece) { XXH3_64bits_update(&state_, piece.data(), piece.size()); }

uint64_t PieceChecksum::Sum() const { return XXH3_64bits_digest(&state_); }

std::string PieceChecksum::Seal(Compression codec, uint32_t raw_bytes) {
  std::string trailer(1, static_cast<char>(codec));
  PutFixed32(&trailer, raw_bytes);
  Add(trailer);
  PutFixed64(&trailer, Sum());
  return trailer;
}

Status CheckBlock(const std::string& path, uint64_t unique_id, const BlockHandle& handle,
                  Slice stored, BlockTrailer* trailer) {
  const char* end = stored.data() + stored.size();
  uint64_t expected = DecodeFixed64(end - 8);
  uint64_t computed = BlockChecksum(unique_id, handle.offset, stored.substr(0, stored.size() - 8));
  if (expected != computed) {
    return CorruptionAt(path, handle.offset,
                        "the checksum of the block of " + std::to_string(stored.size()) +
                            " bytes is wrong: restore the file from a checkpoint");
  }
  uint8_t codec = static_cast<uint8_t>(end[-static_cast<ptrdiff_t>(kBlockTrailerBytes)]);
  trailer->codec = static_cast<Compression>(codec);
  trailer->raw_bytes = DecodeFixed32(end - 12);
  // lz4's ratio and zstd's content size bound raw_bytes further: see RawBytesPossible.
  bool right = codec <= static_cast<uint8_t>(Compression::kZstd) &&
               trailer->raw_bytes <= kRawBlockBytesMax &&
               (codec != 0 || trailer->raw_bytes == handle.bytes);
  if (!right) {
    return CorruptionAt(path, handle.offset,
                        "the block's codec " + std::to_string(codec) + " or raw length " +
                            std::to_string(trailer->raw_bytes) + " is impossible");
  }
  return Status::OK();
}

}  // namespace lava
