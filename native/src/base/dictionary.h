// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "lava/options.h"
#include "lava/slice.h"

namespace lava {

/// zstd dictionaries: content common to values that are compressed individually.

/// Codec of a zstd frame that needs its dictionary to be decompressed. Only value files use it;
/// options never name it.
inline constexpr Compression kZstdDictionary = static_cast<Compression>(3);
inline constexpr size_t kDictionaryBytesMax = 128 << 10;

/// Trains a dictionary of at most bytes_max bytes. samples holds the sample values one after the
/// other; sizes holds their sizes. Returns an empty string if the samples are too few or have
/// nothing in common. Deterministic. Uses about 1 MiB of memory besides the result.
std::string TrainDictionary(Slice samples, std::span<const size_t> sizes, size_t bytes_max);

/// Compresses values individually with a dictionary.
/// Threads:    one thread.
/// Ownership:  copies the dictionary.
class DictionaryCompressor {
 public:
  explicit DictionaryCompressor(Slice dictionary);
  ~DictionaryCompressor();
  DictionaryCompressor(const DictionaryCompressor&) = delete;
  DictionaryCompressor& operator=(const DictionaryCompressor&) = delete;

  /// Fills *out and returns kZstdDictionary; kNone if raw does not shrink by an eighth.
  Compression Compress(Slice raw, std::string* out);

 private:
  struct Contexts;
  std::unique_ptr<Contexts> contexts_;
};

/// A dictionary prepared for decompression.
/// Threads:    any; immutable.
/// Ownership:  copies the dictionary.
class Dictionary {
 public:
  /// Null if bytes are not a zstd dictionary.
  static std::unique_ptr<const Dictionary> Load(Slice bytes);
  ~Dictionary();
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;

  /// Decompresses to exactly raw_bytes; false if zstd finds payload malformed or it has another
  /// size. A frame of another dictionary may decompress to wrong bytes.
  bool Decompress(Slice payload, char* raw, uint32_t raw_bytes) const;
  size_t memory_bytes() const;

 private:
  struct Digested;
  explicit Dictionary(std::unique_ptr<Digested> digested);
  const std::unique_ptr<const Digested> digested_;
};

}  // namespace lava
