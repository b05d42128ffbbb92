// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <thread>

#include "bench/checked_calls.h"
#include "bench/kv/kv_store.h"
#include "fs/uring.h"
#include "lava/db.h"
#include "lava/host.h"

namespace lava::bench {
namespace {

class LavaKv final : public KvStore {
 public:
  explicit LavaKv(const KvOptions& kv) {
    auto lease = Host::Get().Acquire(kv.memory_bytes, 0.5);
    Check(lease.status());
    Host::Get().SetBackgroundThreads(kv.threads);
    DBOptions options;
    options.lease = *lease;
    options.use_direct_reads = kv.direct_io;
    options.use_direct_io_for_flush_and_compaction = kv.direct_io;
    options.value_policy = kv.value_policy;
    options.space_high_percent = kv.space_percent;
    options.space_live_bytes_floor = 64 << 20;
    if (kv.on_volume) {
      auto volume = Host::Get().OpenVolume(kv.directory, {.direct_io = kv.direct_io});
      Check(volume.status());
      options.volume = *volume;
    }
    auto db = DB::Open(options, kv.on_volume ? "bench" : kv.directory);
    Check(db.status());
    db_ = std::move(db).value();
    TableOptions table;
    table.separation_bytes = kv.separation_bytes;
    auto created = db_->CreateTable("bench", table);
    Check(created.status());
    table_ = *created;
  }

  void Put(std::string_view key, std::string_view value) override {
    UntilDone([&] { return db_->Put(table_, {key}, value); });
  }
  size_t Get(std::string_view key) override {
    const Status status = db_->Get(table_, {key}, &value_);
    if (status.IsNotFound()) return 0;
    Check(status);
    return value_.data().size();
  }
  size_t Scan(std::string_view from, uint32_t count) override {
    ScanRequest request;
    request.lower = from;
    request.entries_max = count;
    request.bytes_max = 1 << 20;
    size_t bytes = 0;
    std::string last;
    while (true) {
      Check(db_->Scan(table_, request, &page_));
      bytes += page_.bytes.size() - size_t{8} * page_.entries;
      if (page_.done || page_.entries >= request.entries_max) return bytes;
      request.entries_max -= page_.entries;
      last = page_.last_key;
      request.lower = last;
      request.lower_exclusive = true;
    }
  }
  void Settle() override {
    UntilDone([&, flush = FlushTicket()]() mutable { return db_->Flush(100, &flush); });
    for (int quiet = 0; quiet < 5;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      const DBStatistics s = db_->statistics();
      quiet =
          s.running_flushes + s.running_compactions + s.running_collections == 0 ? quiet + 1 : 0;
    }
  }
  EngineFigures Figures() const override {
    const DBStatistics s = db_->statistics();
    const fs::Uring::Totals ring = fs::Uring::TotalsNow();
    const auto seconds = [](uint64_t us) { return static_cast<double>(us) / 1e6; };
    return {.compaction_cpu_seconds = seconds(s.compaction_cpu_us + s.collection_cpu_us),
            .flush_cpu_seconds = seconds(s.flush_cpu_us),
            .collection_cpu_seconds = seconds(s.collection_cpu_us),
            .collection_bytes_read = s.collection_bytes_read,
            .collection_input_bytes = s.collection_input_bytes,
            .files_refused_direct = s.files_refused_direct,
            .ring_reads = ring.reads,
            .ring_bytes_read = ring.bytes_read,
            .ring_bytes_written = ring.bytes_written,
            .stall_seconds = seconds(s.stall_us),
            .space_stall_seconds = seconds(s.space_stall_us)};
  }
  std::string Version() const override { return "lava"; }

 private:
  std::unique_ptr<DB> db_;
  Table* table_ = nullptr;
  PinnedValue value_;
  ScanPage page_;
};

}  // namespace

std::unique_ptr<KvStore> OpenLava(const KvOptions& options) {
  return std::make_unique<LavaKv>(options);
}

}  // namespace lava::bench
