// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// Point lookups in one key SST whose blocks are all cached. Prints nanoseconds per lookup. Under
// `valgrind --tool=callgrind --toggle-collect='*RunLookups*'`, the instructions divided by the
// printed count are those of one lookup.
//   ksst_get_bench hit|miss|multi|scan|direct [records] [lookups]
//                  [inline|references|mixed|deletes] [cache MiB]
// mixed: every second value is a reference; deletes: every second record deletes its key.

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/coding.h"
#include "table/table_reader.h"
#include "testing/mem_file_system.h"
#include "testing/random.h"

namespace lava {
namespace {

constexpr char kPath[] = "/bench/1.ksst";

/// Flink's key of a map entry: key group, table id, key, namespace, user key.
std::string KeyOf(uint64_t n, bool absent) {
  std::string key;
  PutBigEndian(&key, n * 128 / 10'000'000, 1);
  PutBigEndian(&key, 0x1234567890, 5);
  PutBigEndian(&key, n / 10, 8);
  key.append(4, '\0');
  PutBigEndian(&key, n % 10 * 2 + absent, 8);
  return key;
}

/// The record of the n-th key.
Record RecordOf(uint64_t n, const std::string& content, std::string* value) {
  Record record{{}, RecordKind::kPut, 18, {}};
  if (content == "references" || (content == "mixed" && n % 2 == 0)) {
    record.kind = RecordKind::kPutReference;
    value->clear();
    EncodeReference({{{1, 2}, 3 + n % 8}, 4096 + n % 1000, std::nullopt}, value);
  } else if (content == "deletes" && n % 2 == 0) {
    record.kind = RecordKind::kDelete;
    value->clear();
  } else {
    value->assign(8, static_cast<char>(n * 31));
  }
  record.value = *value;
  return record;
}

std::shared_ptr<TableReader> MakeTable(testing::MemFileSystem* file_system, BlockCache* cache,
                                       uint64_t records, const std::string& content,
                                       TableReader::ReadCounters* reads) {
  if (!file_system->CreateDirectory("/bench").ok()) std::abort();
  auto writer = TableWriter::Create({}, file_system->Create(kPath, 1 << 16).value(), kPath);
  std::string value;
  for (uint64_t n = 0; n < records; ++n) {
    std::string key = KeyOf(n, false);
    Record record = RecordOf(n, content, &value);
    record.key = key;
    if (!writer->Add(record).ok()) std::abort();
  }
  TableProperties properties;
  if (!writer->Finish(&properties).ok()) std::abort();
  std::printf("%.2f bytes a record, %llu blocks, %llu partitions\n",
              static_cast<double>(properties.file_bytes) / static_cast<double>(records),
              static_cast<unsigned long long>(properties.data_blocks),
              static_cast<unsigned long long>(properties.index_partitions));
  auto reader = TableReader::Open(file_system->OpenRandom(kPath).value(), cache, nullptr, reads);
  if (!reader.ok()) std::abort();
  return *reader;
}

__attribute__((noinline)) uint64_t RunLookups(const TableReader& reader,
                                              const std::vector<std::string>& keys,
                                              std::string* storage) {
  uint64_t found = 0;
  for (const std::string& key : keys) {
    Lookup lookup(key, 18, storage);
    if (!reader.Get(&lookup).ok()) std::abort();
    lookup.Finish();
    found += lookup.found();
  }
  return found;
}

__attribute__((noinline)) uint64_t RunScan(const TableReader& reader, bool fill_cache) {
  auto iterator = reader.NewIterator({fill_cache, fill_cache ? 0u : 1u << 20});
  uint64_t records = 0;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) ++records;
  return records;
}

int Main(int argc, char** argv) {
  std::string mode = argc > 1 ? argv[1] : "hit";
  uint64_t records = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 500'000;
  uint64_t lookups = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 200'000;
  testing::MemFileSystem file_system;
  std::string content = argc > 4 ? argv[4] : "inline";
  uint64_t cache_mib = argc > 5 ? std::strtoull(argv[5], nullptr, 10) : 1024;
  auto cache = BlockCache::Create(cache_mib << 20);
  TableReader::ReadCounters reads;
  auto reader = MakeTable(&file_system, cache.get(), records, content, &reads);
  RunScan(*reader, true);  // warms the cache
  testing::Random random(1);
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < lookups; ++i) {
    uint64_t n = random.Uniform(records);
    keys.push_back(KeyOf(n, mode == "miss"));
  }
  std::string storage;
  uint64_t reads_before = reads.block_reads;
  auto start = std::chrono::steady_clock::now();
  uint64_t found = mode == "scan"     ? lookups = RunScan(*reader, true)
                   : mode == "direct" ? lookups = RunScan(*reader, false)
                                      : RunLookups(*reader, keys, &storage);
  std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
  std::printf("%s: %llu done, %llu found, %.1f ns each, %.3f block reads each\n", mode.c_str(),
              static_cast<unsigned long long>(lookups), static_cast<unsigned long long>(found),
              time.count() / static_cast<double>(lookups),
              static_cast<double>(reads.block_reads - reads_before) / static_cast<double>(lookups));
  return 0;
}

}  // namespace
}  // namespace lava

int main(int argc, char** argv) { return lava::Main(argc, argv); }
