// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// Benchmarks of the cache by itself; prints lines of JSON.
//
//   cache_bench workloads
//   cache_bench record WORKLOAD SCALE DIRECTORY FILE   records an engine's requests to its cache
//   cache_bench play FILE SHARE POLICY...              plays them to caches of a share of its bytes
//   cache_bench threads N POLICY...                    lookups per second
//   cache_bench gets THREADS DIRECTORY                 an engine's gets per second, all cached
//   cache_bench erase FILES BLOCKS                     microseconds to drop a file

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "bench/cache/policies.h"
#include "bench/cache/threads.h"

namespace lava::bench {
namespace {

struct Figures {
  uint64_t calls = 0;
  std::array<uint64_t, 2> accesses{}, misses{}, missed_bytes{};
};

Figures Play(const Trace& trace, CachePolicy* policy) {
  Figures figures;
  const size_t warm = trace.events.size() / 4;  // not counted
  for (size_t i = 0; i < trace.events.size(); ++i) {
    const TraceEvent& event = trace.events[i];
    const auto segment = static_cast<size_t>(event.segment);
    switch (event.kind) {
      case TraceEvent::Kind::kAccess: {
        const bool hit = policy->Access(event);
        if (i < warm) break;
        ++figures.accesses[segment];
        figures.misses[segment] += !hit;
        figures.missed_bytes[segment] += hit ? 0 : event.bytes;
        break;
      }
      case TraceEvent::Kind::kWarm:
        policy->Warm(event);
        break;
      case TraceEvent::Kind::kErase:
        policy->Erase(event.file);
        break;
      case TraceEvent::Kind::kCall:
        figures.calls += i >= warm;
        break;
    }
  }
  return figures;
}

double Share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

int Replay(int argc, char** argv) {
  const Trace trace = Trace::Load(argv[2]);
  const Footprint footprint = trace.footprint();
  const auto capacity =
      static_cast<uint64_t>(std::atof(argv[3]) * static_cast<double>(footprint.bytes));
  const uint64_t block_bytes = footprint.bytes / std::max<uint64_t>(footprint.blocks, 1);
  for (int i = 4; i < argc; ++i) {
    const auto policy = MakePolicy(argv[i], capacity, block_bytes);
    const Figures f = Play(trace, policy.get());
    const uint64_t all = f.accesses[0] + f.accesses[1], missed = f.misses[0] + f.misses[1];
    std::printf(
        "{\"policy\":\"%s\",\"capacity\":%llu,\"calls\":%llu,\"accesses\":%llu,"
        "\"hit_ratio\":%.5f,\"index_hit_ratio\":%.5f,\"data_hit_ratio\":%.5f,"
        "\"index_share\":%.4f,\"reads_per_call\":%.5f,\"bytes_per_call\":%.1f}\n",
        argv[i], static_cast<unsigned long long>(capacity),
        static_cast<unsigned long long>(f.calls), static_cast<unsigned long long>(all),
        1 - Share(missed, all), 1 - Share(f.misses[0], f.accesses[0]),
        1 - Share(f.misses[1], f.accesses[1]), Share(footprint.index_bytes, footprint.bytes),
        Share(missed, f.calls), Share(f.missed_bytes[0] + f.missed_bytes[1], f.calls));
  }
  return 0;
}

int Main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "record" && argc == 6) {
    Record(argv[2], argv[4], std::atof(argv[3])).Save(argv[5]);
    return 0;
  }
  if (command == "play" && argc > 4) return Replay(argc, argv);
  if (command == "threads" && argc > 3) {
    for (int i = 3; i < argc; ++i)
      std::printf("{\"policy\":\"%s\",\"threads\":%s,\"lookups_per_second\":%.0f}\n", argv[i],
                  argv[2], LookupsPerSecond(argv[i], static_cast<uint32_t>(std::atoi(argv[2])), 2));
    return 0;
  }
  if (command == "gets" && argc == 4) {
    std::printf("{\"threads\":%s,\"gets_per_second\":%.0f}\n", argv[2],
                GetsPerSecond(argv[3], static_cast<uint32_t>(std::atoi(argv[2])), 5));
    return 0;
  }
  if (command == "erase" && argc == 4) {
    std::printf("{\"files\":%s,\"blocks\":%s,\"us\":%.3f}\n", argv[2], argv[3],
                EraseMicroseconds(std::strtoull(argv[2], nullptr, 10),
                                  std::strtoull(argv[3], nullptr, 10)));
    return 0;
  }
  if (command == "workloads") {
    for (const std::string& name : Workloads()) std::printf("%s\n", name.c_str());
    return 0;
  }
  std::fprintf(stderr, "see the head of cache_bench.cc\n");
  return 2;
}

}  // namespace
}  // namespace lava::bench

int main(int argc, char** argv) { return lava::bench::Main(argc, argv); }
