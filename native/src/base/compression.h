// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lava/options.h"
#include "lava/slice.h"

namespace lava {

/// Compresses a sequence of blocks and reuses the codec's memory.
/// Threads:    one thread.
/// Ownership:  owns the contexts of lz4 and zstd; they are released on destruction.
class Compressor {
 public:
  explicit Compressor(Compression codec);
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  /// Fills *out and returns the codec. Returns kNone, with *out unspecified, if raw does not shrink
  /// by an eighth or was not tried: after many blocks that did not shrink, only one block in eight
  /// is tried.
  Compression Compress(Slice raw, std::string* out);

 private:
  struct Contexts;
  size_t CompressTo(Slice raw, char* out, size_t capacity);

  Compression codec_;
  uint32_t in_vain_ = 0;  // blocks since the last one that shrank; past kTriedInVain counts calls
  std::unique_ptr<Contexts> contexts_;
};

/// Whether payload can decompress to raw_bytes; callers check before they allocate raw_bytes.
bool RawBytesPossible(Compression codec, Slice payload, uint32_t raw_bytes);
/// Decompresses to exactly raw_bytes; false if payload is malformed or has another size.
/// Threads: any thread.
bool Decompress(Compression codec, Slice payload, char* raw, uint32_t raw_bytes);

}  // namespace lava
