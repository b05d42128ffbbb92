// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace lava::bench {

/// Resources used by the process so far. Units: bytes, calls, seconds.
struct Usage {
  uint64_t written = 0, read = 0;  // passed to and received from the kernel
  uint64_t device_read = 0;        // read from storage
  uint64_t read_calls = 0;
  double cpu_seconds = 0;
};
Usage UsageNow();
Usage operator-(const Usage& a, const Usage& b);

uint64_t SpaceOf(const std::string& directory);

/// Samples a directory's size ten times per second on a separate thread.
class SpaceSampler {
 public:
  explicit SpaceSampler(std::string directory);
  ~SpaceSampler();
  /// The maximum since the last call.
  uint64_t TakePeak();

 private:
  void Look();
  const std::string directory_;
  std::atomic<uint64_t> peak_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace lava::bench
