// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// fs_bench lavafs|posix DIRECTORY CASE [options]: one case of bin/bench fs, as a line of JSON.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "bench/checked_calls.h"
#include "bench/fs/targets.h"
#include "bench/measured.h"
#include "fs/direct_io.h"
#include "testing/random.h"

namespace lava::bench {
namespace {

struct Options {
  std::string kind, directory, name;
  uint64_t block = 4096, threads = 1, mib = 64, files = 100'000, operations = 2000;
};

std::unique_ptr<BenchFiles> FilesFor(const Options& options, const VolumeSetup& setup = {}) {
  if (options.kind == "posix") return NewPosixFiles(options.directory);
  return std::make_unique<VolumeFiles>(options.directory, setup);
}

fs::AlignedBuffer Noise(size_t bytes) {
  fs::AlignedBuffer memory(bytes, 4096);
  const std::string noise = testing::Random(1).Bytes(bytes);
  std::memcpy(memory.data(), noise.data(), bytes);
  return memory;
}

// Each thread appends its share of --mib to its own file.
nlohmann::ordered_json Append(const Options& options, SyncKind sync) {
  const auto files =
      FilesFor(options, {.bytes = std::max<uint64_t>(2 * options.mib << 20, 256ull << 20)});
  const uint64_t operations = (options.mib << 20) / options.block / options.threads;
  Latencies latencies(options.threads);
  const WrittenSince written(options.directory);
  const auto begin = Clock::now();
  OnThreads(options.threads, [&](size_t thread) {
    const fs::AlignedBuffer data = Noise(options.block);
    const auto file = files->Create("f" + std::to_string(thread));
    for (uint64_t n = 0; n < operations; n++) {
      Timed(latencies.of(thread), [&] { file->Append(data.data(), options.block, sync); });
    }
    file->Close();
  });
  const uint64_t bytes = operations * options.threads * options.block;
  nlohmann::ordered_json row = {{"seconds", Seconds(begin)}, {"bytes", bytes}};
  written.AddTo(&row, bytes);
  latencies.AddTo(&row);
  return row;
}

// Reads random blocks of existing files.
nlohmann::ordered_json Read(const Options& options) {
  constexpr uint64_t kFiles = 4;
  const auto files =
      FilesFor(options, {.bytes = std::max<uint64_t>(2 * options.mib << 20, 256ull << 20)});
  const uint64_t file_bytes = (options.mib << 20) / kFiles;
  for (uint64_t n = 0; n < kFiles; n++) {
    const fs::AlignedBuffer data = Noise(1 << 20);
    const auto file = files->Create("f" + std::to_string(n));
    for (uint64_t at = 0; at < file_bytes; at += data.size()) {
      file->Append(data.data(), data.size(), SyncKind::kNone);
    }
    file->Close();
  }
  ::sync();
  Latencies latencies(options.threads);
  const auto begin = Clock::now();
  OnThreads(options.threads, [&](size_t thread) {
    testing::Random random(thread);
    const fs::AlignedBuffer memory(options.block, 4096);
    std::vector<std::unique_ptr<BenchReader>> readers;
    for (uint64_t n = 0; n < kFiles; n++) readers.push_back(files->Open("f" + std::to_string(n)));
    for (uint64_t n = 0; n < options.operations; n++) {
      const uint64_t offset = random.Uniform(file_bytes / options.block) * options.block;
      BenchReader* const reader = readers[random.Uniform(kFiles)].get();
      Timed(latencies.of(thread), [&] { reader->Read(offset, options.block, memory.data()); });
    }
  });
  nlohmann::ordered_json row = {{"seconds", Seconds(begin)}};
  row["bytes"] = options.operations * options.threads * options.block;
  latencies.AddTo(&row);
  return row;
}

void MakeEmptyFiles(VolumeFiles* files, uint64_t count) {
  for (uint64_t n = 0; n < count; n++) {
    (void)Must(files->volume()->Create(
        "bench", "0123456789abcdef0123456789abcdef-" + std::to_string(n) + ".ksst", 4096));
  }
}

// Synchronous appends with many files, whose metadata is rewritten by each compaction of the
// journal.
nlohmann::ordered_json Compaction(const Options& options, bool compacts) {
  VolumeFiles files(options.directory, {.journal_bytes_max = compacts ? 1ull << 20 : 1ull << 40});
  MakeEmptyFiles(&files, options.files / 5);
  const fs::AlignedBuffer data = Noise(4096);
  const auto file = files.Create("log");
  Latencies latencies(1);
  const uint64_t before = files.volume()->Statistics().journal_compactions;
  for (uint64_t n = 0; n < options.operations; n++) {
    Timed(latencies.of(0), [&] { file->Append(data.data(), data.size(), SyncKind::kAll); });
  }
  nlohmann::ordered_json row;
  row["compactions"] = files.volume()->Statistics().journal_compactions - before;
  latencies.AddTo(&row);
  return row;
}

nlohmann::ordered_json Mount(const Options& options) {
  VolumeFiles files(options.directory, {.warm = false});
  MakeEmptyFiles(&files, options.files);
  const double bytes = static_cast<double>(files.volume()->Statistics().metadata_memory_bytes);
  const auto begin = Clock::now();
  files.Remount();
  return {{"seconds", Seconds(begin)},
          {"files", files.volume()->Statistics().files},
          {"bytes_per_file", bytes / static_cast<double>(options.files)}};
}

int Main(int argc, char** argv) {
  CLI::App app("One case of bin/bench fs.");
  Options options;
  app.add_option("KIND", options.kind)->required()->check(CLI::IsMember({"lavafs", "posix"}));
  app.add_option("DIRECTORY", options.directory, "made; left behind")->required();
  app.add_option("CASE", options.name)->required();
  app.add_option("--block", options.block, "bytes of a write or read");
  app.add_option("--threads", options.threads);
  app.add_option("--mib", options.mib, "of all threads together");
  app.add_option("--files", options.files);
  app.add_option("--operations", options.operations, "of each thread");
  CLI11_PARSE(app, argc, argv);
  return RunCase(options.name,
                 {{"append", [&] { return Append(options, SyncKind::kNone); }},
                  {"append-fdatasync", [&] { return Append(options, SyncKind::kData); }},
                  {"append-fsync", [&] { return Append(options, SyncKind::kAll); }},
                  {"read", [&] { return Read(options); }},
                  {"fsync-compacting", [&] { return Compaction(options, true); }},
                  {"fsync-not-compacting", [&] { return Compaction(options, false); }},
                  {"mount", [&] { return Mount(options); }}});
}

}  // namespace
}  // namespace lava::bench

int main(int argc, char** argv) { return lava::bench::Main(argc, argv); }
