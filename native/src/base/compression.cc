#include "base/compression.h"

#include <lz4.h>

#include <cstring>

#include "base/dictionary.h"
#include "base/zstd_contexts.h"

namespace lava {

struct Compressor::Contexts {
  ZstdPtr<ZSTD_CCtx> zstd;
  std::unique_ptr<char[]> lz4;
};

Compressor::Compressor(Compression codec) : codec_(codec), contexts_(std::make_unique<Contexts>()) {
  if (codec == Compression::kZstd) contexts_->zstd.reset(ZSTD_createCCtx());
  if (codec == Compression::kLz4)
    contexts_->lz4 = std::make_unique<char[]>(static_cast<size_t>(LZ4_sizeofState()));
}

Compressor::~Compressor() = default;

Compression Compressor::Compress(Slice raw, std::string* out) {
  // The output must fit in what is worth it: the codecs stop early when it does not.
  size_t worth = raw.size() - raw.size() / 8;
  if (codec_ == Compression::kNone || worth < 16 || raw.size() > LZ4_MAX_INPUT_SIZE)
    return Compression::kNone;
  out->resize(worth);
  size_t bytes = 0;
  if (codec_ == Compression::kLz4) {
    int written =
        LZ4_compress_fast_extState(contexts_->lz4.get(), raw.data(), out->data(),
                                   static_cast<int>(raw.size()), static_cast<int>(worth), 1);
    bytes = written > 0 ? static_cast<size_t>(written) : 0;
  } else {
    size_t written = ZSTD_compressCCtx(contexts_->zstd.get(), out->data(), worth, raw.data(),
                                       raw.size(), kZstdLevel);
    bytes = ZSTD_isError(written) ? 0 : written;
  }
  out->resize(bytes);
  return bytes == 0 ? Compression::kNone : codec_;
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
  return DecompressContexts::Get().Run(raw_bytes, [&](ZSTD_DCtx* context) {
    return ZSTD_decompressDCtx(context, raw, raw_bytes, payload.data(), payload.size());
  });
}

}  // namespace lava
