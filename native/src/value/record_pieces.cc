// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/record_pieces.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/block.h"
#include "base/coding.h"
#include "fs/file_system.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "value/format.h"

namespace lava::vsst {
namespace {

// Records with longer keys are rare, and read as a whole.
constexpr size_t kPiecesKeyBytesMax = 64 << 10;
constexpr size_t kChecksumBytes = 8;  // of a trailer, at its end

struct Front {
  uint32_t blob_file_index = 0, stored_bytes = 0;
  size_t bytes = 0;  // before the stored value
  uint64_t record_bytes = 0;
};

// Reads from `at` up to the next multiple of the buffer's size, so that direct reads are of whole
// blocks. Reads at least as much as may precede a value, but nothing at or behind end.
Status ReadPiece(const fs::RandomFile& file, uint64_t at, uint64_t end, const PiecewiseRead& read,
                 Slice* piece) {
  const uint64_t size = read.buffer.size();
  uint64_t length = size - at % size;
  if (length < kRecordFrontBytes + kPiecesKeyBytesMax) length = size;
  length = std::min(length, end - at);
  *piece = Slice(read.buffer.data(), length);
  return file.Read(at, length, read.buffer.data());
}

// Returns false if this is not a record of key, or if it does not fit into rest_bytes.
bool ParseFront(Slice bytes, uint64_t rest_bytes, Slice key, Front* front) {
  Slice rest = bytes, found;
  uint32_t key_bytes = 0;
  if (!GetVarint32(&rest, &front->blob_file_index) || !GetVarint32(&rest, &key_bytes) ||
      !GetVarint32(&rest, &front->stored_bytes) || !GetBytes(&rest, key_bytes, &found))
    return false;
  front->bytes = bytes.size() - rest.size();
  front->record_bytes = front->bytes + uint64_t{front->stored_bytes} + kBlockTrailerBytes;
  return found == key && front->record_bytes <= rest_bytes;
}

// The part of a piece that lies within [begin, end). at: where the piece begins.
Slice Within(Slice piece, uint64_t at, uint64_t begin, uint64_t end) {
  const uint64_t from = std::clamp(begin, at, at + piece.size());
  const uint64_t to = std::clamp(end, from, at + piece.size());
  return piece.substr(from - at, to - from);
}

// piece: the record's first bytes, in the buffer.
Status AddValue(const fs::RandomFile& file, uint64_t unique_id, uint64_t offset, Slice piece,
                const Front& front, const PiecewiseRead& read) {
  const uint64_t value_begin = offset + front.bytes, value_end = value_begin + front.stored_bytes;
  const uint64_t record_end = offset + front.record_bytes;
  PieceChecksum checksum(unique_id, offset);
  std::string trailer;
  for (uint64_t at = offset;;) {
    const Slice value = Within(piece, at, value_begin, value_end);
    checksum.Add(Within(piece, at, offset, record_end - kChecksumBytes));
    if (!value.empty()) LAVA_RETURN_IF_ERROR(read.sink->Add(value));
    trailer.append(Within(piece, at, value_end, record_end));
    at += piece.size();
    if (at >= record_end) break;
    LAVA_RETURN_IF_ERROR(ReadPiece(file, at, record_end, read, &piece));
  }
  if (checksum.Sum() != DecodeFixed64(trailer.data() + kBlockTrailerBytes - kChecksumBytes))
    return WrongChecksum(file.path(), offset, front.record_bytes);
  // The caller found the stored and the raw length equal, so the value must be uncompressed.
  if (trailer[0] == static_cast<char>(Compression::kNone) &&
      DecodeFixed32(trailer.data() + 1) == read.raw_bytes)
    return Status::OK();
  return CorruptionAt(file.path(), offset, "a record's codec or raw length is impossible");
}

}  // namespace

Result<bool> ReadInPieces(const fs::RandomFile& file, uint64_t unique_id, uint64_t offset,
                          uint64_t bytes, Slice key, std::optional<uint32_t> blob_file_index,
                          const PiecewiseRead& read) {
  if (key.size() > kPiecesKeyBytesMax) return false;
  Front front;
  Slice piece;
  for (const uint64_t end = offset + bytes;; offset += front.record_bytes) {
    if (offset >= end) return false;
    LAVA_RETURN_IF_ERROR(ReadPiece(file, offset, end, read, &piece));
    if (!ParseFront(piece, end - offset, key, &front)) return false;
    if (blob_file_index ? front.blob_file_index == *blob_file_index : front.record_bytes == bytes)
      break;
    if (!blob_file_index) return false;
  }
  if (front.stored_bytes != read.raw_bytes) return false;
  LAVA_RETURN_IF_ERROR(AddValue(file, unique_id, offset, piece, front, read));
  return true;
}

}  // namespace lava::vsst
