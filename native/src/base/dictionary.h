#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "lava/options.h"
#include "lava/slice.h"

namespace lava {

/// zstd dictionaries: what values that are compressed each on its own have in common.

/// A zstd frame that needs the dictionary it was made with. Value files alone have it; it is never
/// chosen as an option.
inline constexpr Compression kZstdDictionary = static_cast<Compression>(3);
inline constexpr size_t kDictionaryBytesMax = 128 << 10;

/// A dictionary of at most bytes_max for values like these samples, which stand one behind the
/// other with these sizes; empty when they are too few or have nothing in common. The same samples
/// give the same dictionary. Takes about 1 MiB besides.
std::string TrainDictionary(Slice samples, std::span<const size_t> sizes, size_t bytes_max);

/// Compresses values one after the other with a dictionary.
/// Threads:    one thread.
/// Ownership:  copies the dictionary.
class DictionaryCompressor {
 public:
  explicit DictionaryCompressor(Slice dictionary);
  ~DictionaryCompressor();
  DictionaryCompressor(const DictionaryCompressor&) = delete;
  DictionaryCompressor& operator=(const DictionaryCompressor&) = delete;

  /// Fills *out and returns kZstdDictionary, or kNone when raw does not shrink by an eighth.
  Compression Compress(Slice raw, std::string* out);

 private:
  struct Contexts;
  std::unique_ptr<Contexts> contexts_;
};

/// A dictionary made ready to decompress with.
/// Threads:    any; const.
/// Ownership:  copies the dictionary.
class Dictionary {
 public:
  /// Null when bytes are no zstd dictionary.
  static std::unique_ptr<const Dictionary> Load(Slice bytes);
  ~Dictionary();
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;

  /// Decompresses to exactly raw_bytes; false when payload is not what a DictionaryCompressor of
  /// this dictionary writes.
  bool Decompress(Slice payload, char* raw, uint32_t raw_bytes) const;
  size_t memory_bytes() const;

 private:
  struct Digested;
  explicit Dictionary(std::unique_ptr<Digested> digested);
  const std::unique_ptr<const Digested> digested_;
};

}  // namespace lava
