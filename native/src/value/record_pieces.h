// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "fs/file_system.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "lava/value_pieces.h"

namespace lava {

/// How to read a value piece by piece.
/// Ownership:  borrows the buffer and the sink.
struct PiecewiseRead {
  uint64_t raw_bytes;      // expected bytes of the value
  std::span<char> buffer;  // for the pieces: kPieceBytes
  ValueSink* sink;         // its Begin() was called already
};

namespace vsst {

/// Hands the sink the value of a record in pieces, with no more than the buffer in memory at once.
/// offset, bytes: handle of all records of this key in the file. blob_file_index: index that the
/// record's blob file must have; none: the record is alone at the handle, and its blob file may be
/// any. Returns false, with nothing handed to the sink, if the record is compressed or not the
/// expected one; a read of the whole record then gives the value or the error. Errors: IOError;
/// those of the sink; Corruption, with path and offset, after the last piece: the sink must then
/// discard the pieces.
Result<bool> ReadInPieces(const fs::RandomFile& file, uint64_t unique_id, uint64_t offset,
                          uint64_t bytes, Slice key, std::optional<uint32_t> blob_file_index,
                          const PiecewiseRead& read);

}  // namespace vsst
}  // namespace lava
