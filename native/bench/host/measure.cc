// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "bench/host/measure.h"

#include <malloc.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>

#include "memory/page_pool.h"

namespace lava::bench {
namespace {

// The limit for resident memory of a native process: its base, this multiple of the budget, and
// this many bytes more.
constexpr double kBudgetShareMax = 1.05;
constexpr uint64_t kBeyondMax = 32 << 20;

uint32_t EntriesOf(const char* directory) {
  uint32_t n = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    (void)entry;
    ++n;
  }
  return n;
}

}  // namespace

void Histogram::Add(uint64_t ns) {
  const uint64_t high = ns >> kSplitBits;
  const uint32_t shift = high == 0 ? 0 : static_cast<uint32_t>(std::bit_width(high)) - 1;
  // Below 2^(kSplitBits + 1) each value has its own class; above, each doubling has 2^kSplitBits.
  ++classes_[(uint64_t{shift} << kSplitBits) + (ns >> shift)];
  ++count_;
}

void Histogram::Add(const Histogram& other) {
  for (size_t i = 0; i < classes_.size(); ++i) classes_[i] += other.classes_[i];
  count_ += other.count_;
}

uint64_t Histogram::At(double share) const {
  const auto wanted = static_cast<uint64_t>(share * static_cast<double>(count_));
  uint64_t seen = 0;
  for (uint64_t i = 0; i < classes_.size(); ++i) {
    seen += classes_[i];
    if (seen <= wanted && seen < count_) continue;
    const uint64_t shift = i < (2u << kSplitBits) ? 0 : (i >> kSplitBits) - 1;
    return count_ == 0 ? 0 : (((i - (shift << kSplitBits)) + 1) << shift) - 1;
  }
  return 0;
}

uint64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t pages = 0;
  file >> pages >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint32_t ThreadCount() { return EntriesOf("/proc/self/task"); }

uint32_t OpenFileCount() { return EntriesOf("/proc/self/fd") - 1; }

uint64_t ThreadCpuNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

HeapBytes HeapNow() {
  const struct mallinfo2 info = mallinfo2();
  const PagePool::Statistics pool = PagePool::Process().statistics();
  return {info.uordblks + info.hblkhd + pool.used_bytes, info.fordblks + pool.kept_bytes};
}

void MemorySampler::Peaks::Take(uint64_t resident_now, const Tracked& now) {
  resident = std::max(resident, resident_now);
  tracked.bytes = std::max(tracked.bytes, now.bytes);
  tracked.parts.resize(now.parts.size());
  for (size_t i = 0; i < now.parts.size(); ++i) {
    tracked.parts[i].first = now.parts[i].first;
    tracked.parts[i].second = std::max(tracked.parts[i].second, now.parts[i].second);
  }
}

void MemorySampler::Peaks::AddTo(Json* row) const {
  (*row)["resident_bytes_peak"] = resident;
  (*row)["tracked_bytes_peak"] = tracked.bytes;
  for (const auto& [name, bytes] : tracked.parts) (*row)["tracked_peak_by_purpose"][name] = bytes;
}

MemorySampler::MemorySampler(const Instances* instances, uint64_t base)
    : instances_(*instances), base_(base), thread_([this] {
        while (!stop_) {
          Look();
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
      }) {}

MemorySampler::~MemorySampler() {
  stop_ = true;
  thread_.join();
}

void MemorySampler::Look() {
  const uint64_t resident = ResidentBytes();
  const Tracked tracked = instances_.tracked();
  std::lock_guard<std::mutex> lock(mutex_);
  recent_.Take(resident, tracked);
  all_.Take(resident, tracked);
  ++samples_;
}

void MemorySampler::TakePeaks(Json* row) {
  Look();
  const HeapBytes heap = HeapNow();
  (*row)["resident_bytes"] = ResidentBytes();
  (*row)["tracked_bytes"] = instances_.tracked().bytes;
  (*row)["heap_used_bytes"] = heap.used;
  (*row)["heap_free_bytes"] = heap.free;
  std::lock_guard<std::mutex> lock(mutex_);
  recent_.AddTo(row);
  recent_ = {};
}

void MemorySampler::Summarize(uint64_t budget, Json* row) {
  std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t bound =
      base_ + static_cast<uint64_t>(kBudgetShareMax * static_cast<double>(budget)) + kBeyondMax;
  (*row)["samples"] = samples_;
  (*row)["budget_bytes"] = budget;
  (*row)["resident_bytes_base"] = base_;
  (*row)["resident_bytes_bound"] = bound;
  all_.AddTo(row);
  (*row)["tracked_within_budget"] = all_.tracked.bytes <= budget;
  (*row)["resident_within_bound"] = all_.resident <= bound;
}

}  // namespace lava::bench
