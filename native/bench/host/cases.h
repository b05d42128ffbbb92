// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "bench/host/instances.h"
#include "bench/host/measure.h"

namespace lava::bench {

using MakeInstances = std::unique_ptr<Instances> (*)(const HostSetup& setup);

/// Options of a case. Units: bytes, counts, seconds.
struct CaseOptions {
  HostSetup setup;
  MakeInstances make = nullptr;
  uint64_t instances = 1;
  uint64_t data_bytes = 1 << 30;  // keys and values of all instances together
  uint64_t value_bytes = 1024;
  uint64_t operations = 1'000'000;   // of the mix; for `cycles`, the number of cycles
  double seconds_max = 120;          // limit of a phase, which then ends with its results so far
  uint64_t reads_per_second = 5000;  // offered in `neighbour`
  double seconds = 10;               // of each part of `neighbour`; of the whole of `mixed`
};

/// Load, updates and gets, concurrent checkpoints, scans, and a rescaling, distributed uniformly
/// over all instances. Prints a row of JSON for each phase, and one that compares memory with its
/// limits.
void RunInstances(const CaseOptions& options);
/// The cost of idle instances: empty ones, and ones that were reopened.
void RunIdle(const CaseOptions& options);
/// Repeatedly opens, uses and closes instances, and shows the memory that is not returned.
void RunCycles(const CaseOptions& options);
/// Reads all instances but one at a fixed rate, first alone, then while that one is written as fast
/// as possible.
void RunNeighbour(const CaseOptions& options);
/// A thread for each instance, values from a few bytes to value_bytes, concurrent checkpoints, and
/// restores from these. Shows resident memory, including memory that malloc keeps for mixed sizes.
void RunMixed(const CaseOptions& options);

/// Prints a row.
void Print(const Json& row);
/// Prints the reason and ends the program.
[[noreturn]] void Fail(const std::string& why);

/// Adds the duration of the call.
template <typename Call>
void Timed(Histogram* times, Call call) {
  const auto began = SteadyClock::now();
  call();
  times->Add(static_cast<uint64_t>(std::chrono::nanoseconds(SteadyClock::now() - began).count()));
}

}  // namespace lava::bench
