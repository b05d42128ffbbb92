#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fs/read_batch.h"

namespace lava::fs {

/// A part of a file that is to be read; the file outlives the reading.
struct FileRange {
  const RandomFile* file = nullptr;
  uint64_t offset = 0, bytes = 0;
};
struct GatherLimits {
  uint64_t gap_bytes_max = 4096;  // between ranges that come in one piece nevertheless
  uint64_t piece_bytes_max = 256 << 10;
  uint64_t batch_bytes_max = 1 << 20;  // of all pieces of one Read(), or one range if that is more
};

/// Reads many ranges of files with few reads: what stands near each other comes in one piece, and
/// all pieces are read beside each other.
/// Threads:    one thread.
/// Ownership:  holds what it read until the next Read() or Clear().
/// Errors:     of each piece by itself, as RandomFile::Read(): all ranges of the piece have it.
class GatheredReads {
 public:
  explicit GatheredReads(const GatherLimits& limits = {}) : limits_(limits) {}

  /// Reads ranges, which are sorted by file and offset, from the first on, as many as the limits
  /// allow: at least one of any. Returns how many.
  size_t Read(std::span<const FileRange> ranges) {
    const size_t count = Begin(ranges);
    Finish();
    return count;
  }
  /// The two halves of Read(): between them the reads go on beside the caller, where the system
  /// can.
  size_t Begin(std::span<const FileRange> ranges);
  void Finish() { batch_.Finish(); }
  /// Of what follows, instead of the limits' batch_bytes_max.
  void SetBatchBytesMax(uint64_t bytes) { limits_.batch_bytes_max = bytes; }
  const Status& status(size_t range) const { return batch_.status(places_[range].piece); }
  Slice bytes(size_t range) const {
    const Place& place = places_[range];
    return batch_.bytes(place.piece).substr(place.offset, place.bytes);
  }
  /// Of the last Read().
  uint64_t pieces() const { return batch_.pieces(); }
  uint64_t bytes_read() const { return batch_.bytes_wanted(); }
  void Clear();

 private:
  struct Place {
    size_t piece;
    uint64_t offset, bytes;  // within the piece
  };
  GatherLimits limits_;
  ReadBatch batch_;
  std::vector<Place> places_;
};

}  // namespace lava::fs
