#pragma once

#include <functional>
#include <memory>
#include <string>

#include "bench/host/instances.h"
#include "bench/host/measure.h"

namespace lava::bench {

using MakeInstances = std::unique_ptr<Instances> (*)(const HostSetup& setup);

/// What a case is run with. Units: bytes, counts, seconds.
struct CaseOptions {
  HostSetup setup;
  MakeInstances make = nullptr;
  uint64_t instances = 1;
  uint64_t data_bytes = 1 << 30;  // keys and values, of all instances together
  uint64_t value_bytes = 1024;
  uint64_t operations = 1'000'000;   // of the mix; of `cycles`, how many
  double seconds_max = 120;          // of a phase: it ends then with what it has done
  uint64_t reads_per_second = 5000;  // offered, of `neighbour`
  double seconds = 10;               // of each part of `neighbour`; of all of `mixed`
};

/// Load, updates and gets, checkpoints beside them, scans, and a rescaling, over all instances
/// uniformly: a row of JSON for each phase, and one for memory beside its bounds.
void RunInstances(const CaseOptions& options);
/// What instances cost that do nothing: empty ones, and ones that were opened again.
void RunIdle(const CaseOptions& options);
/// Opened, used, and closed, over and over: what stays.
void RunCycles(const CaseOptions& options);
/// All instances but one are read at a fixed rate, first alone, then while that one is written as
/// fast as it may.
void RunNeighbour(const CaseOptions& options);
/// A thread for each instance, values from some bytes to value_bytes, checkpoints beside them and
/// restores from these: resident memory with what malloc keeps of mixed sizes.
void RunMixed(const CaseOptions& options);

/// Prints a row.
void Print(const Json& row);
/// Ends the program.
[[noreturn]] void Fail(const std::string& why);

/// Adds how long call takes.
template <typename Call>
void Timed(Histogram* times, Call call) {
  const auto began = SteadyClock::now();
  call();
  times->Add(static_cast<uint64_t>(std::chrono::nanoseconds(SteadyClock::now() - began).count()));
}

}  // namespace lava::bench
