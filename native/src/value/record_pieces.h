#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "fs/file_system.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "lava/value_pieces.h"

namespace lava {

/// A value that is to be read piece by piece.
struct PiecewiseRead {
  uint64_t raw_bytes;      // that it must have
  std::span<char> buffer;  // of the pieces: kPieceBytes
  ValueSink* sink;         // Begin() was called
};

namespace vsst {

/// Hands the sink the value of a record of a value file, of which no more than the buffer is in
/// memory at once.
/// offset, bytes: of the file, where all records of this key stand. birth: the index that the
/// record's must be; none: the record stands alone there, whatever its index is.
/// Returns false, and the sink got nothing, when the record cannot be read so: it is compressed, or
/// not what is expected. To read it as a whole tells more.
/// Errors: IOError; those of the sink; Corruption, with path and offset, once all pieces are there:
/// the sink then got what must not be used.
Result<bool> ReadInPieces(const fs::RandomFile& file, uint64_t unique_id, uint64_t offset,
                          uint64_t bytes, Slice key, std::optional<uint32_t> birth,
                          const PiecewiseRead& read);

}  // namespace vsst
}  // namespace lava
