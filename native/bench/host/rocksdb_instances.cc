// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_buffer_manager.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "bench/host/instances.h"

namespace lava::bench {
namespace {

void Check(const rocksdb::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "rocksdb: %s\n", status.ToString().c_str());
  std::exit(1);
}

// The figures are those of RocksDBMemoryControllerUtils and RocksDBResourceContainer of Flink 2.
// Compression and filters are the same as Lava's.
class RocksDB final : public Instances {
 public:
  explicit RocksDB(const HostSetup& setup) : setup_(setup) {
    const auto memory = static_cast<double>(setup.memory_bytes);
    const double ratio = setup.write_buffer_ratio;
    cache_ = rocksdb::NewLRUCache(static_cast<size_t>(memory * (3 - ratio) / 3),
                                  /*num_shard_bits=*/-1, /*strict_capacity_limit=*/false,
                                  /*high_pri_pool_ratio=*/0.1);
    buffers_ = std::make_shared<rocksdb::WriteBufferManager>(
        static_cast<size_t>(memory * 2 * ratio / 3), cache_);
    options_.create_if_missing = true;
    options_.max_background_jobs = static_cast<int>(setup.threads);
    options_.write_buffer_manager = buffers_;
    options_.max_open_files = -1;
    // Like Lava, which loses nothing by this either: only checkpoints are durable.
    options_.avoid_flush_during_shutdown = true;
    options_.stats_dump_period_sec = 0;
    options_.info_log_level = rocksdb::HEADER_LEVEL;
    options_.compression = rocksdb::kLZ4Compression;
    options_.level_compaction_dynamic_level_bytes = true;
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = cache_;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.cache_index_and_filter_blocks = true;
    table.cache_index_and_filter_blocks_with_high_priority = true;
    table.pin_l0_filter_and_index_blocks_in_cache = true;
    options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    write_.disableWAL = true;
  }

  void Open(size_t instance) override {
    if (opened_.size() <= instance) opened_.resize(instance + 1);
    rocksdb::DB* db = nullptr;
    Check(rocksdb::DB::Open(options_, PathOf(instance), &db));
    opened_[instance].reset(db);
  }
  void Close(size_t instance) override { opened_[instance].reset(); }
  void Put(size_t instance, std::string_view key, std::string_view value) override {
    Check(opened_[instance]->Put(write_, {key.data(), key.size()}, {value.data(), value.size()}));
  }
  size_t Get(size_t instance, std::string_view key) override {
    thread_local rocksdb::PinnableSlice value;
    rocksdb::DB* const db = opened_[instance].get();
    const rocksdb::Status status =
        db->Get(read_, db->DefaultColumnFamily(), {key.data(), key.size()}, &value);
    if (status.IsNotFound()) return 0;
    Check(status);
    const size_t bytes = value.size();
    value.Reset();
    return bytes;
  }
  size_t Scan(size_t instance, std::string_view from, uint32_t count) override {
    const std::unique_ptr<rocksdb::Iterator> iterator(opened_[instance]->NewIterator(read_));
    size_t bytes = 0;
    for (iterator->Seek({from.data(), from.size()}); iterator->Valid() && count > 0; --count) {
      bytes += iterator->key().size() + iterator->value().size();
      iterator->Next();
    }
    Check(iterator->status());
    return bytes;
  }

  void Flush(size_t instance) override { Check(opened_[instance]->Flush({})); }
  void CheckpointAll(size_t count, const std::string& to) override {
    std::filesystem::create_directories(to);
    for (size_t n = 0; n < count; ++n) {
      rocksdb::Checkpoint* made = nullptr;
      Check(rocksdb::Checkpoint::Create(opened_[n].get(), &made));
      const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
      Check(checkpoint->CreateCheckpoint(to + "/" + std::to_string(n)));
    }
  }
  void Split(const std::string& checkpoint, size_t lower, size_t upper) override {
    for (const size_t instance : {lower, upper}) {
      std::filesystem::create_directories(PathOf(instance));
      for (const auto& entry : std::filesystem::directory_iterator(checkpoint)) {
        const std::filesystem::path to = PathOf(instance) / entry.path().filename();
        if (entry.path().extension() == ".sst") {
          std::filesystem::create_hard_link(entry.path(), to);
        } else {
          std::filesystem::copy_file(entry.path(), to);
        }
      }
      Open(instance);
      const std::string half(1, static_cast<char>(setup_.partitions / 2));
      rocksdb::DB* const db = opened_[instance].get();
      const std::string end(100, '\xff');
      Check(db->DeleteRange(write_, db->DefaultColumnFamily(), instance == lower ? half : "",
                            instance == lower ? end : half));
    }
  }

  void Settle() override {
    rocksdb::FlushOptions flush;
    flush.wait = false;
    for (const auto& db : opened_) {
      if (db != nullptr) Check(db->Flush(flush));
    }
    for (const auto& db : opened_) {
      if (db != nullptr) Check(db->Flush({}));
    }
    for (int quiet = 0; quiet < 5; quiet = Busy() ? 0 : quiet + 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  Tracked tracked() const override {
    return {cache_->GetUsage(),
            {{"cache pinned", cache_->GetPinnedUsage()}, {"memtables", buffers_->memory_usage()}}};
  }

 private:
  std::filesystem::path PathOf(size_t instance) const {
    return std::filesystem::path(setup_.directory) / std::to_string(instance);
  }
  bool Busy() const {
    for (const auto& db : opened_) {
      if (db == nullptr) continue;
      for (const char* property :
           {"rocksdb.num-running-flushes", "rocksdb.mem-table-flush-pending",
            "rocksdb.num-running-compactions", "rocksdb.compaction-pending"}) {
        uint64_t n = 0;
        if (db->GetIntProperty(property, &n) && n > 0) return true;
      }
    }
    return false;
  }

  const HostSetup setup_;
  std::shared_ptr<rocksdb::Cache> cache_;
  std::shared_ptr<rocksdb::WriteBufferManager> buffers_;
  rocksdb::Options options_;
  rocksdb::WriteOptions write_;
  rocksdb::ReadOptions read_;
  std::vector<std::unique_ptr<rocksdb::DB>> opened_;
};

}  // namespace

std::unique_ptr<Instances> RocksDBInstances(const HostSetup& setup) {
  return std::make_unique<RocksDB>(setup);
}

}  // namespace lava::bench
