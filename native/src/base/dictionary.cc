// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/dictionary.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lava/options.h"
#include "lava/slice.h"

// Training with given parameters, without a search for the best ones, is not part of the shared
// library's interface; zstd is linked statically here.
#define ZDICT_STATIC_LINKING_ONLY
#include <zdict.h>

#include <utility>

#include "base/zstd_contexts.h"

namespace lava {

std::string TrainDictionary(Slice samples, std::span<const size_t> sizes, size_t bytes_max) {
  // docs/decisions/18-compression.md compares other values. f: training uses 2^f 4-byte counters.
  ZDICT_fastCover_params_t params{};
  params.k = 200;
  params.d = 8;
  params.f = 16;
  params.accel = 4;
  params.splitPoint = 1.0;
  params.zParams.compressionLevel = kZstdLevel;
  std::string dictionary(bytes_max, '\0');
  const size_t bytes =
      ZDICT_trainFromBuffer_fastCover(dictionary.data(), dictionary.size(), samples.data(),
                                      sizes.data(), static_cast<unsigned>(sizes.size()), params);
  dictionary.resize(ZDICT_isError(bytes) ? 0 : bytes);
  return dictionary;
}

struct DictionaryCompressor::Contexts {
  ZstdPtr<ZSTD_CDict> dictionary;
  CompressContext zstd;  // refers to the dictionary, so it is destroyed first
};

DictionaryCompressor::DictionaryCompressor(Slice dictionary)
    : contexts_(std::make_unique<Contexts>()) {
  contexts_->dictionary.reset(ZSTD_createCDict(dictionary.data(), dictionary.size(), kZstdLevel));
  // A file has one dictionary, so frames need no dictionary id.
  ZSTD_CCtx_setParameter(contexts_->zstd.get(), ZSTD_c_dictIDFlag, 0);
  ZSTD_CCtx_refCDict(contexts_->zstd.get(), contexts_->dictionary.get());
}

DictionaryCompressor::~DictionaryCompressor() = default;

Compression DictionaryCompressor::Compress(Slice raw, std::string* out) {
  const size_t worth = raw.size() - raw.size() / 8;
  out->resize(worth);
  const size_t bytes =
      ZSTD_compress2(contexts_->zstd.get(), out->data(), worth, raw.data(), raw.size());
  const bool shrinks = worth != 0 && !ZSTD_isError(bytes);
  out->resize(shrinks ? bytes : 0);
  return shrinks ? kZstdDictionary : Compression::kNone;
}

struct Dictionary::Digested {
  ZstdPtr<ZSTD_DDict> zstd;
};

Dictionary::Dictionary(std::unique_ptr<Digested> digested) : digested_(std::move(digested)) {}
Dictionary::~Dictionary() = default;

std::unique_ptr<const Dictionary> Dictionary::Load(Slice bytes) {
  // zstd would accept any other bytes as a dictionary of raw content.
  if (ZSTD_getDictID_fromDict(bytes.data(), bytes.size()) == 0) return nullptr;
  auto digested = std::make_unique<Digested>();
  digested->zstd.reset(ZSTD_createDDict(bytes.data(), bytes.size()));
  if (digested->zstd == nullptr) return nullptr;
  return std::unique_ptr<const Dictionary>(new Dictionary(std::move(digested)));
}

bool Dictionary::Decompress(Slice payload, char* raw, uint32_t raw_bytes) const {
  return DecompressWithContext(raw_bytes, [&](ZSTD_DCtx* context) {
    return ZSTD_decompress_usingDDict(context, raw, raw_bytes, payload.data(), payload.size(),
                                      digested_->zstd.get());
  });
}

size_t Dictionary::memory_bytes() const { return ZSTD_sizeof_DDict(digested_->zstd.get()); }

}  // namespace lava
