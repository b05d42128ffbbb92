// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// Reads of a map state like those of Flink's keyed backend, on a whole instance: KEYS keys with ten
// entries of 8 bytes each, written key by key in random order of key groups. Prints the tree and,
// for each operation, nanoseconds per call. Under `valgrind --tool=callgrind
// --toggle-collect='*RunOperation*'` with one operation named, the instructions divided by the
// printed count are those of one call.
//   state_read_bench DIRECTORY OPERATION[,OPERATION...] [keys] [calls] [lease MiB]
//   operations: put get contains miss empty keys entries; "settle" waits for compactions first

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include "base/coding.h"
#include "bench/checked_calls.h"
#include "lava/db.h"
#include "testing/random.h"

namespace lava {
namespace {

constexpr uint32_t kPrefixBytes = 10;
constexpr uint64_t kEntries = 10;

/// Key group, key, void namespace, user key.
void MakeKey(uint64_t n, uint64_t user_key, std::string* key) {
  key->clear();
  PutBigEndian(key, (n * 0x9e3779b97f4a7c15ull) >> 57, 1);
  PutBigEndian(key, n, 8);
  key->push_back('\0');
  PutBigEndian(key, user_key, 8);
}

using bench::Check;
using bench::UntilDone;

void PrintTree(const DBStatistics& statistics) {
  std::printf("memtables %llu KiB in %llu sealed;",
              static_cast<unsigned long long>(statistics.memtable_active_bytes +
                                              statistics.memtable_sealed_bytes) >>
                  10,
              static_cast<unsigned long long>(statistics.sealed_runs));
  for (int level = 0; level < 8; ++level) {
    if (statistics.files_at_level[level] == 0) continue;
    std::printf(" L%d %llu files %llu KiB;", level,
                static_cast<unsigned long long>(statistics.files_at_level[level]),
                static_cast<unsigned long long>(statistics.bytes_at_level[level]) >> 10);
  }
  std::printf("\n");
}

struct Bench {
  DB* db;
  Table* table;
  uint64_t keys;
  testing::Random random{7};
  std::string key;
  PinnedValue value;
  ScanPage page;

  uint64_t Call(const std::string& operation) {
    const uint64_t n = random.Uniform(keys);
    if (operation == "put") {
      MakeKey(n, random.Uniform(kEntries), &key);
      bench::UntilDone([&] { return db->Put(table, {key, kPrefixBytes}, "123456789"); });
      return 1;
    }
    if (operation == "get" || operation == "contains" || operation == "miss") {
      MakeKey(n, random.Uniform(kEntries) + (operation == "miss" ? kEntries : 0), &key);
      const KeyRef ref{key, kPrefixBytes};
      const Status status =
          operation == "get" ? db->Get(table, ref, &value) : db->Contains(table, ref);
      if (!status.IsNotFound()) Check(status);
      return status.ok();
    }
    MakeKey(n, 0, &key);
    if (operation == "empty") {
      const Status status = db->ContainsPrefix(table, Slice(key).substr(0, kPrefixBytes));
      if (!status.IsNotFound()) Check(status);
      return status.ok();
    }
    ScanRequest request;
    request.lower = Slice(key).substr(0, kPrefixBytes);
    request.prefix_bytes = kPrefixBytes;
    request.skip_key_bytes = kPrefixBytes;
    request.keys_only = operation != "entries";
    request.entries_max = 16;
    Check(db->Scan(table, request, &page));
    return page.entries;
  }
};

__attribute__((noinline)) uint64_t RunOperation(Bench* bench, const std::string& operation,
                                                uint64_t calls) {
  uint64_t found = 0;
  for (uint64_t i = 0; i < calls; ++i) found += bench->Call(operation);
  return found;
}

void Fill(Bench* bench) {
  std::string value(9, '\0');
  for (uint64_t n = 0; n < bench->keys; ++n) {
    for (uint64_t i = 0; i < kEntries; ++i) {
      MakeKey(n, i, &bench->key);
      EncodeBigEndian(value.data() + 1, bench->random.Next(), 8);
      UntilDone([&] { return bench->db->Put(bench->table, {bench->key, kPrefixBytes}, value); });
    }
  }
}

void Settle(DB* db) {
  DBStatistics statistics = db->statistics();
  while (statistics.running_flushes + statistics.running_compactions + statistics.sealed_runs > 0) {
    ::usleep(100'000);
    statistics = db->statistics();
  }
}

int Main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s DIRECTORY OPERATION[,...] [keys] [calls] [lease MiB]\n",
                 argv[0]);
    return 2;
  }
  const auto number = [&](int i, uint64_t other) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : other;
  };
  const uint64_t calls = number(4, 500'000);
  auto lease = Host::Get().Acquire(number(5, 256) << 20, 0.5);
  Check(lease.status());
  DBOptions options;
  options.lease = *lease;
  options.partition_last = 127;
  auto db = DB::Open(options, argv[1]);
  Check(db.status());
  TableOptions table_options;
  table_options.kind = TableKind::kMap;
  auto table = (*db)->CreateTable("map", table_options);
  Check(table.status());
  Bench bench{db->get(), *table, number(3, 500'000), testing::Random{7}, {}, {}, {}};
  Fill(&bench);
  std::istringstream operations(argv[2]);
  for (std::string operation; std::getline(operations, operation, ',');) {
    if (operation == "settle") {
      Settle(db->get());
      PrintTree((*db)->statistics());
      continue;
    }
    RunOperation(&bench, operation, calls / 4);  // warms the cache
    const auto start = std::chrono::steady_clock::now();
    const uint64_t found = RunOperation(&bench, operation, calls);
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    std::printf("%s: %llu calls, %llu found, %.0f ns each\n", operation.c_str(),
                static_cast<unsigned long long>(calls), static_cast<unsigned long long>(found),
                time.count() / static_cast<double>(calls));
  }
  PrintTree((*db)->statistics());
  Check((*db)->Close());
  return 0;
}

}  // namespace
}  // namespace lava

int main(int argc, char** argv) { return lava::Main(argc, argv); }
