// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

/// Measurements for benchmarks of single calls.
namespace lava::bench {

using Clock = std::chrono::steady_clock;

inline double Seconds(Clock::time_point since) {
  return std::chrono::duration<double>(Clock::now() - since).count();
}

// Bytes that the device wrote, as counted by the block layer, including writes of other processes;
// -1: unknown.
inline int64_t DeviceBytesWritten(const std::string& directory) {
  struct stat st {};
  if (stat(directory.c_str(), &st) != 0) return -1;
  std::ifstream file("/sys/dev/block/" + std::to_string(major(st.st_dev)) + ":" +
                     std::to_string(minor(st.st_dev)) + "/stat");
  uint64_t fields[7] = {};
  for (uint64_t& field : fields) file >> field;
  return file ? static_cast<int64_t>(fields[6]) * 512 : -1;
}

// Bytes that this process caused to be written, without other processes. Metadata of the underlying
// file system is only included in DeviceBytesWritten().
inline int64_t OwnBytesWritten() {
  std::ifstream file("/proc/self/io");
  std::string name;
  int64_t bytes = 0;
  while (file >> name >> bytes) {
    if (name == "write_bytes:") return bytes;
  }
  return -1;
}

// Latencies of all threads.
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

/// Bytes written since the construction, per byte of payload; -1: unknown.
class WrittenSince {
 public:
  explicit WrittenSince(const std::string& directory) : directory_(directory) {
    ::sync();
    device_ = DeviceBytesWritten(directory_);
    own_ = OwnBytesWritten();
  }
  void AddTo(nlohmann::ordered_json* row, uint64_t bytes) const {
    ::sync();
    const auto per_byte = [&](int64_t from, int64_t to) {
      return from < 0 ? -1 : static_cast<double>(to - from) / static_cast<double>(bytes);
    };
    (*row)["device_bytes_per_byte"] = per_byte(device_, DeviceBytesWritten(directory_));
    (*row)["own_bytes_per_byte"] = per_byte(own_, OwnBytesWritten());
  }

 private:
  const std::string directory_;
  int64_t device_ = -1, own_ = -1;
};

/// Runs the case with this name and prints its row; returns the program's exit code.
using Cases = std::vector<std::pair<std::string, std::function<nlohmann::ordered_json()>>>;
inline int RunCase(const std::string& wanted, const Cases& cases) {
  for (const auto& [name, run] : cases) {
    if (name != wanted) continue;
    std::cout << run().dump() << std::endl;
    return 0;
  }
  std::cerr << "no case is called " << wanted << "\n";
  return 2;
}

}  // namespace lava::bench
