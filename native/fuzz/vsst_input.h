// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/fuzz_input.h"
#include "testing/mem_file_system.h"
#include "value/value_test_util.h"

namespace lava::fuzzing {

/// Value SSTs. An input's first byte determines the file:
///   even: the rest is the file;
///   odd:  the rest is a list of edits (position u16, byte u8) of a good file. The byte selects the
///         file's codec (one of them with a dictionary), partition size and order (sorted, or a
///         segment of a value log). All checksums are corrected afterwards, so that the edits reach
///         the decoders.
/// For any file, opening, reading and verifying must end with a Status. In a file that passes
/// verification, every record of the key index must be found, and be one value.
inline constexpr char kValueFuzzPath[] = "/fuzz/a-1.vsst";

inline testing::ValueFileImage MakeGoodValueFile(uint8_t shape) {
  testing::MemFileSystem file_system;
  if (!file_system.CreateDirectory("/fuzz").ok()) FuzzFailed("vsst", "no directory");
  ValueWriterOptions options;
  const bool dictionary = (shape >> 1 & 3) == 3;
  options.compression = dictionary ? Compression::kZstd : static_cast<Compression>(shape >> 1 & 3);
  options.dictionary = testing::kDictionaryAlways;
  options.dictionary.enabled = dictionary;
  options.index_partition_records = (shape & 8) != 0 ? 3 : 256;
  const testing::ValueMap values = testing::SmallValues((shape & 16) != 0 ? 2 : 25);
  const bool log = (shape & 32) != 0;
  auto written = log ? testing::WriteValueLog(&file_system, kValueFuzzPath, values,
                                              dictionary ? Compression::kNone : options.compression)
                     : testing::WriteValues(&file_system, kValueFuzzPath, values, options);
  auto image = testing::ImageOf(&file_system, kValueFuzzPath);
  if (!written.ok() || !image.ok()) FuzzFailed("vsst", "a good file");
  if ((image->dictionary.end != 0) != (dictionary && (shape & 16) == 0 && !log))
    FuzzFailed("vsst", "a dictionary");
  return std::move(image).value();
}

/// Created once for each shape; six bits of the shape count.
inline const testing::ValueFileImage& GoodValueFileOf(uint8_t shape) {
  static std::unique_ptr<const testing::ValueFileImage> files[64];
  auto& file = files[shape % 64];
  if (file == nullptr)
    file = std::make_unique<const testing::ValueFileImage>(MakeGoodValueFile(shape % 64));
  return *file;
}

inline std::string EditedValueFile(uint8_t shape, InputReader* edits) {
  testing::ValueFileImage image = GoodValueFileOf(shape);
  while (!edits->done()) {
    const size_t at = edits->Short() % image.bytes.size();
    image.bytes[at] = static_cast<char>(edits->Byte());
  }
  image.Repair();
  return std::move(image.bytes);
}

/// Must be NotFound or an error that names the right file; neither in a verified file.
inline void CheckValueStatus(const Status& status, bool verified) {
  if (status.ok()) return;
  if (verified) FuzzFailed("vsst", "a verified file cannot be read: " + status.ToString());
  if (!status.IsNotFound()) CheckError("vsst", status, kValueFuzzPath);
}

/// Reads the iterator's current value in both ways.
inline void ReadValueTwice(const ValueReader& reader, const ValueKeyIterator& at, bool verified) {
  Slice value, stored;
  std::shared_ptr<const void> pin;
  const Status got =
      reader.Get(at.key(), at.blob_file(), at.record_offset() % 2 == 0, &value, &pin);
  CheckValueStatus(got, verified);
  std::string buffer;
  Compression codec = Compression::kNone;
  const Status read = reader.ReadStored(at, &buffer, &codec, &stored);
  CheckValueStatus(read, verified);
  if (!got.ok() || !read.ok()) return;
  std::string raw;
  const Status decoded = reader.DecodeStored(at.index_entry(), codec, stored, &raw);
  if (!decoded.ok() || value != raw) {
    // Unless the two indexes lead to different records of the same name.
    if (verified) FuzzFailed("vsst", "a value differs from the stored one");
  }
}

inline void ReadAllValues(const ValueReader& reader, bool verified) {
  uint64_t records = 0;
  auto at = reader.NewKeyIterator();
  for (; at->Valid(); at->Next(), ++records) ReadValueTwice(reader, *at, verified);
  CheckValueStatus(at->status(), verified);
  if (verified && records != reader.properties().records)
    FuzzFailed("vsst", "a verified file cannot be read completely");
  Slice value;
  std::shared_ptr<const void> pin;
  for (const Slice key : {Slice(), Slice("key12"), Slice("key12/1x"), Slice("z")}) {
    for (const uint64_t blob_file : {1, 2}) {
      const Status status = reader.Get(key, testing::BlobFileId(blob_file), true, &value, &pin);
      CheckValueStatus(status, verified && !status.IsNotFound());
    }
  }
}

/// Aborts when a rule is violated; otherwise returns 0.
inline int RunVsstInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  InputReader in(InputSlice(data, size));
  const uint8_t shape = in.Byte();
  std::string file = shape % 2 == 0 ? std::string(in.rest()) : EditedValueFile(shape, &in);
  testing::MemFileSystem file_system;
  if (!file_system.CreateDirectory("/fuzz").ok() ||
      !file_system.SetContent(kValueFuzzPath, std::move(file)).ok())
    FuzzFailed("vsst", "no content");
  // A reader removes its blocks from the cache.
  static const auto cache = BlockCache::Create(1 << 20);
  auto reader = testing::OpenValues(&file_system, kValueFuzzPath, cache.get());
  if (!reader.ok()) {
    CheckError("vsst", reader.status(), kValueFuzzPath);
    return 0;
  }
  const Status verified = (*reader)->VerifyAll();
  if (!verified.ok()) CheckError("vsst", verified, kValueFuzzPath);
  ReadAllValues(**reader, verified.ok());
  return 0;
}

}  // namespace lava::fuzzing
