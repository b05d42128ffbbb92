// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fs/read_batch.h"

namespace lava::fs {

/// A range of a file to read; the file must outlive the reading.
struct FileRange {
  const RandomFile* file = nullptr;
  uint64_t offset = 0, bytes = 0;
};
/// Limits of a GatheredReads. Units: bytes.
struct GatherLimits {
  uint64_t gap_bytes_max = 4096;  // largest gap between two ranges of one piece
  uint64_t piece_bytes_max = 256 << 10;
  uint64_t batch_bytes_max = 1 << 20;  // all pieces of one Read(); the first may be larger
};

/// Reads many ranges of files with few reads: neighbouring ranges are read as one piece, and all
/// pieces are read in parallel.
/// Threads:    one thread.
/// Ownership:  holds the bytes it read until the next Read() or Clear().
/// Errors:     per piece, as RandomFile::Read(); all ranges of a piece share its status.
class GatheredReads {
 public:
  explicit GatheredReads(const GatherLimits& limits = {}) : limits_(limits) {}

  /// Reads ranges, sorted by file and offset, in order: as many as the limits allow, and at least
  /// one if there are any. Returns their number.
  size_t Read(std::span<const FileRange> ranges) {
    const size_t count = Begin(ranges);
    Finish();
    return count;
  }
  /// The two halves of Read(). Between them the reads run in parallel with the caller where the
  /// system supports that.
  size_t Begin(std::span<const FileRange> ranges);
  void Finish() { batch_.Finish(); }
  /// Replaces the limits' batch_bytes_max for later calls.
  void SetBatchBytesMax(uint64_t bytes) { limits_.batch_bytes_max = bytes; }
  const Status& status(size_t range) const { return batch_.status(ranges_[range].piece); }
  Slice bytes(size_t range) const {
    const PieceRange& in_piece = ranges_[range];
    return batch_.bytes(in_piece.piece).substr(in_piece.offset, in_piece.bytes);
  }
  /// The next two are of the last Read().
  uint64_t pieces() const { return batch_.pieces(); }
  uint64_t bytes_read() const { return batch_.bytes_wanted(); }
  void Clear();

 private:
  struct PieceRange {
    size_t piece;
    uint64_t offset, bytes;  // within the piece
  };
  GatherLimits limits_;
  ReadBatch batch_;
  std::vector<PieceRange> ranges_;
};

}  // namespace lava::fs
