// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "bench/cache/trace.h"
#include "bench/checked_calls.h"
#include "bench/kv/data_set.h"
#include "lava/db.h"
#include "lava/host.h"

namespace lava::bench {
namespace {

class Recorder final : public BlockCache {
 public:
  uint64_t NewFileId() override { return next_file_.fetch_add(1, std::memory_order_relaxed); }
  Ref Lookup(const CacheKey& key, Segment, CacheUse*) override {
    asked = key;  // a block not inserted then must not be kept by any cache
    return nullptr;
  }
  Ref Peek(const CacheKey&, Segment) override { return nullptr; }  // not a use of the block
  Ref Insert(const CacheKey& key, Segment segment, Ref block, CacheUse*) override {
    const bool wanted = asked.file == key.file && asked.offset == key.offset;
    asked = {};
    Add({key.offset, static_cast<uint32_t>(key.file), static_cast<uint32_t>(block->charge()),
         wanted ? TraceEvent::Kind::kAccess : TraceEvent::Kind::kWarm, segment});
    return block;
  }
  // blocks that scans read ahead, which these workloads do not record
  void Erase(const CacheKey&, Segment) override {}
  void EraseFile(uint64_t file) override {
    Add({0, static_cast<uint32_t>(file), 0, TraceEvent::Kind::kErase, Segment::kData});
  }
  void SetCapacity(uint64_t) override {}
  void Trim() override {}
  /// Pretends to have a capacity, because the engine decides by it which blocks to warm.
  uint64_t capacity_bytes() const override { return 64 << 20; }
  uint64_t used_bytes() const override { return 0; }
  Statistics statistics() const override { return {}; }

  void Add(const TraceEvent& event) {
    std::lock_guard lock(mutex_);
    if (on_) trace_.events.push_back(event);
  }
  void Start() {
    std::lock_guard lock(mutex_);
    on_ = true;
  }
  Trace Take() {
    std::lock_guard lock(mutex_);
    on_ = false;
    return std::exchange(trace_, {});
  }

 private:
  static thread_local CacheKey asked;
  std::mutex mutex_;
  Trace trace_;
  bool on_ = false;
  std::atomic<uint64_t> next_file_{1};
};

thread_local CacheKey Recorder::asked;
// Set while the process's host is created, whose cache is then a recorder.
bool recording = false;
Recorder* recorder = nullptr;

}  // namespace
}  // namespace lava::bench

// The linker substitutes this for BlockCache::Create, so the engine does not depend on the
// recorder.
std::unique_ptr<lava::BlockCache> RealCreate(
    uint64_t capacity_bytes, const lava::MemoryCounter* borrowed,
    lava::ChargeObserver* observer) asm("__real_" LAVA_CACHE_CREATE);
std::unique_ptr<lava::BlockCache> WrappedCreate(
    uint64_t capacity_bytes, const lava::MemoryCounter* borrowed,
    lava::ChargeObserver* observer) asm("__wrap_" LAVA_CACHE_CREATE);
std::unique_ptr<lava::BlockCache> WrappedCreate(uint64_t capacity_bytes,
                                                const lava::MemoryCounter* borrowed,
                                                lava::ChargeObserver* observer) {
  using namespace lava::bench;
  if (!recording) return RealCreate(capacity_bytes, borrowed, observer);
  auto made = std::make_unique<Recorder>();
  recorder = made.get();
  return made;
}

namespace lava::bench {
namespace {

struct Workload {
  uint64_t value_bytes = 100;
  uint64_t keys_per_mib = 8000;   // in the data set
  uint64_t separation_bytes = 0;  // 0: all values inline
  uint32_t instances = 1;
  bool zipf = true;
  uint32_t puts_percent = 0;  // percent of the calls
  uint32_t scan_every = 0;    // gets; 0: none
  uint32_t scan_entries = 0;
  uint32_t shifts = 0;  // number of times that another part of the keys becomes the hot one
  // percent of the calls: uniform gets of references, in one more instance
  uint32_t cold_percent = 0;
};

const std::map<std::string, Workload>& All() {
  static const std::map<std::string, Workload> all = {
      {"get zipf", {}},
      {"get uniform", {.zipf = false}},
      {"get zipf, values separated",
       {.value_bytes = 1000, .keys_per_mib = 1500, .separation_bytes = 512}},
      {"get uniform, values separated",
       {.value_bytes = 1000, .keys_per_mib = 1500, .separation_bytes = 512, .zipf = false}},
      {"get zipf beside scans", {.scan_every = 500, .scan_entries = 5000}},
      {"get zipf beside long scans", {.scan_every = 20'000, .scan_entries = 200'000}},
      {"overwrite zipf, values separated",
       {.value_bytes = 1000, .keys_per_mib = 1500, .separation_bytes = 512, .puts_percent = 50}},
      {"overwrite uniform", {.zipf = false, .puts_percent = 50}},
      {"100 instances", {.instances = 100}},
      {"100 instances, values separated",
       {.value_bytes = 1000, .keys_per_mib = 1500, .separation_bytes = 512, .instances = 100}},
      {"hot keys that change", {.shifts = 8}},
      {"hot data beside cold index", {.cold_percent = 10}},
      {"hot data beside warm index", {.cold_percent = 50}},
  };
  return all;
}

struct Instance {
  std::unique_ptr<DB> db;
  Table* table = nullptr;
};

class Player {
 public:
  Player(const Workload& workload, const std::string& directory, double scale)
      : workload_(workload),
        keys_(static_cast<uint64_t>(64 * scale * static_cast<double>(workload.keys_per_mib))),
        records_({.value_bytes = workload.value_bytes, .keys = keys_}, 2013) {
    auto lease = Host::Get().Acquire(32 << 20, 0.5);
    Check(lease.status());
    for (uint32_t i = 0; i < workload.instances; ++i)
      instances_.push_back(
          Open(directory + "/" + std::to_string(i), *lease,
               workload.separation_bytes == 0 ? uint64_t{1} << 30 : workload.separation_bytes));
    if (workload.cold_percent > 0) cold_ = Open(directory + "/cold", *lease, 64);
  }
  ~Player() {
    for (Instance& instance : instances_) Check(instance.db->Close());
    if (cold_.db != nullptr) Check(cold_.db->Close());
  }

  void Load() {
    for (uint64_t n = 0; n < keys_; ++n) {
      Put(Of(n), n);
      if (cold_.db != nullptr) Put(cold_, n);
    }
    for (Instance& instance : instances_) Settle(instance.db.get());
    if (cold_.db != nullptr) Settle(cold_.db.get());
  }
  void Run(uint64_t calls) {
    const KeyChooser keys(keys_, workload_.zipf);
    for (uint64_t i = 0; i < calls; ++i) {
      uint64_t n = keys.Next(records_.random());
      if (workload_.shifts > 0) n = (n + keys_ / 3 * (i * workload_.shifts / calls)) % keys_;
      if (records_.random()->Uniform(100) < workload_.puts_percent) {
        Put(Of(n), n);
        continue;
      }
      if (records_.random()->Uniform(100) < workload_.cold_percent)
        Get(cold_, records_.random()->Uniform(keys_));
      else
        Get(Of(n), n);
      recorder->Add({0, 0, 0, TraceEvent::Kind::kCall, BlockCache::Segment::kData});
      if (workload_.scan_every > 0 && i % workload_.scan_every == 0)
        Scan(records_.random()->Uniform(keys_));
    }
  }

 private:
  Instance& Of(uint64_t n) { return instances_[n % instances_.size()]; }
  static Instance Open(const std::string& directory, const std::shared_ptr<Lease>& lease,
                       uint64_t separation_bytes) {
    DBOptions options;
    options.lease = lease;
    Instance out;
    out.db = Must(DB::Open(options, directory));
    TableOptions table;
    table.separation_bytes = separation_bytes;
    out.table = Must(out.db->CreateTable("bench", table));
    return out;
  }
  static void Settle(DB* db) {
    UntilDone([&, flush = FlushTicket()]() mutable { return db->Flush(100, &flush); });
    for (;;) {
      const DBStatistics s = db->statistics();
      if (s.running_flushes + s.running_compactions + s.running_collections == 0) return;
      ::usleep(1000);
    }
  }
  void Put(const Instance& instance, uint64_t n) {
    const std::string& value = records_.Value(n);
    UntilDone([&] { return instance.db->Put(instance.table, {records_.Key(n)}, value); });
  }
  void Get(const Instance& instance, uint64_t n) {
    const Status status = instance.db->Get(instance.table, {records_.Key(n)}, &value_);
    if (!status.IsNotFound()) Check(status);
  }
  void Scan(uint64_t n) {
    ScanRequest request;
    std::string from = records_.Key(n);
    uint32_t left = workload_.scan_entries;
    while (left > 0) {
      request.lower = from;
      request.entries_max = std::min<uint32_t>(left, 1000);
      Check(Of(n).db->Scan(Of(n).table, request, &page_));
      if (page_.done || page_.entries == 0) return;
      left -= std::min(left, page_.entries);
      from = page_.last_key;
      request.lower_exclusive = true;
    }
  }

  const Workload workload_;
  const uint64_t keys_;
  RecordMaker records_;
  std::vector<Instance> instances_;
  Instance cold_;
  PinnedValue value_;
  ScanPage page_;
};

}  // namespace

const std::vector<std::string>& Workloads() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const auto& [name, workload] : All()) out.push_back(name);
    return out;
  }();
  return names;
}

Trace Record(const std::string& name, const std::string& directory, double scale) {
  recording = true;
  Host::Get();
  recording = false;
  Player player(All().at(name), directory, scale);
  player.Load();
  recorder->Start();
  player.Run(static_cast<uint64_t>(400'000 * scale));
  return recorder->Take();
}

}  // namespace lava::bench
