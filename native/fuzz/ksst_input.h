#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/coding.h"
#include "base/hash.h"
#include "table/block_loader.h"
#include "table/table_reader.h"
#include "table/table_writer.h"
#include "table/verify.h"
#include "testing/mem_file_system.h"

namespace lava::fuzzing {

/// What both the libFuzzer target and its replay as a unit test run.
///
/// An input's first byte says how the rest becomes a file:
///   even: the rest is the file;
///   odd:  the rest is a list of edits (position u16, byte u8) of a good file, whose codec and
///   block
///         size the byte chooses; all checksums are then made right again, so that the decoders
///         behind them see the edits.
/// Whatever the file is, opening, reading and verifying it must end with a Status. A file that
/// verification calls good must read as it was verified.

inline constexpr char kFuzzPath[] = "/fuzz/a-1.ksst";

[[noreturn]] inline void FuzzFailed(const char* what) {
  std::fprintf(stderr, "key SST fuzzer: %s\n", what);
  std::abort();
}

inline std::string GoodFile(testing::MemFileSystem* file_system, uint8_t shape) {
  TableWriterOptions options;
  options.compression = static_cast<Compression>((shape >> 1) % 3);
  options.block_bytes = (shape & 8) != 0 ? 120 : 1000;
  options.index_partition_bytes = (shape & 16) != 0 ? 100 : 2000;
  auto file = file_system->Create(kFuzzPath, 4096);
  if (!file.ok()) FuzzFailed("no file");
  auto writer = TableWriter::Create(options, std::move(*file), kFuzzPath);
  for (int i = 0; i < 60; ++i) {
    std::string key(6, '\1');
    key += "some-key-" + std::to_string(100 + i);
    uint32_t prefix_bytes = i % 3 == 0 ? 12 : 0;
    RecordKind kind = static_cast<RecordKind>(1 + i % 4);
    std::string value(kind == RecordKind::kPut || kind == RecordKind::kAppend ? i % 11 : 0, 'v');
    if (!writer->Add({key, kind, prefix_bytes, value}).ok()) FuzzFailed("a good record");
  }
  RangeTombstoneSet tombstones;
  tombstones.Add("\1\1\1\1\1\1a", "\1\1\1\1\1\1b");
  TableProperties properties;
  if (!writer->AddRangeTombstones(tombstones).ok() || !writer->Finish(&properties).ok())
    FuzzFailed("a good file");
  return *file_system->Content(kFuzzPath);
}

/// All blocks of a good file, and its footer, get the checksums of what they hold now.
inline void Reseal(const ksst::TableHead& head, std::string* file) {
  std::vector<ksst::BlockHandle> handles = {head.footer.properties, head.footer.top_index};
  if (head.footer.tombstones.bytes != 0) handles.push_back(head.footer.tombstones);
  for (uint32_t i = 0; i < head.top.count(); ++i) {
    handles.push_back(ksst::BlockAt(head.top, i));
    std::shared_ptr<const ksst::CachedPartition> partition;
    if (!head.loader->LoadPartitionAt(handles.back(), head.top.extent_begin(i), &partition).ok())
      FuzzFailed("a good partition");
    for (uint32_t j = 0; j < partition->index.count(); ++j)
      handles.push_back(ksst::BlockAt(partition->index, j));
  }
  for (const ksst::BlockHandle& handle : handles) {
    Slice covered = Slice(*file).substr(handle.offset, handle.bytes + 5);
    EncodeFixed64(file->data() + handle.end() - 8,
                  ksst::BlockChecksum(head.footer.unique_id, handle.offset, covered));
  }
  size_t footer = file->size() - ksst::kFooterBytes;
  EncodeFixed64(file->data() + footer + 52,
                Hash64(Slice(*file).substr(footer, ksst::kFooterBytes - 16), footer));
}

inline std::string EditedFile(testing::MemFileSystem* file_system, uint8_t shape, Slice edits) {
  std::string file = GoodFile(file_system, shape);
  auto opened = file_system->OpenRandom(kFuzzPath);
  ksst::TableHead head;
  if (!opened.ok() || !ksst::ReadTableHead(std::move(*opened), &head).ok())
    FuzzFailed("a good head");
  for (; edits.size() >= 3; edits.remove_prefix(3)) {
    size_t at = static_cast<uint8_t>(edits[0]) | size_t{static_cast<uint8_t>(edits[1])} << 8;
    file[at % file.size()] = edits[2];
  }
  // The good file is still in place: its blocks tell where checksums stand.
  Reseal(head, &file);
  return file;
}

inline uint64_t ReadWith(const TableReader& reader, const TableReader::IterateOptions& options,
                         std::vector<std::string>* keys) {
  auto iterator = reader.NewIterator(options);
  uint64_t records = 0;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    ++records;
    if (keys != nullptr && keys->size() < 100) keys->emplace_back(iterator->record().key);
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
    FuzzFailed("a verified file does not read whole");
  keys.push_back("\1\1\1\1\1\1some-key-117");
  keys.push_back("");
  for (const std::string& key : keys) {
    Lookup lookup(key, static_cast<uint32_t>(key.size() / 2));
    if (reader.Get(&lookup).ok()) lookup.Finish();
    auto has = reader.HasPrefixDelete(key);
    auto may = reader.MayHavePrefix(Slice(key).substr(0, key.size() / 2));
    if (verified && (!has.ok() || !may.ok())) FuzzFailed("a verified file does not answer");
  }
}

/// Aborts when a rule is broken; else returns 0.
inline int RunKsstInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  testing::MemFileSystem file_system;
  if (!file_system.CreateDirectory("/fuzz").ok()) FuzzFailed("no directory");
  Slice rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string file = data[0] % 2 == 0 ? std::string(rest) : EditedFile(&file_system, data[0], rest);
  if (!file_system.SetContent(kFuzzPath, std::move(file)).ok()) FuzzFailed("no content");
  Status verified = VerifyTableFile(&file_system, kFuzzPath, {});
  if (!verified.ok() && verified.message().find(kFuzzPath) == std::string_view::npos)
    FuzzFailed("an error does not name the file");
  auto cache = BlockCache::Create(1 << 20);
  auto opened = file_system.OpenRandom(kFuzzPath);
  if (!opened.ok()) FuzzFailed("the file is gone");
  auto reader = TableReader::Open(std::move(*opened), cache.get(), nullptr, nullptr);
  if (!reader.ok()) {
    if (verified.ok()) FuzzFailed("a verified file does not open");
    return 0;
  }
  ReadEverything(**reader, verified.ok());
  return 0;
}

}  // namespace lava::fuzzing
