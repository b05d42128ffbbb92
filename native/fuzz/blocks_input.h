// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/coding.h"
#include "base/compression.h"
#include "fuzz/fuzz_input.h"
#include "table/bloom.h"
#include "table/data_block.h"
#include "table/format.h"
#include "table/index_block.h"
#include "table/index_partition.h"
#include "table/properties.h"

namespace lava::fuzzing {

/// The decoders of a key SST's blocks, without the file and its checksums around them. An input's
/// first byte modulo 7 selects the decoder for the rest. Data that a decoder accepts must be
/// completely usable. If there is an encoder, re-encoding must decode to the same.
inline void RunProperties(Slice in) {
  TableProperties properties, again;
  if (ksst::DecodeProperties(in, &properties) != nullptr) return;
  std::string encoded, twice;
  ksst::EncodeProperties(properties, &encoded);
  if (ksst::DecodeProperties(encoded, &again) != nullptr)
    FuzzFailed("blocks", "encoded properties do not decode");
  ksst::EncodeProperties(again, &twice);
  if (twice != encoded) FuzzFailed("blocks", "the properties change by being encoded");
}

inline void RunTombstones(Slice in) {
  RangeTombstoneSet tombstones, again;
  if (ksst::DecodeTombstones(in, &tombstones) != nullptr) return;
  std::string encoded, twice;
  ksst::EncodeTombstones(tombstones, &encoded);
  if (ksst::DecodeTombstones(encoded, &again) != nullptr)
    FuzzFailed("blocks", "encoded range tombstones do not decode");
  ksst::EncodeTombstones(again, &twice);
  if (twice != encoded) FuzzFailed("blocks", "the range tombstones change by being encoded");
  for (const RangeTombstone& range : tombstones.ranges())
    if (!tombstones.Covers(range.begin) || tombstones.Covers(range.end))
      FuzzFailed("blocks", "a range tombstone does not cover the right keys");
}

inline void CheckDataBlock(const ksst::DataBlock& block) {
  ksst::DataBlockCursor cursor, seeker;
  uint64_t records = 0;
  for (cursor.SeekToFirst(block); cursor.Valid(); cursor.Next(), ++records) {
    const Record& record = cursor.record();
    if (record.prefix_bytes > record.key.size())
      FuzzFailed("blocks", "a prefix is longer than its key");
    if (records % 4 != 0) continue;
    const bool prefix_delete = record.kind == RecordKind::kPrefixDelete;
    ksst::DataBlockEntry entry;
    const uint64_t hash =
        prefix_delete ? ksst::PrefixDeleteHash(record.key) : ksst::PointHash(record.key);
    if (block.Find(record.key, hash, prefix_delete, &entry) &&
        (entry.end() > block.entries_end() || entry.key_delta < block.entries()))
      FuzzFailed("blocks", "a record was found that is not in the block");
    seeker.Seek(block, record.key);
    if (seeker.Valid() && seeker.record().key < record.key)
      FuzzFailed("blocks", "a seek ends before its target");
  }
  if (records != block.count())
    FuzzFailed("blocks", "a data block's count is not the number of its records");
}

inline void RunDataBlock(Slice in) {
  const ExactCopy copy(in, ksst::kDataBlockSlackBytes);
  ksst::DataBlock block;
  if (block.Check(copy.get(), ksst::kInlineKinds | ksst::kDecoupledKinds) != nullptr) return;
  CheckDataBlock(block);
}

inline void CheckIndex(const ksst::IndexBlock& index, uint64_t base, uint64_t end) {
  uint64_t at = base;
  std::string before;
  for (uint32_t i = 0; i < index.count(); ++i) {
    const std::string key = index.key(i);
    if (i > 0 && key <= before) FuzzFailed("blocks", "an index's keys do not ascend");
    if (index.Find(key) != i) FuzzFailed("blocks", "an index does not find its own key");
    if (index.Find(key + '\0') != i + 1)
      FuzzFailed("blocks", "an index finds a key that is too small");
    if (!index.KeyStartsWith(i, Slice(key).substr(0, key.size() / 2)))
      FuzzFailed("blocks", "an index does not recognize the beginning of its own key");
    if (index.extent_begin(i) != at || index.extent_end(i) < at)
      FuzzFailed("blocks", "extents have gaps");
    at = index.extent_end(i);
    if (index.block_bytes(i) + kBlockTrailerBytes > at - index.extent_begin(i))
      FuzzFailed("blocks", "a block ends after its extent");
    before = key;
  }
  if (at != end) FuzzFailed("blocks", "the extents do not end at the expected offset");
}

/// Format: the extent's end u16, then the payload.
inline void RunIndexPartitionOf(uint32_t version, Slice in) {
  InputReader reader(in);
  const uint64_t base = 1000, end = base + reader.Short();
  const ExactCopy copy(reader.rest());
  std::shared_ptr<ksst::CachedIndexPartition> index_partition;
  if (ksst::LoadIndexPartition(copy.get(), version, base, end, &index_partition) != nullptr) return;
  CheckIndex(index_partition->index, base, end);
  if (index_partition->decoupled.block().count() != 0)
    CheckDataBlock(index_partition->decoupled.block());
  for (uint64_t hash = 0; hash < 4; ++hash)
    static_cast<void>(index_partition->filter.MayHold(hash * 0x9e3779b97f4a7c15));
}

inline void RunIndexPartition(Slice in) { RunIndexPartitionOf(ksst::kFormatVersionOldest, in); }
inline void RunDecoupledPartition(Slice in) { RunIndexPartitionOf(ksst::kFormatVersion, in); }

/// Format: the file's length u16, whether to correct the checksum u8, then the file's tail.
inline void RunFooter(Slice in) {
  InputReader reader(in);
  const uint64_t file_bytes = reader.Short();
  const bool seal = reader.Byte() % 2 == 1;
  std::string tail(reader.rest());
  if (tail.size() > ksst::kFooterBytes) tail.resize(ksst::kFooterBytes);
  if (tail.size() > file_bytes) tail.resize(file_bytes);
  // A reader reads the whole footer, or less from a shorter file.
  if (tail.size() != std::min<uint64_t>(file_bytes, ksst::kFooterBytes)) return;
  if (seal && tail.size() == ksst::kFooterBytes) {
    EncodeFixed64(tail.data() + 52, Hash64(Slice(tail).substr(0, 52), file_bytes - tail.size()));
    EncodeFixed64(tail.data() + 60, ksst::kMagic);
  }
  const ExactCopy copy(tail);
  ksst::Footer footer;
  const Status status = ksst::DecodeFooter("/a.ksst", file_bytes, copy.get(), &footer);
  if (!status.ok()) {
    CheckError("blocks", status, "/a.ksst");
    return;
  }
  for (const BlockHandle* handle : {&footer.top_index, &footer.properties})
    if (handle->end() > file_bytes || handle->end() < handle->offset)
      FuzzFailed("blocks", "a footer names bytes after the end of the file");
  if (footer.tombstones.bytes != 0 && footer.tombstones.end() != footer.properties.offset)
    FuzzFailed("blocks", "a footer's blocks have gaps");
  std::string encoded;
  ksst::EncodeFooter(footer, file_bytes - ksst::kFooterBytes, &encoded);
  if (encoded != tail) FuzzFailed("blocks", "a footer changes by being encoded");
}

/// Format: codec u8, raw length u16, then the payload.
inline void RunCompressed(Slice in) {
  InputReader reader(in);
  const auto codec = static_cast<Compression>(reader.Byte() % 3);
  const uint32_t raw_bytes = reader.Short();
  const ExactCopy payload(reader.rest());
  if (!RawBytesPossible(codec, payload.get(), raw_bytes)) return;
  const std::unique_ptr<char[]> raw(new char[raw_bytes]);
  if (!Decompress(codec, payload.get(), raw.get(), raw_bytes)) return;
  Compressor compressor(codec);
  std::string again;
  const Slice plain(raw.get(), raw_bytes);
  if (compressor.Compress(plain, &again) == Compression::kNone) return;
  std::string twice(raw_bytes, '\0');
  if (!Decompress(codec, again, twice.data(), raw_bytes) || twice != plain)
    FuzzFailed("blocks", "the bytes change by compression and decompression");
}

/// Aborts when a rule is violated; otherwise returns 0.
inline int RunBlocksInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  void (*const runs[])(Slice) = {RunProperties,        RunTombstones, RunDataBlock,
                                 RunIndexPartition,    RunFooter,     RunCompressed,
                                 RunDecoupledPartition};
  const ExactCopy rest(InputSlice(data + 1, size - 1));
  runs[data[0] % std::size(runs)](rest.get());
  return 0;
}

/// of: the kinds, used in turn.
inline void FillDataBlock(std::span<const RecordKind> of, ksst::DataBlockBuilder* builder) {
  std::string before;
  for (size_t i = 0; i < 20; ++i) {
    const std::string key = "same-" + std::to_string(100 + i);
    const RecordKind kind = of[i % of.size()];
    const bool has_value = (ksst::KindBit(kind) & ksst::kInlineKinds) != 0;
    const Record record{key, kind, i % 3 == 0 ? 6u : 0u, has_value ? Slice("value") : Slice()};
    const bool prefix_delete = kind == RecordKind::kPrefixDelete;
    builder->Add(record, prefix_delete ? ksst::PrefixDeleteHash(key) : ksst::PointHash(key),
                 static_cast<size_t>(
                     std::mismatch(key.begin(), key.end(), before.begin(), before.end()).first -
                     key.begin()));
    before = key;
  }
}

inline std::string DataBlockSeed() {
  static constexpr RecordKind kKinds[] = {RecordKind::kPut, RecordKind::kDelete,
                                          RecordKind::kAppend, RecordKind::kPrefixDelete};
  ksst::DataBlockBuilder builder;
  FillDataBlock(kKinds, &builder);
  return std::string(builder.Finish());
}

inline std::string IndexPartitionSeed(uint32_t version, uint32_t bits_per_key, uint32_t blocks) {
  ksst::IndexPartitionBuilder builder(bits_per_key);
  for (uint32_t i = 0; i < blocks; ++i) builder.index.Add("some-key-" + std::to_string(i), 100, 80);
  builder.hashes = {ksst::PointHash("some-key-1"), ksst::PointHash("some-key-2")};
  static constexpr RecordKind kKinds[] = {RecordKind::kDelete, RecordKind::kPrefixDelete,
                                          RecordKind::kPutReference};
  if (version == ksst::kFormatVersion) FillDataBlock(kKinds, &builder.decoupled);
  std::string out(1, version == ksst::kFormatVersion ? '\6' : '\3');
  out.push_back(static_cast<char>(blocks * 100 & 255));
  out.push_back(static_cast<char>(blocks * 100 >> 8));
  builder.Finish(&out);
  return out;
}

inline std::vector<std::string> BlocksSeeds() {
  TableProperties properties;
  properties.records = 300;
  properties.lower = "a";
  properties.upper = "bb";
  properties.tables[7] = {.records = 200, .bytes = 5000};
  properties.tables[9] = {.records = 100, .bytes = 9, .oldest_expiry_ms = 5};
  RangeTombstoneSet ranges;
  ranges.Add("a", "b");
  ranges.Add("c", "dd");
  std::vector<std::string> seeds(2);
  seeds[0].push_back(0);
  ksst::EncodeProperties(properties, &seeds[0]);
  seeds[1].push_back(1);
  ksst::EncodeTombstones(ranges, &seeds[1]);
  seeds.push_back('\2' + DataBlockSeed());
  for (const uint32_t bits_per_key : {10u, 0u})
    seeds.push_back(IndexPartitionSeed(ksst::kFormatVersionOldest, bits_per_key, 5));
  ksst::Footer footer;
  footer.tombstones = {100, 50};
  footer.properties = {163, 30};
  footer.top_index = {206, 81};
  std::string sealed("\x04\x70\x01\x01", 4), open("\x04\x70\x01\x00", 4);  // 368 bytes of file
  ksst::EncodeFooter(footer, 300, &sealed);
  ksst::EncodeFooter(footer, 300, &open);
  seeds.push_back(sealed);
  seeds.push_back(open);
  const std::string plain(400, 'p');
  for (const Compression codec : {Compression::kLz4, Compression::kZstd}) {
    std::string payload;
    Compressor(codec).Compress(plain, &payload);
    seeds.push_back(std::string("\x05") + static_cast<char>(codec) + "\x90\x01" + payload);
  }
  for (const uint32_t bits_per_key : {10u, 0u})
    seeds.push_back(
        IndexPartitionSeed(ksst::kFormatVersion, bits_per_key, bits_per_key == 0 ? 0 : 5));
  return seeds;
}

}  // namespace lava::fuzzing
