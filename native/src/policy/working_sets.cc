// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/working_sets.h"

#include <algorithm>
#include <cstdint>

namespace lava {
namespace {

constexpr uint64_t kReadAheadBytes = 256 << 10;  // of a file that is read sequentially
constexpr uint64_t kZstdContextBytes = 1300 << 10;
constexpr uint64_t kDictionarySamplerBytes =
    5 << 20;                                // samples until a file has its dictionary, training
constexpr uint64_t kCopiedBytes = 2 << 20;  // values that a collection has read and copies
// Index memory per record of a value file, besides its key, and per partition of a key file.
constexpr uint64_t kValueIndexBytes = 64, kIndexPartitionMemory = 160;
// Records larger than a buffer are in memory several times: raw, compressed, and with a string's
// spare capacity. Some records are also larger than the average.
constexpr uint64_t kCopiesOfARecord = 10;

uint64_t Mean(uint64_t bytes, uint64_t records) { return records == 0 ? 0 : bytes / records; }

// The part of `whole` in one file: in proportion to its bytes, at most all of it.
uint64_t PartOf(uint64_t whole, uint64_t file_bytes, uint64_t all_bytes) {
  if (all_bytes <= file_bytes) return whole;
  return static_cast<uint64_t>(static_cast<double>(whole) * static_cast<double>(file_bytes) /
                               static_cast<double>(all_bytes));
}

uint64_t KeyFileWriter(const JobShape& shape) {
  const uint64_t bytes = shape.key_bytes + shape.value_bytes;
  const uint64_t partitions =
      1 + std::min(bytes, shape.key_file_bytes) / std::max<uint64_t>(shape.block_bytes, 256);
  return shape.file_buffer_bytes + 4 * (shape.block_bytes + shape.index_partition_bytes) +
         partitions * kIndexPartitionMemory +
         2 * std::min(shape.kept_index_bytes_max, shape.index_bytes) +
         (shape.zstd ? kZstdContextBytes : 0) +
         kCopiesOfARecord * Mean(shape.key_bytes + shape.value_bytes, shape.records);
}

// A job writes a hot and a cold file at the same time.
uint64_t ValueFileWriters(const JobShape& shape) {
  if (!shape.separates) return 0;
  const uint64_t records =
      PartOf(shape.separated_records, shape.value_file_bytes, shape.separated_bytes);
  const uint64_t index = records * (Mean(shape.key_bytes, shape.records) + kValueIndexBytes) +
                         kCopiesOfARecord * Mean(shape.separated_bytes, shape.separated_records);
  const uint64_t one =
      shape.file_buffer_bytes + (shape.zstd ? kZstdContextBytes + kDictionarySamplerBytes : 0);
  return index + 2 * one;
}

}  // namespace

uint64_t FlushWorkingSet(const JobShape& shape) {
  return KeyFileWriter(shape) + ValueFileWriters(shape);
}

uint64_t CompactionWorkingSet(const JobShape& shape) {
  const uint64_t input = kReadAheadBytes + 2 * (shape.block_bytes + shape.index_partition_bytes) +
                         kCopiesOfARecord * Mean(shape.value_bytes, shape.records);
  // A list counts twice: raw and compressed.
  return shape.inputs * input + shape.merged_ahead_bytes + 2 * shape.together_bytes +
         KeyFileWriter(shape) + ValueFileWriters(shape);
}

uint64_t CollectionWorkingSet(const JobShape& shape) {
  const uint64_t input = kReadAheadBytes + 2 * shape.index_partition_bytes;
  return shape.inputs * input + kCopiedBytes + ValueFileWriters(shape);
}

}  // namespace lava
