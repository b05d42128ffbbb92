// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/coding.h"
#include "base/hash.h"
#include "base/list_parts.h"
#include "base/value_reference.h"
#include "fuzz/fuzz_input.h"
#include "lava/list_format.h"
#include "table/block_loader.h"
#include "table/table_reader.h"
#include "table/table_writer.h"
#include "table/verify.h"
#include "testing/mem_file_system.h"

namespace lava::fuzzing {

/// Key SSTs. An input's first byte determines the file:
///   even: the rest is the file;
///   odd:  the rest is a list of edits (position u16, byte u8) of a good file. The byte selects the
///         file's codec, block sizes and version (4, or without decoupled records 2). All checksums
///         are corrected afterwards, so that the edits reach the decoders.
/// For any file, opening, reading and verifying must end with a Status. A file that passes
/// verification must be readable with the verified content.
inline constexpr char kFuzzPath[] = "/fuzz/a-1.ksst";

/// An intact file, and the locations of its blocks.
struct GoodFile {
  std::string bytes;
  uint64_t unique_id = 0;
  std::vector<BlockHandle> blocks;
};

inline std::string WriteGoodFile(testing::MemFileSystem* file_system,
                                 const TableWriterOptions& options) {
  auto file = file_system->Create(kFuzzPath, 4096);
  if (!file.ok()) FuzzFailed("ksst", "no file");
  auto writer = TableWriter::Create(options, std::move(*file), kFuzzPath);
  for (int i = 0; i < 60; ++i) {
    std::string key(6, '\1');
    key += "some-key-" + std::to_string(100 + i);
    uint32_t prefix_bytes = i % 3 == 0 ? 12 : 0;
    RecordKind kind = static_cast<RecordKind>(1 + i % (options.decouple_records ? 7 : 5));
    std::string value(kind == RecordKind::kPut || kind == RecordKind::kAppend ? i % 11 : 0, 'v');
    if (kind == RecordKind::kPutReference)
      EncodeReference({{{1, 2}, static_cast<uint64_t>(3 + i % 2)}, 5000, std::nullopt}, &value);
    if (HasParts(kind)) {
      AppendListSegment(ListSegment::kElement, "element", &value);
      for (uint64_t number = 3; number < 4 + static_cast<uint64_t>(i % 2); ++number)
        AppendListReference({{{1, 2}, number}, 5000, std::nullopt}, &value);
    }
    if (!writer->Add({key, kind, prefix_bytes, value}).ok()) FuzzFailed("ksst", "a good record");
  }
  RangeTombstoneSet tombstones;
  tombstones.Add("\1\1\1\1\1\1a", "\1\1\1\1\1\1b");
  TableProperties properties;
  if (!writer->AddRangeTombstones(tombstones).ok() || !writer->Finish(&properties).ok())
    FuzzFailed("ksst", "a good file");
  return *file_system->Content(kFuzzPath);
}

inline GoodFile MakeGoodFile(uint8_t shape) {
  testing::MemFileSystem file_system;
  if (!file_system.CreateDirectory("/fuzz").ok()) FuzzFailed("ksst", "no directory");
  TableWriterOptions options;
  options.compression = static_cast<Compression>((shape >> 1) % 3);
  options.block_bytes = (shape & 8) != 0 ? 120 : 1000;
  options.index_partition_bytes = (shape & 16) != 0 ? 100 : 2000;
  options.decouple_records = (shape & 32) == 0;
  GoodFile good;
  good.bytes = WriteGoodFile(&file_system, options);
  auto opened = file_system.OpenRandom(kFuzzPath);
  ksst::TableHead head;
  if (!opened.ok() || !ksst::ReadTableHead(std::move(*opened), &head).ok())
    FuzzFailed("ksst", "a good head");
  good.unique_id = head.footer.unique_id;
  good.blocks = {head.footer.properties, head.footer.top_index, head.footer.tombstones};
  for (uint32_t i = 0; i < head.top.count(); ++i) {
    good.blocks.push_back(ksst::BlockAt(head.top, i));
    std::shared_ptr<const ksst::CachedIndexPartition> index_partition;
    if (!head.loader
             ->LoadIndexPartitionAt(good.blocks.back(), head.top.extent_begin(i), &index_partition)
             .ok())
      FuzzFailed("ksst", "an index partition of a good file cannot be loaded");
    for (uint32_t j = 0; j < index_partition->index.count(); ++j)
      good.blocks.push_back(ksst::BlockAt(index_partition->index, j));
  }
  return good;
}

/// Created once for each shape; six bits of the shape count.
inline const GoodFile& GoodFileOf(uint8_t shape) {
  static std::unique_ptr<const GoodFile> files[64];
  std::unique_ptr<const GoodFile>& file = files[shape % 64];
  if (file == nullptr) file = std::make_unique<const GoodFile>(MakeGoodFile(shape % 64));
  return *file;
}

/// The good file with edits and corrected checksums of its blocks and footer.
inline std::string EditedFile(uint8_t shape, InputReader* edits) {
  const GoodFile& good = GoodFileOf(shape);
  std::string file = good.bytes;
  while (!edits->done()) {
    const size_t at = edits->Short() % file.size();
    file[at] = static_cast<char>(edits->Byte());
  }
  for (const BlockHandle& block : good.blocks) {
    Slice covered = Slice(file).substr(block.offset, block.bytes + 5);
    EncodeFixed64(file.data() + block.end() - 8,
                  BlockChecksum(good.unique_id, block.offset, covered));
  }
  size_t footer = file.size() - ksst::kFooterBytes;
  EncodeFixed64(file.data() + footer + 52,
                Hash64(Slice(file).substr(footer, ksst::kFooterBytes - 16), footer));
  return file;
}

inline uint64_t ReadWith(const TableReader& reader, const TableReader::IterateOptions& options,
                         std::vector<std::string>* keys) {
  auto iterator = reader.NewIterator(options);
  uint64_t records = 0;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    ++records;
    if (keys != nullptr && records % 7 == 0 && keys->size() < 8)
      keys->emplace_back(iterator->record().key);
  }
  iterator->Seek("\1\1\1\1\1\1some-key-130");
  if (iterator->Valid()) iterator->Next();
  return iterator->status().ok() ? records : UINT64_MAX;
}

inline void ReadEverything(const TableReader& reader, bool verified) {
  std::vector<std::string> keys;
  uint64_t cached = ReadWith(reader, {true, 0}, &keys);
  uint64_t direct = ReadWith(reader, {false, 300}, nullptr);
  if (verified && (cached != direct || cached != reader.properties().records))
    FuzzFailed("ksst", "a verified file cannot be read completely");
  keys.push_back("\1\1\1\1\1\1some-key-117");
  keys.push_back("");
  for (const std::string& key : keys) {
    Lookup lookup(key, static_cast<uint32_t>(key.size() / 2));
    if (reader.Get(&lookup).ok()) lookup.Finish();
    auto has = reader.HasPrefixDelete(key);
    auto may = reader.MayHavePrefix(Slice(key).substr(0, key.size() / 2));
    if (verified && (!has.ok() || !may.ok())) FuzzFailed("ksst", "a verified file fails a query");
  }
}

/// Aborts when a rule is violated; otherwise returns 0.
inline int RunKsstInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  InputReader in(InputSlice(data, size));
  const uint8_t shape = in.Byte();
  std::string file = shape % 2 == 0 ? std::string(in.rest()) : EditedFile(shape, &in);
  testing::MemFileSystem file_system;
  if (!file_system.CreateDirectory("/fuzz").ok() ||
      !file_system.SetContent(kFuzzPath, std::move(file)).ok())
    FuzzFailed("ksst", "no content");
  Status verified = VerifyTableFile(&file_system, kFuzzPath, {});
  if (!verified.ok()) CheckError("ksst", verified, kFuzzPath);
  // A reader removes its blocks from the cache.
  static const auto cache = BlockCache::Create(1 << 20);
  auto opened = file_system.OpenRandom(kFuzzPath);
  if (!opened.ok()) FuzzFailed("ksst", "the file cannot be opened");
  auto reader = TableReader::Open(std::move(*opened), cache.get(), nullptr, nullptr);
  if (!reader.ok()) {
    if (verified.ok()) FuzzFailed("ksst", "a verified file cannot be opened as a table");
    return 0;
  }
  ReadEverything(**reader, verified.ok());
  return 0;
}

/// A good file of each version, both complete and by its shape, and edits of the positions of
/// records.
inline std::vector<std::string> KsstSeeds() {
  std::vector<std::string> seeds = {"\1", "\x21", "\x39"};
  for (const uint8_t shape : {uint8_t{0}, uint8_t{32}})
    seeds.push_back('\0' + GoodFileOf(shape).bytes);
  // The first index partition's bytes of records, and the kind of its first one.
  const GoodFile& good = GoodFileOf(1);
  const size_t head = good.blocks[3].offset;
  for (const size_t at : {head + 4, head + 5, head + 9})
    seeds.push_back(std::string("\1") + static_cast<char>(at & 255) + static_cast<char>(at >> 8) +
                    '\1');
  return seeds;
}

}  // namespace lava::fuzzing
