#pragma once

#include <array>
#include <cstdint>

#include "base/mutex.h"
#include "cache/block_cache.h"
#include "lava/slice.h"

namespace lava {

/// What scans read of one sorted value file behind what their page needed, for the page that comes
/// next. It waits in the cache's data segment, where anything else may take its room.
/// Threads:    any thread. A few scans at a time are told apart by where they are in the file; of
///             more, some read ahead in vain.
/// Ownership:  cache and use must outlive it; the cache has the pieces, which go with the file.
/// Units:      bytes; offsets in the file.
class ScanAhead {
 public:
  /// More saves few reads, and is lost once for each file where a scan ends.
  static constexpr uint64_t kPieceBytesMax = 16 << 10;

  /// cache_file: the file's id in the cache. records_end: where there is nothing to read ahead.
  ScanAhead(BlockCache* cache, uint64_t cache_file, uint64_t records_end, CacheUse* use)
      : cache_(cache), cache_file_(cache_file), records_end_(records_end), use_(use) {}

  /// What one page of a scan wants of the file.
  class Page {
   public:
    /// The bytes of the file from offset on, if the page before had them read; else empty.
    Slice Find(uint64_t offset, uint64_t bytes) const {
      if (offset < piece_offset_ || offset - piece_offset_ > piece_.size()) return {};
      const Slice rest = piece_.substr(offset - piece_offset_);
      return rest.size() < bytes ? Slice() : rest.substr(0, bytes);
    }
    uint64_t end() const { return end_; }
    /// To be read behind the page's end, and given to Keep(); 0 when all is here already.
    uint64_t ahead_bytes() const { return ahead_bytes_; }

   private:
    friend class ScanAhead;
    size_t stream_ = 0;
    uint64_t end_ = 0, ahead_bytes_ = 0, piece_offset_ = 0;
    Slice piece_;
    BlockCache::Ref pin_;
  };
  /// For a page that goes on behind another one of the same scan, and wants records from begin on,
  /// and none behind end; the scan wants at most pages_left as large as it. If a page before was
  /// here, too, as much is read ahead as half of what the scan has passed in the file, or a part of
  /// the page where the cache did not keep that until now.
  Page Begin(uint64_t begin, uint64_t end, double pages_left) LAVA_EXCLUDES(mutex_);
  void Keep(const Page& page, Slice bytes) LAVA_EXCLUDES(mutex_);

 private:
  static constexpr size_t kStreams = 4;
  // A scan may step over records that are dead, or of another table.
  static constexpr uint64_t kStepBytesMax = 64 << 10;

  struct Stream {
    uint64_t next = 0;    // where its last page ended
    uint64_t passed = 0;  // until there; 0: no scan's
    uint64_t piece_offset = 0, piece_bytes = 0;
    uint64_t used = 0;  // when, in pages of all
  };
  CacheKey KeyOf(uint64_t piece_offset) const {
    // Values are in the cache by their offsets, too.
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
