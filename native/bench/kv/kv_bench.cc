// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// Runs one engine through phases (bench/kv/phases.h) on one data set. Prints a JSON object for the
// engine, and one for each phase. native/tools/kv_suite.py compares engines.
//   kv_bench ENGINE DIRECTORY [--NAME=VALUE ...] PHASE...
// Engines: lava rocksdb rocksdb-blob. Bytes are those that the process passed to or received from
// the kernel, after background work has settled.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "bench/kv/phases.h"
#include "memory/large_memory.h"

namespace lava::bench {
namespace {

// The flags with their defaults; usage() prints them.
std::map<std::string, std::string> flags = {
    {"values", "16000"},    // bytes of a value, or mixed, or pareto
    {"key-bytes", "36"},    // of a key
    {"keys", "10000"},      // of the data set
    {"memory-mib", "128"},  // of the engine
    {"separation", "512"},  // values of so many bytes are separated, in engines that can; 0: none,
                            // automatic: Lava chooses
    {"policy", "automatic"},  // Lava's for values, or collect, merge, greedy
    {"space-percent", "0"},   // Lava's limit of space, in percent of its live data; 0: none
    {"io", "buffered"},       // or direct
    {"fs", "posix"},          // or lavafs, of Lava
    {"write-mib", "8"},       // a second, of the writer beside readers
    {"while-seconds", "10"},  // of a phase with a writer beside readers
};

uint64_t Number(const std::string& name) { return std::strtoull(flags[name].c_str(), nullptr, 10); }

const std::map<std::string, ValuePolicy> kPolicies = {{"automatic", ValuePolicy::kAutomatic},
                                                      {"collect", ValuePolicy::kCollect},
                                                      {"merge", ValuePolicy::kMerge},
                                                      {"greedy", ValuePolicy::kGreedy}};

int ExplainUsage() {
  std::fprintf(stderr, "usage: kv_bench lava|rocksdb|rocksdb-blob DIRECTORY");
  for (const auto& [name, value] : flags)
    std::fprintf(stderr, " [--%s=%s]", name.c_str(), value.c_str());
  std::fprintf(stderr, " PHASE...\n");
  return 2;
}

int Main(int argc, char** argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t equals = word.find('=');
    if (!word.starts_with("--")) {
      words.push_back(word);
    } else if (equals == std::string::npos || !flags.contains(word.substr(2, equals - 2))) {
      return ExplainUsage();
    } else {
      flags[word.substr(2, equals - 2)] = word.substr(equals + 1);
    }
  }
  const auto policy = kPolicies.find(flags["policy"]);
  if (words.size() < 3 || policy == kPolicies.end()) return ExplainUsage();
  const std::string engine = words[0];
  KvOptions options;
  options.directory = words[1];
  options.memory_bytes = Number("memory-mib") << 20;
  options.separation_bytes =
      flags["separation"] == "automatic" ? kSeparationAutomatic : Number("separation");
  options.value_policy = policy->second;
  options.space_percent = static_cast<uint32_t>(Number("space-percent"));
  options.direct_io = flags["io"] == "direct";
  options.on_volume = flags["fs"] == "lavafs";
  const DataSet data{.sizes = flags["values"] == "mixed"    ? ValueSizes::kMixed
                              : flags["values"] == "pareto" ? ValueSizes::kPareto
                                                            : ValueSizes::kFixed,
                     .value_bytes = Number("values"),
                     .keys = Number("keys"),
                     .key_bytes = Number("key-bytes")};
  const PhaseOptions phase_options{
      .while_writing_seconds = static_cast<double>(Number("while-seconds")),
      .while_writing_bytes_second = Number("write-mib") << 20};
  // RocksDB uses only malloc, as in a TaskManager.
  if (engine != "lava") large_bytes_min = SIZE_MAX;
  std::unique_ptr<KvStore> store =
      engine == "lava" ? OpenLava(options) : OpenRocksDB(options, engine == "rocksdb-blob");
  std::printf("{\"engine\":\"%s\",\"version\":\"%s\"}\n", engine.c_str(), store->Version().c_str());
  Phases phases(store.get(), options.directory, data, phase_options);
  for (size_t i = 2; i < words.size(); ++i) phases.Run(words[i]);
  return 0;
}

}  // namespace
}  // namespace lava::bench

int main(int argc, char** argv) { return lava::bench::Main(argc, argv); }
