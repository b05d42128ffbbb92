// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>

#include "base/mutex.h"
#include "cache/block_cache.h"
#include "lava/slice.h"

namespace lava {

/// Readahead of scans over one sorted value file: bytes behind the end of a page, which are read
/// with it for the next page. They wait in the cache's data segment, which may evict them.
/// Threads:    any thread. A few concurrent scans are distinguished by their positions in the file.
///             If there are more, some read ahead in vain.
/// Ownership:  cache and use must outlive it. The cache owns the pieces, and drops them with the
///             file.
/// Units:      bytes; offsets in the file.
class ScanAhead {
 public:
  /// Larger pieces save only a few more reads. A scan's last piece in each file is read in vain.
  static constexpr uint64_t kPieceBytesMax = 16 << 10;

  /// cache_file: the file's id in the cache. records_end: nothing is read ahead from there on.
  ScanAhead(BlockCache* cache, uint64_t cache_file, uint64_t records_end, CacheUse* use)
      : cache_(cache), cache_file_(cache_file), records_end_(records_end), use_(use) {}

  /// The bytes of the file that one page of a scan wants.
  class Page {
   public:
    /// The bytes of the file from offset on if the page before has read them ahead; otherwise
    /// empty.
    Slice Find(uint64_t offset, uint64_t bytes) const {
      if (offset < piece_offset_ || offset - piece_offset_ > piece_.size()) return {};
      const Slice rest = piece_.substr(offset - piece_offset_);
      return rest.size() < bytes ? Slice() : rest.substr(0, bytes);
    }
    uint64_t end() const { return end_; }
    /// Bytes to read behind the page's end and hand to Keep(); 0: nothing is to be read ahead.
    uint64_t ahead_bytes() const { return ahead_bytes_; }

   private:
    friend class ScanAhead;
    size_t stream_ = 0;
    uint64_t end_ = 0, ahead_bytes_ = 0, piece_offset_ = 0;
    Slice piece_;
    BlockCache::Ref pin_;
  };
  /// Begins a page of a scan, which wants records in [begin, end). pages_left: the scan wants at
  /// most this many more pages of this size. Reads ahead only if an earlier page of the same scan
  /// was here: half as much as the scan has passed in the file, or a quarter of this page if the
  /// cache did not keep the last piece.
  Page Begin(uint64_t begin, uint64_t end, double pages_left) LAVA_EXCLUDES(mutex_);
  void Keep(const Page& page, Slice bytes) LAVA_EXCLUDES(mutex_);

 private:
  static constexpr size_t kStreams = 4;
  // A scan may step over records that are dead, or of another table.
  static constexpr uint64_t kStepBytesMax = 64 << 10;

  struct Stream {
    uint64_t next = 0;    // where its last page ended
    uint64_t passed = 0;  // until there; 0: the stream is free
    uint64_t piece_offset = 0, piece_bytes = 0;
    uint64_t used = 0;  // pages_ as of its last page
  };
  CacheKey KeyOf(uint64_t piece_offset) const {
    // Values have their offsets as keys, too: the highest bit marks pieces.
    return {cache_file_, uint64_t{1} << 63 | piece_offset};
  }
  uint64_t AheadBytesMax() const;
  Stream* StreamAt(uint64_t begin) LAVA_REQUIRES(mutex_);
  void Forget(Stream* stream) LAVA_REQUIRES(mutex_);

  BlockCache* const cache_;
  const uint64_t cache_file_, records_end_;
  CacheUse* const use_;
  Mutex mutex_;
  std::array<Stream, kStreams> streams_ LAVA_GUARDED_BY(mutex_);
  uint64_t pages_ LAVA_GUARDED_BY(mutex_) = 0;
};

}  // namespace lava
