// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <vector>

#include "bench/host/cases.h"
#include "bench/kv/data_set.h"

namespace lava::bench {
namespace {

constexpr uint64_t kRecordsOfUsed = 100;  // records in an instance that is reopened

double PerInstance(uint64_t after, uint64_t before, uint64_t count) {
  return (static_cast<double>(after) - static_cast<double>(before)) / static_cast<double>(count);
}

void AddTimes(const std::string& name, const Histogram& times, Json* row) {
  (*row)[name + "_p50_ns"] = times.At(0.5);
  (*row)[name + "_p99_ns"] = times.At(0.99);
}

class IdleCase {
 public:
  explicit IdleCase(const CaseOptions& options)
      : options_(options),
        records_({.value_bytes = options.value_bytes, .keys = kRecordsOfUsed}, 2026),
        instances_(options.make(options.setup)) {}

  void Run() {
    // Open one instance first: resources that all share belong to no single instance.
    instances_->Open(options_.instances);
    OpenAndClose("empty");
    for (size_t n = 0; n < options_.instances; ++n) Fill(n);
    OpenAndClose("opened again");
    instances_->Close(options_.instances);
  }

 private:
  void Fill(size_t instance) {
    instances_->Open(instance);
    for (uint64_t n = 0; n < kRecordsOfUsed; ++n)
      instances_->Put(instance, records_.Key(n), records_.Value(n));
    instances_->Flush(instance);
    instances_->Close(instance);
  }
  void OpenAndClose(const char* what) {
    const uint64_t count = options_.instances;
    const uint64_t resident = ResidentBytes(), tracked = instances_->tracked().bytes;
    const uint64_t heap = HeapNow().used;
    const uint32_t threads = ThreadCount(), files = OpenFileCount();
    Histogram opens, open_cpu, closes, close_cpu;
    for (size_t n = 0; n < count; ++n) {
      const uint64_t cpu = ThreadCpuNs();
      Timed(&opens, [&] { instances_->Open(n); });
      open_cpu.Add(ThreadCpuNs() - cpu);
    }
    Json row = {{"phase", what}, {"instances", count}};
    row["resident_bytes_each"] = PerInstance(ResidentBytes(), resident, count);
    row["heap_bytes_each"] = PerInstance(HeapNow().used, heap, count);
    row["tracked_bytes_each"] = PerInstance(instances_->tracked().bytes, tracked, count);
    row["threads_each"] = PerInstance(ThreadCount(), threads, count);
    row["threads"] = ThreadCount();
    row["open_files_each"] = PerInstance(OpenFileCount(), files, count);
    for (size_t n = 0; n < count; ++n) {
      const uint64_t cpu = ThreadCpuNs();
      Timed(&closes, [&] { instances_->Close(n); });
      close_cpu.Add(ThreadCpuNs() - cpu);
    }
    AddTimes("open", opens, &row);
    AddTimes("open_cpu", open_cpu, &row);
    AddTimes("close_cpu", close_cpu, &row);
    AddTimes("close", closes, &row);
    row["tracked_bytes_left"] =
        static_cast<int64_t>(instances_->tracked().bytes) - static_cast<int64_t>(tracked);
    Print(row);
  }

  const CaseOptions options_;
  RecordMaker records_;
  const std::unique_ptr<Instances> instances_;
};

// The slope of a least-squares line through the samples: bytes of growth per sample.
double Slope(const std::vector<uint64_t>& samples) {
  const auto n = static_cast<double>(samples.size());
  double x_mean = (n - 1) / 2, y_mean = 0, covariance = 0, variance = 0;
  for (const uint64_t sample : samples) y_mean += static_cast<double>(sample) / n;
  for (size_t i = 0; i < samples.size(); ++i) {
    const double x = static_cast<double>(i) - x_mean;
    covariance += x * (static_cast<double>(samples[i]) - y_mean);
    variance += x * x;
  }
  return variance == 0 ? 0 : covariance / variance;
}

class CyclesCase {
 public:
  explicit CyclesCase(const CaseOptions& options)
      : options_(options),
        data_{.value_bytes = options.value_bytes, .keys = kRecordsOfUsed},
        records_(data_, 2026),
        resident_(options.operations),
        instances_(options.make(options.setup)) {}

  void Run() {
    const uint32_t threads = ThreadCount(), files = OpenFileCount();
    Histogram opens, closes;
    for (uint64_t n = 0; n < options_.operations; ++n) {
      Timed(&opens, [&] { instances_->Open(0); });
      Use();
      Timed(&closes, [&] { instances_->Close(0); });
      resident_[n] = ResidentBytes();
    }
    // The first half fills pools and caches.
    const std::vector<uint64_t> later(
        resident_.begin() + static_cast<ptrdiff_t>(resident_.size() / 2), resident_.end());
    Json row = {{"phase", "cycles"}, {"cycles", options_.operations}};
    row["resident_bytes_first"] = resident_.front();
    row["resident_bytes_last"] = resident_.back();
    row["resident_bytes_per_cycle"] = Slope(later);
    row["heap_used_bytes"] = HeapNow().used;
    row["tracked_bytes_left"] = instances_->tracked().bytes;
    row["threads_left"] = static_cast<int64_t>(ThreadCount()) - threads;
    row["open_files_left"] = static_cast<int64_t>(OpenFileCount()) - files;
    AddTimes("open", opens, &row);
    AddTimes("close", closes, &row);
    Print(row);
  }

 private:
  // Overwrites the data of the previous cycle, in a file and in memory.
  void Use() {
    for (uint64_t n = 0; n < kRecordsOfUsed; ++n)
      instances_->Put(0, records_.Key(n), records_.Value(n));
    instances_->Flush(0);
    for (uint64_t n = 0; n < kRecordsOfUsed; n += 2) {
      (void)instances_->Get(0, records_.Key(n));
      instances_->Put(0, records_.Key(n), records_.Value(n));
    }
    (void)instances_->Scan(0, records_.Key(0), 10);
  }

  const CaseOptions options_;
  const DataSet data_;
  RecordMaker records_;
  std::vector<uint64_t> resident_;
  const std::unique_ptr<Instances> instances_;
};

}  // namespace

void RunIdle(const CaseOptions& options) { IdleCase(options).Run(); }
void RunCycles(const CaseOptions& options) { CyclesCase(options).Run(); }

}  // namespace lava::bench
