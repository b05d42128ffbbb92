// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "bench/kv/usage.h"

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

namespace lava::bench {

Usage UsageNow() {
  Usage usage;
  if (FILE* io = std::fopen("/proc/self/io", "r"); io != nullptr) {
    unsigned long long n = 0;
    char name[32];
    while (std::fscanf(io, "%31[^:]: %llu\n", name, &n) == 2) {
      if (std::strcmp(name, "wchar") == 0) usage.written = n;
      if (std::strcmp(name, "rchar") == 0) usage.read = n;
      if (std::strcmp(name, "read_bytes") == 0) usage.device_read = n;
      if (std::strcmp(name, "syscr") == 0) usage.read_calls = n;
    }
    std::fclose(io);
  }
  rusage r{};
  getrusage(RUSAGE_SELF, &r);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  usage.cpu_seconds = seconds(r.ru_utime) + seconds(r.ru_stime);
  return usage;
}

Usage operator-(const Usage& a, const Usage& b) {
  return {a.written - b.written, a.read - b.read, a.device_read - b.device_read,
          a.read_calls - b.read_calls, a.cpu_seconds - b.cpu_seconds};
}

uint64_t SpaceOf(const std::string& directory) {
  uint64_t bytes = 0;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator(directory, gone)) {
    const uint64_t size = entry.file_size(gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

SpaceSampler::SpaceSampler(std::string directory)
    : directory_(std::move(directory)), thread_([this] {
        while (!stop_) {
          Look();
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
      }) {}

SpaceSampler::~SpaceSampler() {
  stop_ = true;
  thread_.join();
}

void SpaceSampler::Look() {
  const uint64_t now = SpaceOf(directory_);
  uint64_t peak = peak_;
  while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
  }
}

uint64_t SpaceSampler::TakePeak() {
  Look();
  return peak_.exchange(0);
}

}  // namespace lava::bench
