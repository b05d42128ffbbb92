// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// log_bench lava-lavafs|lava-posix|rocksdb DIRECTORY CASE [options]: one case of bin/bench log, as
// a line of JSON.

#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "bench/log/puts.h"
#include "bench/log/targets.h"
#include "bench/measured.h"
#include "memory/large_memory.h"
#include "testing/random.h"

namespace lava::bench {
namespace {

struct Options {
  std::string kind, directory, name;
  uint64_t record = 1024, writers = 1, records = 10'000, logs = 1, mib = 256, late_percent = 0;
};

std::unique_ptr<LogTarget> TargetFor(const Options& options, uint64_t bytes, bool warm = true,
                                     bool fresh = true) {
  const LogSetup setup{.directory = options.directory,
                       .logs = std::max(options.logs, options.writers),
                       .volume_bytes = std::max<uint64_t>(bytes + bytes / 2, 1ull << 30),
                       .warm = warm,
                       .fresh = fresh,
                       .collects = options.name != "collection"};
  if (options.kind == "rocksdb") return NewRocksDbTarget(setup);
  return NewLavaLogTarget(setup, options.kind == "lava-lavafs");
}

std::string Noise(uint64_t bytes) { return testing::Random(1).Bytes(bytes); }

// Each writer appends to its own log, and each record is durable before the next.
nlohmann::ordered_json Append(const Options& options) {
  const uint64_t bytes = options.writers * options.records * options.record;
  const auto target = TargetFor(options, bytes);
  const std::string data = Noise(options.record);
  Latencies latencies(options.writers);
  const WrittenSince written(options.directory);
  const auto begin = Clock::now();
  OnThreads(options.writers, [&](size_t writer) {
    for (uint64_t lsn = 1; lsn <= options.records; ++lsn) {
      Timed(latencies.of(writer), [&] { target->Append(writer, lsn, data, true); });
    }
  });
  nlohmann::ordered_json row = {{"seconds", Seconds(begin)}, {"bytes", bytes}};
  written.AddTo(&row, bytes);
  latencies.AddTo(&row);
  return row;
}

// One instance in which every put is durable; at the end everything is in files.
nlohmann::ordered_json Put(const Options& options) {
  const uint64_t bytes = options.records * options.record;
  const auto store = options.kind == "rocksdb"
                         ? NewRocksDbStore(options.directory)
                         : NewLavaStore(options.directory, options.kind == "lava-lavafs");
  testing::Random random(1);
  const std::string data = random.Bytes(options.record + options.records);
  Latencies latencies(1);
  const WrittenSince written(options.directory);
  for (uint64_t n = 0; n < options.records; ++n) {
    std::string key(1, static_cast<char>(n % 128));
    PutBigEndian(&key, n, 8);
    // Avoids writing the same bytes twice.
    const Slice value = Slice(data).substr(n, options.record);
    Timed(latencies.of(0), [&] { store->Put(key, value); });
  }
  store->Flush();
  nlohmann::ordered_json row = {{"bytes", bytes}};
  written.AddTo(&row, bytes);
  latencies.AddTo(&row);
  return row;
}

// Round robin over the logs; of each hundred records some are held back and appended late.
void Fill(const Options& options, LogTarget* target, const std::string& data) {
  testing::Random random(7);
  std::vector<std::vector<uint64_t>> late(options.logs);
  const uint64_t each = (options.mib << 20) / options.record / options.logs;
  for (uint64_t lsn = 1; lsn <= each; ++lsn) {
    for (uint64_t log = 0; log < options.logs; ++log) {
      if (random.Uniform(100) < options.late_percent) {
        late[log].push_back(lsn);
        continue;
      }
      target->Append(log, lsn, data, false);
      while (!late[log].empty() && late[log].front() + random.Uniform(1000) < lsn) {
        target->Append(log, late[log].front(), data, false);
        late[log].erase(late[log].begin());
      }
    }
  }
  for (uint64_t log = 0; log < options.logs; ++log) {
    for (const uint64_t lsn : late[log]) target->Append(log, lsn, data, false);
  }
}

nlohmann::ordered_json Throughput(const Options& options) {
  const uint64_t bytes = options.mib << 20;
  const auto target = TargetFor(options, bytes);
  const std::string data = Noise(options.record);
  const auto begin = Clock::now();
  Fill(options, target.get(), data);
  return {{"seconds", Seconds(begin)},
          {"bytes", bytes},
          {"index_bytes_per_byte",
           static_cast<double>(target->index_bytes()) / static_cast<double>(bytes)}};
}

nlohmann::ordered_json Read(const Options& options, bool scan) {
  const uint64_t each = (options.mib << 20) / options.record / options.logs;
  const auto target = TargetFor(options, options.mib << 20);
  Fill(options, target.get(), Noise(options.record));
  target->Settle();
  testing::Random random(3);
  Latencies latencies(1);
  std::string data;
  const auto begin = Clock::now();
  for (uint64_t n = 0; n < options.records; ++n) {
    const uint64_t log = random.Uniform(options.logs), lsn = 1 + random.Uniform(each);
    Timed(latencies.of(0), [&] {
      if (scan) {
        target->Scan(log, lsn, 100);
      } else {
        target->Read(log, lsn, &data);
      }
    });
  }
  nlohmann::ordered_json row = {{"seconds", Seconds(begin)}};
  latencies.AddTo(&row);
  return row;
}

// A process fills the log and is killed; another one opens it.
nlohmann::ordered_json Recovery(const Options& options) {
  const pid_t child = fork();
  if (child == 0) {
    const auto target = TargetFor(options, options.mib << 20, false);
    Fill(options, target.get(), Noise(options.record));
    _exit(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
    std::cerr << "the process that fills the log failed\n";
    std::exit(1);
  }
  ::sync();
  const auto begin = Clock::now();
  const auto target = TargetFor(options, options.mib << 20, false, false);
  return {{"seconds", Seconds(begin)}, {"bytes", options.mib << 20}};
}

// Trims 99 of 100 logs.
nlohmann::ordered_json Collection(const Options& options) {
  const auto target = TargetFor(options, options.mib << 20);
  Fill(options, target.get(), Noise(options.record));
  for (uint64_t log = 0; log < options.logs; ++log) {
    if (log % 100 != 0) target->Trim(log, UINT64_MAX / 2);
  }
  const Collected collected = CollectOldest(target.get());
  return {{"file_bytes", collected.file_bytes},
          {"read_bytes", collected.read},
          {"moved_bytes", collected.moved}};
}

int Main(int argc, char** argv) {
  CLI::App app("One case of bin/bench log.");
  Options options;
  app.add_option("KIND", options.kind)
      ->required()
      ->check(CLI::IsMember({"lava-lavafs", "lava-posix", "rocksdb"}));
  app.add_option("DIRECTORY", options.directory, "made; left behind")->required();
  app.add_option("CASE", options.name)->required();
  app.add_option("--record", options.record, "bytes of a record");
  app.add_option("--writers", options.writers, "threads");
  app.add_option("--records", options.records, "of each writer, or reads");
  app.add_option("--logs", options.logs);
  app.add_option("--mib", options.mib, "that are filled");
  app.add_option("--late-percent", options.late_percent, "of records, by up to 1,000");
  CLI11_PARSE(app, argc, argv);
  // RocksDB uses only malloc, as in a TaskManager.
  if (options.kind == "rocksdb") large_bytes_min = SIZE_MAX;
  return RunCase(options.name, {{"append", [&] { return Append(options); }},
                                {"put", [&] { return Put(options); }},
                                {"throughput", [&] { return Throughput(options); }},
                                {"read", [&] { return Read(options, false); }},
                                {"scan", [&] { return Read(options, true); }},
                                {"recovery", [&] { return Recovery(options); }},
                                {"collection", [&] { return Collection(options); }}});
}

}  // namespace
}  // namespace lava::bench

int main(int argc, char** argv) { return lava::bench::Main(argc, argv); }
