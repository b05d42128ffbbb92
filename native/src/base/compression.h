#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lava/options.h"
#include "lava/slice.h"

namespace lava {

/// Compresses blocks one after the other with one working set.
/// Threads:    one thread.
/// Ownership:  the contexts of lz4 and zstd, freed on destruction.
class Compressor {
 public:
  explicit Compressor(Compression codec);
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  /// Fills *out and returns the codec; kNone (and *out untouched in meaning) when raw does not
  /// shrink by an eighth, or was not tried: of what follows many that did not, one in eight is.
  Compression Compress(Slice raw, std::string* out);

 private:
  struct Contexts;
  size_t CompressTo(Slice raw, char* out, size_t capacity);

  Compression codec_;
  uint32_t in_vain_ = 0;  // blocks since one shrank, as far as it matters
  std::unique_ptr<Contexts> contexts_;
};

/// Whether raw_bytes can come out of payload at all; checked before raw_bytes are allocated.
bool RawBytesPossible(Compression codec, Slice payload, uint32_t raw_bytes);
/// Decompresses to exactly raw_bytes; false when payload is not what the codec writes.
/// Threads: any thread.
bool Decompress(Compression codec, Slice payload, char* raw, uint32_t raw_bytes);

}  // namespace lava
