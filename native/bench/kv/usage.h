#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace lava::bench {

/// What the process used so far. Units: bytes, calls, seconds.
struct Usage {
  uint64_t written = 0, read = 0;  // handed to and taken from the kernel
  uint64_t device_read = 0;        // what storage delivered
  uint64_t read_calls = 0;
  double cpu_seconds = 0;
};
Usage UsageNow();
Usage operator-(const Usage& a, const Usage& b);

uint64_t SpaceOf(const std::string& directory);

/// Looks at a directory's space ten times a second, on a thread of its own.
class SpaceSampler {
 public:
  explicit SpaceSampler(std::string directory);
  ~SpaceSampler();
  /// The most since the last call.
  uint64_t TakePeak();

 private:
  void Look();
  const std::string directory_;
  std::atomic<uint64_t> peak_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace lava::bench
