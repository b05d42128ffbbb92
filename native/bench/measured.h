#pragma once

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

/// What benchmarks of single calls measure by.
namespace lava::bench {

using Clock = std::chrono::steady_clock;

inline double Seconds(Clock::time_point since) {
  return std::chrono::duration<double>(Clock::now() - since).count();
}

// Bytes that the device wrote, as the block layer counts them; -1: not told. Others' are in it.
inline int64_t DeviceBytesWritten(const std::string& directory) {
  struct stat st {};
  if (stat(directory.c_str(), &st) != 0) return -1;
  std::ifstream file("/sys/dev/block/" + std::to_string(major(st.st_dev)) + ":" +
                     std::to_string(minor(st.st_dev)) + "/stat");
  uint64_t fields[7] = {};
  for (uint64_t& field : fields) file >> field;
  return file ? static_cast<int64_t>(fields[6]) * 512 : -1;
}

// Bytes that this process had written: without those of the file system below, and of others.
// Metadata of the file system below is in DeviceBytesWritten() only.
inline int64_t OwnBytesWritten() {
  std::ifstream file("/proc/self/io");
  std::string name;
  int64_t bytes = 0;
  while (file >> name >> bytes) {
    if (name == "write_bytes:") return bytes;
  }
  return -1;
}

// Of all threads.
class Latencies {
 public:
  explicit Latencies(size_t threads) : of_thread_(threads) {}
  std::vector<float>* of(size_t thread) { return &of_thread_[thread]; }
  void AddTo(nlohmann::ordered_json* row) {
    std::vector<float> all;
    for (const auto& some : of_thread_) all.insert(all.end(), some.begin(), some.end());
    std::sort(all.begin(), all.end());
    double sum = 0;
    for (const float one : all) sum += one;
    const auto at = [&](double share) {
      return all.empty()
                 ? 0
                 : all[std::min(all.size() - 1,
                                static_cast<size_t>(share * static_cast<double>(all.size())))];
    };
    (*row)["operations"] = all.size();
    (*row)["average_us"] = all.empty() ? 0 : sum / static_cast<double>(all.size());
    (*row)["p50_us"] = at(0.5);
    (*row)["p99_us"] = at(0.99);
    (*row)["max_us"] = all.empty() ? 0 : all.back();
  }

 private:
  std::vector<std::vector<float>> of_thread_;
};

inline void Timed(std::vector<float>* to, const std::function<void()>& call) {
  const auto begin = Clock::now();
  call();
  to->push_back(static_cast<float>(Seconds(begin) * 1e6));
}

inline void OnThreads(uint64_t count, const std::function<void(size_t)>& body) {
  std::vector<std::thread> threads;
  for (uint64_t n = 0; n < count; n++) threads.emplace_back(body, n);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace lava::bench
