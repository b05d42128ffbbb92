// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "bench/host/cases.h"
#include "bench/kv/data_set.h"
#include "bench/kv/usage.h"

namespace lava::bench {
namespace {

constexpr uint64_t kScans = 500, kScanEntries = 1000;
constexpr uint64_t kSplitMax = 20;
constexpr size_t kBytesOfKey = 36;

class InstancesCase {
 public:
  explicit InstancesCase(const CaseOptions& options)
      : options_(options),
        count_(options.instances),
        data_{.value_bytes = options.value_bytes,
              .keys = options.data_bytes / (options.value_bytes + kBytesOfKey)},
        records_(data_, 2026),
        base_(ResidentBytes()),
        instances_(options.make(options.setup)),
        sampler_(instances_.get(), base_) {}

  void Run() {
    Phase("open", [this] { return Open(); });
    Phase("load", [this] { return Load(); });
    Phase("mix", [this] { return Mix([this] { return done_ < options_.operations; }); });
    Phase("checkpoints", [this] { return Checkpoints(); });
    Phase("scans", [this] { return Scans(); });
    Phase("rescale", [this] { return Rescale(); });
    Phase("close", [this] { return Close(); });
    Json row = {{"phase", "memory"}};
    sampler_.Summarize(options_.setup.memory_bytes, &row);
    row["tracked_bytes_at_end"] = instances_->tracked().bytes;
    Print(row);
  }

 private:
  template <typename Play>
  void Phase(const char* name, Play play) {
    puts_ = {};
    gets_ = {};
    done_ = 0;
    const Usage before = UsageNow();
    began_ = SteadyClock::now();
    const uint64_t operations = play();
    const double seconds = SecondsSince(began_);
    if (puts_.count() > 0) instances_->Settle();
    const Usage used = UsageNow() - before;
    Json row = {{"phase", name}, {"operations", operations}, {"seconds", seconds}};
    row["settled_seconds"] = SecondsSince(began_);
    row["cpu_seconds"] = used.cpu_seconds;
    row["bytes_written"] = used.written;
    row["put_p50_ns"] = puts_.At(0.5);
    row["put_p99_ns"] = puts_.At(0.99);
    row["get_p50_ns"] = gets_.At(0.5);
    row["get_p99_ns"] = gets_.At(0.99);
    sampler_.TakePeaks(&row);
    Print(row);
  }
  bool InTime() const { return SecondsSince(began_) < options_.seconds_max; }

  void Put(uint64_t n) {
    const std::string& key = records_.Key(n);
    const std::string& value = records_.Value(n);
    Timed(&puts_, [&] { instances_->Put(n % count_, key, value); });
  }
  void Get(size_t instance, uint64_t n) {
    const std::string& key = records_.Key(n);
    size_t bytes = 0;
    Timed(&gets_, [&] { bytes = instances_->Get(instance, key); });
    if (bytes != data_.value_bytes) {
      Fail("instance " + std::to_string(instance) + " lost key " + std::to_string(n));
    }
  }

  uint64_t Open() {
    for (size_t n = 0; n < count_; ++n) instances_->Open(n);
    return count_;
  }
  uint64_t Load() {
    for (loaded_ = 0; loaded_ < data_.keys && (loaded_ % 1024 > 0 || InTime()); ++loaded_) {
      Put(loaded_);
    }
    return loaded_;
  }
  // Alternates updates and gets while `more` returns true.
  uint64_t Mix(const std::function<bool()>& more) {
    for (done_ = 0; more() && (done_ % 1024 > 0 || InTime()); ++done_) {
      const uint64_t n = records_.random()->Uniform(loaded_);
      if (done_ % 2 == 0) {
        Put(n);
      } else {
        Get(n % count_, n);
      }
    }
    return done_;
  }
  // Takes checkpoints during the mix, which continues until they are complete.
  uint64_t Checkpoints() {
    std::atomic<bool> complete{false};
    std::thread coordinator([&] {
      instances_->CheckpointAll(count_, CheckpointPath());
      complete = true;
    });
    const uint64_t operations = Mix([&] { return !complete; });
    coordinator.join();
    return operations;
  }
  uint64_t Scans() {
    for (; done_ < kScans && InTime(); ++done_) {
      const uint64_t n = records_.random()->Uniform(loaded_);
      const std::string& key = records_.Key(n);
      Timed(&gets_, [&] { (void)instances_->Scan(n % count_, key, kScanEntries); });
    }
    return done_;
  }
  // Splits some instances into two each, and reads the results.
  uint64_t Rescale() {
    const uint64_t split = std::min(count_, kSplitMax);
    for (size_t n = 0; n < split; ++n) {
      instances_->Close(n);
      const size_t lower = count_ + 2 * n;
      instances_->Split(CheckpointPath() + "/" + std::to_string(n), lower, lower + 1);
    }
    split_ = split;
    for (; done_ < options_.operations / 10 && InTime(); ++done_) {
      const uint64_t n = records_.random()->Uniform(loaded_);
      const uint64_t instance = n % count_;
      const auto first = static_cast<unsigned char>(records_.Key(n)[0]);
      const bool upper = first >= options_.setup.partitions / 2;
      Get(instance < split ? count_ + 2 * instance + upper : instance, n);
    }
    return done_;
  }
  uint64_t Close() {
    for (size_t n = split_; n < count_ + 2 * split_; ++n) instances_->Close(n);
    return count_ + split_;
  }
  std::string CheckpointPath() const { return options_.setup.directory + "/checkpoint"; }

  const CaseOptions options_;
  const uint64_t count_;
  const DataSet data_;
  RecordMaker records_;
  Histogram puts_, gets_;
  uint64_t done_ = 0, loaded_ = 0, split_ = 0;
  SteadyClock::time_point began_;
  const uint64_t base_;
  const std::unique_ptr<Instances> instances_;
  MemorySampler sampler_;
};

}  // namespace

void RunInstances(const CaseOptions& options) { InstancesCase(options).Run(); }

}  // namespace lava::bench
