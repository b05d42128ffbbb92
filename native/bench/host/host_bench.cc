// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// host_bench lava|rocksdb DIRECTORY CASE [options]: one case of bin/bench host, as lines of JSON.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "bench/host/cases.h"
#include "memory/large_memory.h"

namespace lava::bench {

void Print(const Json& row) { std::cout << row.dump() << std::endl; }

void Fail(const std::string& why) {
  std::cerr << why << std::endl;
  std::exit(1);
}

namespace {

int Main(int argc, char** argv) {
  CLI::App app("One case of bin/bench host.");
  CaseOptions options;
  std::string engine, name;
  uint64_t memory_mib = 512, data_mib = 1024;
  app.add_option("ENGINE", engine)->required()->check(CLI::IsMember({"lava", "rocksdb"}));
  app.add_option("DIRECTORY", options.setup.directory, "made; left behind")->required();
  app.add_option("CASE", name)
      ->required()
      ->check(CLI::IsMember({"instances", "idle", "neighbour", "cycles", "mixed"}));
  app.add_option("--instances", options.instances)->check(CLI::PositiveNumber);
  app.add_option("--memory-mib", memory_mib, "of all instances together");
  app.add_option("--data-mib", data_mib, "keys and values of all instances together");
  app.add_option("--value-bytes", options.value_bytes);
  app.add_option("--operations", options.operations, "of the mix; cycles");
  app.add_option("--threads", options.setup.threads, "of background work");
  app.add_option("--separation", options.setup.separation_bytes,
                 "Lava's: values of so many bytes are separated");
  std::string fs = "posix";
  app.add_option("--fs", fs, "Lava's")->check(CLI::IsMember({"posix", "lavafs"}));
  app.add_option("--seconds-max", options.seconds_max, "of a phase");
  app.add_option("--reads-per-second", options.reads_per_second, "offered, beside the neighbour");
  app.add_option("--seconds", options.seconds, "of each part of neighbour; of mixed");
  CLI11_PARSE(app, argc, argv);
  options.setup.memory_bytes = memory_mib << 20;
  options.setup.on_volume = fs == "lavafs";
  options.data_bytes = data_mib << 20;
  options.make = engine == "lava" ? LavaInstances : RocksDBInstances;
  // RocksDB uses only malloc, as in a TaskManager.
  if (engine == "rocksdb") large_bytes_min = SIZE_MAX;
  std::filesystem::create_directories(options.setup.directory);
  const std::pair<const char*, void (*)(const CaseOptions&)> cases[] = {{"instances", RunInstances},
                                                                        {"idle", RunIdle},
                                                                        {"cycles", RunCycles},
                                                                        {"neighbour", RunNeighbour},
                                                                        {"mixed", RunMixed}};
  for (const auto& [known, run] : cases) {
    if (known == name) run(options);
  }
  return 0;
}

}  // namespace
}  // namespace lava::bench

int main(int argc, char** argv) { return lava::bench::Main(argc, argv); }
