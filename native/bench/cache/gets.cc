// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "bench/cache/threads.h"
#include "bench/checked_calls.h"
#include "bench/kv/data_set.h"
#include "lava/db.h"
#include "lava/host.h"

namespace lava::bench {
namespace {

constexpr uint64_t kKeys = 400'000, kHotKeys = 20'000;

void Fill(DB* db, Table* table) {
  RecordMaker records({.value_bytes = 100, .keys = kKeys}, 1);
  for (uint64_t n = 0; n < kKeys; ++n)
    UntilDone([&] { return db->Put(table, {records.Key(n)}, records.Value(n)); });
  UntilDone([&, flush = FlushTicket()]() mutable { return db->Flush(100, &flush); });
  while (db->statistics().running_flushes + db->statistics().running_compactions > 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

}  // namespace

double GetsPerSecond(const std::string& directory, uint32_t threads, double seconds) {
  auto lease = Must(Host::Get().Acquire(256 << 20, 0.5));
  DBOptions options;
  options.lease = lease;
  const std::unique_ptr<DB> db = Must(DB::Open(options, directory));
  Table* const table = Must(db->CreateTable("bench", {}));
  Fill(db.get(), table);
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> done{0};
  std::vector<std::thread> workers;
  for (uint32_t t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      RecordMaker records({.value_bytes = 100, .keys = kKeys}, t + 2);
      PinnedValue value;
      uint64_t gets = 0;
      for (; !stop.load(std::memory_order_relaxed); ++gets)
        Check(db->Get(table, {records.Key(records.random()->Uniform(kHotKeys))}, &value));
      done += gets;
    });
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop = true;
  for (std::thread& worker : workers) worker.join();
  Check(db->Close());
  return static_cast<double>(done) / seconds;
}

}  // namespace lava::bench
