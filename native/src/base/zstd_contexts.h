#pragma once

#include <zstd.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace lava {

struct FreeZstd {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  void operator()(ZSTD_CDict* dictionary) const { ZSTD_freeCDict(dictionary); }
  void operator()(ZSTD_DDict* dictionary) const { ZSTD_freeDDict(dictionary); }
};
template <typename T>
using ZstdPtr = std::unique_ptr<T, FreeZstd>;

inline constexpr int kZstdLevel = 1;

/// zstd's contexts are too large to make for every block, and thread-local ones would outlive
/// the library in the JVM's threads.
/// Threads:    any.
class DecompressContexts {
 public:
  static DecompressContexts& Get() {
    static DecompressContexts contexts;
    return contexts;
  }
  /// Calls decompress(ZSTD_DCtx*), which gives a size as zstd does, and tells whether it is bytes.
  template <typename Decompress>
  bool Run(size_t bytes, Decompress decompress) {
    ZstdPtr<ZSTD_DCtx> context = Take();
    const size_t written = decompress(context.get());
    Give(std::move(context));
    return !ZSTD_isError(written) && written == bytes;
  }

 private:
  static constexpr size_t kKeptMax = 4;

  ZstdPtr<ZSTD_DCtx> Take() {
    std::lock_guard lock(mutex_);
    if (free_.empty()) return ZstdPtr<ZSTD_DCtx>(ZSTD_createDCtx());
    ZstdPtr<ZSTD_DCtx> context = std::move(free_.back());
    free_.pop_back();
    return context;
  }
  void Give(ZstdPtr<ZSTD_DCtx> context) {
    std::lock_guard lock(mutex_);
    if (free_.size() < kKeptMax) free_.push_back(std::move(context));
  }

  std::mutex mutex_;
  std::vector<ZstdPtr<ZSTD_DCtx>> free_;
};

}  // namespace lava
