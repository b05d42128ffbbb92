// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "bench/host/cases.h"
#include "bench/kv/data_set.h"

namespace lava::bench {
namespace {

constexpr uint64_t kWriterKeys = 200'000;
constexpr auto kAhead = std::chrono::microseconds(60);  // approximate delay at the end of a sleep

// How long the calling thread was runnable without a CPU.
class RunQueueDelay {
 public:
  RunQueueDelay() : file_(fopen("/proc/thread-self/schedstat", "r")) {}
  ~RunQueueDelay() {
    if (file_ != nullptr) fclose(file_);
  }
  uint64_t Ns() {
    char text[64] = {};
    if (file_ == nullptr || pread(fileno(file_), text, sizeof text - 1, 0) <= 0) return 0;
    char* end = nullptr;
    (void)std::strtoull(text, &end, 10);
    return std::strtoull(end, nullptr, 10);
  }

 private:
  FILE* const file_;
};

// Times of reads. Each time includes the following ones.
struct ReadTimes {
  Histogram since_due;  // includes waiting behind late reads
  Histogram in_engine;
  Histogram waiting;  // blocked inside the engine, by locks or I/O; excludes waiting for a CPU
};

class NeighbourCase {
 public:
  explicit NeighbourCase(const CaseOptions& options)
      : options_(options),
        readers_(options.instances - 1),
        data_{.value_bytes = options.value_bytes, .keys = options.data_bytes / options.value_bytes},
        reads_(data_, 2026),
        writes_({.value_bytes = options.value_bytes, .keys = kWriterKeys}, 2027),
        base_(ResidentBytes()),
        instances_(options.make(options.setup)),
        sampler_(instances_.get(), base_) {}

  void Run() {
    for (size_t n = 0; n <= readers_; ++n) instances_->Open(n);
    for (uint64_t n = 0; n < data_.keys; ++n)
      instances_->Put(n % readers_, reads_.Key(n), reads_.Value(n));
    instances_->Settle();
    Read("warm", options_.seconds / 2);
    Read("alone", options_.seconds);
    Read("beside a computation", options_.seconds, [this] { return Compute(); });
    Read("beside a writer", options_.seconds, [this] { return Write(); });
    Json row = {{"phase", "memory"}};
    sampler_.Summarize(options_.setup.memory_bytes, &row);
    Print(row);
    for (size_t n = 0; n <= readers_; ++n) instances_->Close(n);
  }

 private:
  // neighbour runs in a separate thread and returns the amount of work done.
  void Read(const char* phase, double seconds, const std::function<uint64_t()>& neighbour = {}) {
    stop_ = false;
    uint64_t done = 0;
    std::thread beside;
    if (neighbour) beside = std::thread([&] { done = neighbour(); });
    const auto times = std::make_unique<ReadTimes>();
    const auto began = SteadyClock::now();
    ReadAtRate(seconds, times.get());
    const double took = SecondsSince(began);
    stop_ = true;
    if (beside.joinable()) beside.join();
    Json row = {{"phase", phase}, {"reads", times->in_engine.count()}, {"seconds", took}};
    const std::pair<const char*, const Histogram&> parts[] = {{"since_due", times->since_due},
                                                              {"in_engine", times->in_engine},
                                                              {"waiting", times->waiting}};
    for (const auto& [name, histogram] : parts) {
      row[std::string(name) + "_p50_ns"] = histogram.At(0.5);
      row[std::string(name) + "_p99_ns"] = histogram.At(0.99);
      row[std::string(name) + "_p999_ns"] = histogram.At(0.999);
    }
    row["neighbour_operations"] = done;
    sampler_.TakePeaks(&row);
    Print(row);
  }

  void ReadAtRate(double seconds, ReadTimes* times) {
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    RunQueueDelay queue;
    const auto reads =
        static_cast<uint64_t>(seconds * static_cast<double>(options_.reads_per_second));
    const auto began = SteadyClock::now();
    for (uint64_t i = 0; i < reads; ++i) {
      const auto due =
          began + std::chrono::nanoseconds(i * 1'000'000'000 / options_.reads_per_second);
      if (due - SteadyClock::now() > kAhead) std::this_thread::sleep_until(due - kAhead);
      while (SteadyClock::now() < due) {
      }
      const uint64_t n = reads_.random()->Uniform(data_.keys);
      const std::string& key = reads_.Key(n);
      const uint64_t queued = queue.Ns(), cpu = ThreadCpuNs();
      const auto from = SteadyClock::now();
      const size_t bytes = instances_->Get(n % readers_, key);
      const auto to = SteadyClock::now();
      const uint64_t busy = ThreadCpuNs() - cpu + queue.Ns() - queued;
      const auto ns = [&](SteadyClock::time_point since) {
        return static_cast<uint64_t>(std::chrono::nanoseconds(to - since).count());
      };
      times->since_due.Add(ns(due));
      times->in_engine.Add(ns(from));
      times->waiting.Add(ns(from) - std::min(ns(from), busy));
      if (bytes != data_.value_bytes) Fail("a key was lost");
    }
  }

  uint64_t Write() {
    uint64_t done = 0;
    for (; !stop_; ++done) {
      const uint64_t n = writes_.random()->Uniform(kWriterKeys);
      instances_->Put(readers_, writes_.Key(n), writes_.Value(n));
    }
    return done;
  }
  // A thread that uses no engine: shows the effect of CPU contention alone on reads.
  uint64_t Compute() {
    uint64_t done = 0;
    for (; !stop_; ++done) (void)writes_.Value(done);
    return done;
  }

  const CaseOptions options_;
  const uint64_t readers_;
  const DataSet data_;
  RecordMaker reads_, writes_;
  std::atomic<bool> stop_{false};
  const uint64_t base_;
  const std::unique_ptr<Instances> instances_;
  MemorySampler sampler_;
};

}  // namespace

void RunNeighbour(const CaseOptions& options) {
  if (options.instances < 2) Fail("neighbour needs at least two instances");
  NeighbourCase(options).Run();
}

}  // namespace lava::bench
