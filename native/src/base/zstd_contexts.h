// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <zstd.h>

#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/mutex.h"

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

/// A pool of a few unused zstd contexts. A context is too large to create for every block, and
/// creating one queries the processor's features, which traps in virtual machines. Thread-local
/// contexts would outlive the library in the JVM's threads.
/// Threads:    any.
template <typename Context>
class ZstdContexts {
 public:
  static ZstdContexts& Get() {
    static ZstdContexts& contexts = *new ZstdContexts;  // leaked: jobs may run during exit
    return contexts;
  }
  /// Throws std::bad_alloc if no context is free and there is no memory for a new one.
  ZstdPtr<Context> Take() LAVA_EXCLUDES(mutex_) {
    if (ZstdPtr<Context> context = TakeKept()) return context;
    ZstdPtr<Context> context = New(static_cast<Context*>(nullptr));
    if (context == nullptr) throw std::bad_alloc();
    return context;
  }
  /// Frees the context if the pool is full or the context has grown too large to keep.
  void Give(ZstdPtr<Context> context) LAVA_EXCLUDES(mutex_) {
    if (Bytes(context.get()) > kKeptBytesMax) return;
    MutexLock lock(&mutex_);
    if (free_.size() < kKeptMax) free_.push_back(std::move(context));
  }
  size_t kept() LAVA_EXCLUDES(mutex_) {
    MutexLock lock(&mutex_);
    return free_.size();
  }

  static constexpr size_t kKeptMax = 4;

 private:
  static constexpr size_t kKeptBytesMax = 1 << 20;

  static ZstdPtr<ZSTD_CCtx> New(ZSTD_CCtx*) { return ZstdPtr<ZSTD_CCtx>(ZSTD_createCCtx()); }
  static ZstdPtr<ZSTD_DCtx> New(ZSTD_DCtx*) { return ZstdPtr<ZSTD_DCtx>(ZSTD_createDCtx()); }
  static size_t Bytes(const ZSTD_CCtx* context) { return ZSTD_sizeof_CCtx(context); }
  static size_t Bytes(const ZSTD_DCtx* context) { return ZSTD_sizeof_DCtx(context); }

  ZstdPtr<Context> TakeKept() LAVA_EXCLUDES(mutex_) {
    MutexLock lock(&mutex_);
    if (free_.empty()) return nullptr;
    ZstdPtr<Context> context = std::move(free_.back());
    free_.pop_back();
    return context;
  }

  Mutex mutex_;
  std::vector<ZstdPtr<Context>> free_ LAVA_GUARDED_BY(mutex_);
};

/// Calls decompress(ZSTD_DCtx*), which returns a size or error code of zstd. True if the result is
/// the size `bytes`.
/// Threads:    any.
template <typename Decompress>
bool DecompressWithContext(size_t bytes, Decompress decompress) {
  auto& contexts = ZstdContexts<ZSTD_DCtx>::Get();
  ZstdPtr<ZSTD_DCtx> context = contexts.Take();
  const size_t written = decompress(context.get());
  contexts.Give(std::move(context));
  return !ZSTD_isError(written) && written == bytes;
}

/// A compression context without parameters set; returns to the pool on destruction.
/// Threads:    one thread.
class CompressContext {
 public:
  CompressContext() : context_(ZstdContexts<ZSTD_CCtx>::Get().Take()) {}
  ~CompressContext() {
    ZSTD_CCtx_reset(context_.get(), ZSTD_reset_session_and_parameters);
    ZstdContexts<ZSTD_CCtx>::Get().Give(std::move(context_));
  }
  CompressContext(const CompressContext&) = delete;
  CompressContext& operator=(const CompressContext&) = delete;

  ZSTD_CCtx* get() const { return context_.get(); }

 private:
  ZstdPtr<ZSTD_CCtx> context_;
};

}  // namespace lava
