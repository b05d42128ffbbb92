// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/compression.h"

#include <cstdint>
#include <memory>
#include <string>

#include "lava/options.h"
#include "lava/slice.h"

#define LZ4_STATIC_LINKING_ONLY  // for fastReset; lz4 is linked statically
#include <lz4.h>

#include <cstring>
#include <optional>

#include "base/dictionary.h"
#include "base/zstd_contexts.h"

namespace lava {

namespace {

// After kTriedInVain blocks in a row that did not shrink, only one block in kTryOneOf is tried.
constexpr uint32_t kTriedInVain = 16;
constexpr uint32_t kTryOneOf = 8;
// Outputs up to this size go to a scratch buffer first, which saves clearing memory in resize().
constexpr size_t kScratchBytes = 64 << 10;

}  // namespace

struct Compressor::Contexts {
  std::optional<CompressContext> zstd;
  std::unique_ptr<LZ4_stream_t> lz4;
  std::unique_ptr<char[]> scratch;
};

Compressor::Compressor(Compression codec) : codec_(codec), contexts_(std::make_unique<Contexts>()) {
  if (codec == Compression::kZstd) contexts_->zstd.emplace();
  if (codec == Compression::kLz4) {
    contexts_->lz4 = std::make_unique<LZ4_stream_t>();
    LZ4_initStream(contexts_->lz4.get(), sizeof(LZ4_stream_t));
  }
}

Compressor::~Compressor() = default;

Compression Compressor::Compress(Slice raw, std::string* out) {
  // Largest output that is worth storing. A codec stops early when its output does not fit.
  const size_t worth = raw.size() - raw.size() / 8;
  if (codec_ == Compression::kNone || worth < 16 || raw.size() > LZ4_MAX_INPUT_SIZE)
    return Compression::kNone;
  if (in_vain_ >= kTriedInVain && ++in_vain_ % kTryOneOf != 0) return Compression::kNone;
  const bool large = worth > kScratchBytes;
  if (large) {
    out->resize(worth);
  } else if (contexts_->scratch == nullptr) {
    contexts_->scratch = std::make_unique_for_overwrite<char[]>(kScratchBytes);
  }
  const size_t bytes = CompressTo(raw, large ? out->data() : contexts_->scratch.get(), worth);
  in_vain_ = bytes == 0 ? in_vain_ + (in_vain_ < kTriedInVain ? 1 : 0) : 0;
  if (large) {
    out->resize(bytes);
  } else {
    out->assign(contexts_->scratch.get(), bytes);
  }
  return bytes == 0 ? Compression::kNone : codec_;
}

// Returns the bytes written; 0 if the output does not fit.
size_t Compressor::CompressTo(Slice raw, char* out, size_t capacity) {
  if (codec_ == Compression::kLz4) {
    // The next call reuses the hash table: clearing it takes as long as compressing a small block.
    const int written = LZ4_compress_fast_extState_fastReset(contexts_->lz4.get(), raw.data(), out,
                                                             static_cast<int>(raw.size()),
                                                             static_cast<int>(capacity), 1);
    if (written > 0) return static_cast<size_t>(written);
    LZ4_initStream(contexts_->lz4.get(), sizeof(LZ4_stream_t));  // undefined after a failure
    return 0;
  }
  const size_t written =
      ZSTD_compressCCtx(contexts_->zstd->get(), out, capacity, raw.data(), raw.size(), kZstdLevel);
  return ZSTD_isError(written) ? 0 : written;
}

bool RawBytesPossible(Compression codec, Slice payload, uint32_t raw_bytes) {
  if (codec == Compression::kLz4)
    return raw_bytes <= payload.size() * 255 + 64 && raw_bytes <= LZ4_MAX_INPUT_SIZE &&
           payload.size() <= LZ4_MAX_INPUT_SIZE;
  if (codec == Compression::kZstd || codec == kZstdDictionary)
    return ZSTD_getFrameContentSize(payload.data(), payload.size()) == raw_bytes;
  return raw_bytes == payload.size();
}

bool Decompress(Compression codec, Slice payload, char* raw, uint32_t raw_bytes) {
  if (codec == Compression::kNone) {
    if (payload.size() != raw_bytes) return false;
    std::memcpy(raw, payload.data(), raw_bytes);
    return true;
  }
  if (codec == Compression::kLz4) {
    return LZ4_decompress_safe(payload.data(), raw, static_cast<int>(payload.size()),
                               static_cast<int>(raw_bytes)) == static_cast<int>(raw_bytes);
  }
  if (codec != Compression::kZstd) return false;
  return DecompressWithContext(raw_bytes, [&](ZSTD_DCtx* context) {
    return ZSTD_decompressDCtx(context, raw, raw_bytes, payload.data(), payload.size());
  });
}

}  // namespace lava
