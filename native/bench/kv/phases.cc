// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "bench/kv/phases.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <thread>

namespace lava::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr uint64_t kGetsMax = 200'000, kScannedMax = 100'000, kScansMin = 20;
constexpr uint64_t kInsertedShare = 10;  // of the loaded keys

/// Percent of the calls; the remaining calls read a value and rewrite it.
struct YcsbMix {
  uint64_t read = 0, update = 0, insert = 0, scan = 0;
  bool latest = false;  // recently inserted keys are read most
};
const std::map<char, YcsbMix> kYcsb = {
    {'a', {.read = 50, .update = 50}},
    {'b', {.read = 95, .update = 5}},
    {'c', {.read = 100}},
    {'d', {.read = 95, .insert = 5, .latest = true}},
    {'e', {.insert = 5, .scan = 95}},
    {'f', {.read = 50}},
};
constexpr uint64_t kYcsbScanMax = 100;  // maximum number of entries; the number is uniform

double SecondsSince(SteadyClock::time_point began) {
  return std::chrono::duration<double>(SteadyClock::now() - began).count();
}

// N of "scan-N..."; 0: not a scan.
uint32_t ScanEntries(const std::string& phase) {
  if (!phase.starts_with("scan-")) return 0;
  return static_cast<uint32_t>(std::strtoul(phase.c_str() + 5, nullptr, 10));
}

}  // namespace

void Latencies::Sort() { std::sort(us_.begin(), us_.end()); }

double Latencies::Percentile(double share) const {
  if (us_.empty()) return 0;
  return us_[static_cast<size_t>(share * static_cast<double>(us_.size() - 1))];
}

struct Phases::Row {
  std::string phase;
  double seconds = 0, settled_seconds = 0;
  Usage usage;
  EngineFigures before, after;
  uint64_t space = 0, peak = 0;
};

Phases::Phases(KvStore* store, const std::string& directory, const DataSet& data,
               const PhaseOptions& options)
    : store_(*store),
      directory_(directory),
      data_(data),
      options_(options),
      stored_per_user_byte_(StoredPerUserByte(data)),
      writes_(data, 2013),
      reads_(data, 2014),
      space_(directory) {}

void Phases::Run(const std::string& phase) {
  latencies_.Clear();
  writer_latencies_.Clear();
  for (Latencies& latencies : by_kind_) latencies.Clear();
  bytes_put_ = bytes_got_ = 0;
  Row row;
  row.phase = phase;
  row.before = store_.Figures();
  space_.TakePeak();
  const Usage before = UsageNow();
  const auto began = SteadyClock::now();
  if (!Play(phase)) {
    std::fprintf(stderr, "unknown phase %s\n", phase.c_str());
    std::exit(2);
  }
  row.seconds = SecondsSince(began);
  if (bytes_put_ > 0) store_.Settle();
  row.settled_seconds = SecondsSince(began);
  row.usage = UsageNow() - before;
  row.after = store_.Figures();
  row.space = SpaceOf(directory_);
  row.peak = space_.TakePeak();
  Print(row);
}

bool Phases::Play(const std::string& phase) {
  const uint32_t scan_entries = ScanEntries(phase);
  const bool zipf = phase.ends_with("-zipf");
  if (phase == "load") {
    Load();
  } else if (phase == "insert") {
    Insert(data_.keys / kInsertedShare);
  } else if (phase == "overwrite-uniform" || phase == "overwrite-zipf") {
    Overwrite(keys_ * 2, zipf);
  } else if (phase == "update-uniform" || phase == "update-zipf") {
    Overwrite(keys_ * 3, zipf);
  } else if (phase == "get-uniform" || phase == "get-zipf") {
    ReadAll(0, zipf);
  } else if (phase == "read-while-writing") {
    WhileWriting(0);
  } else if (scan_entries > 0 && phase.ends_with("-while-writing")) {
    WhileWriting(scan_entries);
  } else if (scan_entries > 0) {
    ReadAll(scan_entries, zipf);
  } else if (phase.starts_with("ycsb-") && phase.size() > 6) {
    return PlayYcsb(phase[5], zipf);
  } else {
    return false;
  }
  return true;
}

template <typename Call>
void Phases::Timed(CallKind kind, Call call) {
  const auto began = SteadyClock::now();
  call();
  const double us = SecondsSince(began) * 1e6;
  latencies_.Add(us);
  by_kind_[static_cast<size_t>(kind)].Add(us);
}

void Phases::Put(uint64_t n) {
  const std::string& key = writes_.Key(n);
  const std::string& value = writes_.Value(n);
  bytes_put_ += key.size() + value.size();
  Timed(CallKind::kWrite, [&] { store_.Put(key, value); });
}

void Phases::Read(uint64_t n, uint32_t scan_entries) {
  const std::string& key = reads_.Key(n);
  Timed(scan_entries == 0 ? CallKind::kRead : CallKind::kScan, [&] {
    bytes_got_ += scan_entries == 0 ? store_.Get(key) : store_.Scan(key, scan_entries);
  });
}

void Phases::Load() { Insert(data_.keys); }

void Phases::Insert(uint64_t count) {
  const uint64_t before = bytes_put_;
  for (uint64_t i = 0; i < count; ++i) Put(keys_++);
  live_bytes_ += bytes_put_ - before;
}

void Phases::Overwrite(uint64_t puts, bool zipf) {
  const KeyChooser keys(keys_, zipf);
  for (uint64_t i = 0; i < puts; ++i) Put(keys.Next(writes_.random()));
}

void Phases::ReadAll(uint32_t scan_entries, bool zipf) {
  const KeyChooser keys(keys_, zipf);
  uint64_t calls = std::min(keys_, kGetsMax);
  if (scan_entries > 0)
    calls = std::max<uint64_t>(kScansMin, std::min(keys_, kScannedMax) / scan_entries);
  for (uint64_t i = 0; i < calls; ++i) Read(keys.Next(reads_.random()), scan_entries);
}

bool Phases::PlayYcsb(char workload, bool zipf) {
  const auto mix = kYcsb.find(workload);
  if (mix == kYcsb.end()) return false;
  const YcsbMix& of = mix->second;
  uint64_t calls = std::min(keys_, kGetsMax);
  if (of.scan > 0) calls = std::min(keys_, kScannedMax) / (kYcsbScanMax / 2);
  const KeyChooser chooser(keys_, zipf || of.latest);
  for (uint64_t i = 0; i < calls; ++i) {
    const uint64_t rank = chooser.Next(reads_.random());
    const uint64_t n = of.latest ? keys_ - 1 - rank : rank;
    uint64_t choice = reads_.random()->Uniform(100);
    if (choice < of.read) {
      Read(n, 0);
    } else if ((choice -= of.read) < of.update) {
      Put(n);
    } else if ((choice -= of.update) < of.insert) {
      Insert(1);
    } else if ((choice -= of.insert) < of.scan) {
      Read(n, static_cast<uint32_t>(1 + reads_.random()->Uniform(kYcsbScanMax)));
    } else {
      Read(n, 0);
      Put(n);
    }
  }
  return true;
}

// If the previous put was late, the writer's latency is measured from the due time of the put: an
// operation that waits behind a stall has waited, too.
void Phases::WriteAtRate(const std::atomic<bool>* stop) {
  const KeyChooser keys(keys_, false);
  const auto began = SteadyClock::now();
  while (!stop->load(std::memory_order_relaxed)) {
    const auto due = began + std::chrono::nanoseconds(static_cast<int64_t>(
                                 static_cast<double>(bytes_put_) * 1e9 /
                                 static_cast<double>(options_.while_writing_bytes_second)));
    const bool late = SteadyClock::now() >= due;
    if (!late) std::this_thread::sleep_until(due);
    const uint64_t n = keys.Next(writes_.random());
    const std::string& key = writes_.Key(n);
    const std::string& value = writes_.Value(n);
    const auto from = late ? due : SteadyClock::now();
    store_.Put(key, value);
    writer_latencies_.Add(SecondsSince(from) * 1e6);
    bytes_put_ += key.size() + value.size();
  }
}

void Phases::WhileWriting(uint32_t scan_entries) {
  const KeyChooser keys(keys_, false);
  std::atomic<bool> stop{false};
  std::thread writer([&] { WriteAtRate(&stop); });
  const auto began = SteadyClock::now();
  while (SecondsSince(began) < options_.while_writing_seconds)
    Read(keys.Next(reads_.random()), scan_entries);
  stop = true;
  writer.join();
}

void Phases::Print(const Row& row) {
  latencies_.Sort();
  writer_latencies_.Sort();
  const auto text = [](const char* name, double value) {
    std::printf(",\"%s\":%.3f", name, value);
  };
  const auto number = [](const char* name, uint64_t value) {
    std::printf(",\"%s\":%llu", name, static_cast<unsigned long long>(value));
  };
  std::printf("{\"phase\":\"%s\"", row.phase.c_str());
  number("operations", latencies_.count());
  text("seconds", row.seconds);
  text("settled_seconds", row.settled_seconds);
  text("p50_us", latencies_.Percentile(0.5));
  text("p99_us", latencies_.Percentile(0.99));
  text("p999_us", latencies_.Percentile(0.999));
  text("writer_p99_us", writer_latencies_.Percentile(0.99));
  constexpr std::array<const char*, kCallKinds> kNames = {"write_p99_us", "read_p99_us",
                                                          "scan_p99_us"};
  for (size_t i = 0; i < kCallKinds; ++i) {
    by_kind_[i].Sort();
    text(kNames[i], by_kind_[i].Percentile(0.99));
  }
  number("writer_operations", writer_latencies_.count());
  number("bytes_put", bytes_put_);
  number("bytes_got", bytes_got_);
  text("stored_per_user_byte", stored_per_user_byte_);
  number("bytes_written",
         row.usage.written + row.after.ring_bytes_written - row.before.ring_bytes_written);
  const uint64_t ring_reads = row.after.ring_reads - row.before.ring_reads;
  const uint64_t ring_bytes = row.after.ring_bytes_read - row.before.ring_bytes_read;
  number("bytes_read", row.usage.read + ring_bytes);
  number("device_bytes_read", row.usage.device_read);
  number("read_calls", row.usage.read_calls + ring_reads);
  text("cpu_seconds", row.usage.cpu_seconds);
  text("stall_seconds", row.after.stall_seconds - row.before.stall_seconds);
  text("space_stall_seconds", row.after.space_stall_seconds - row.before.space_stall_seconds);
  text("compaction_cpu_seconds",
       row.after.compaction_cpu_seconds - row.before.compaction_cpu_seconds);
  text("flush_cpu_seconds", row.after.flush_cpu_seconds - row.before.flush_cpu_seconds);
  text("collection_cpu_seconds",
       row.after.collection_cpu_seconds - row.before.collection_cpu_seconds);
  number("collection_bytes_read",
         row.after.collection_bytes_read - row.before.collection_bytes_read);
  number("collection_input_bytes",
         row.after.collection_input_bytes - row.before.collection_input_bytes);
  number("files_refused_direct", row.after.files_refused_direct);
  number("space_bytes", row.space);
  number("peak_bytes", row.peak);
  number("live_bytes", live_bytes_);
  std::printf("}\n");
  std::fflush(stdout);
}

}  // namespace lava::bench
