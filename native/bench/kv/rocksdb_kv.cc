// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <thread>

#include "bench/kv/kv_store.h"

namespace lava::bench {
namespace {

void Check(const rocksdb::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "rocksdb: %s\n", status.ToString().c_str());
  std::exit(1);
}

class RocksDBKv final : public KvStore {
 public:
  RocksDBKv(const KvOptions& kv, bool blobs) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.max_background_jobs = static_cast<int>(kv.threads);
    options.write_buffer_size = kv.memory_bytes / 8;  // at most four of them
    options.max_write_buffer_number = 4;
    options.compression = rocksdb::kLZ4Compression;
    options.level_compaction_dynamic_level_bytes = true;
    options.use_direct_reads = kv.direct_io;
    options.use_direct_io_for_flush_and_compaction = kv.direct_io;
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(kv.memory_bytes / 2);
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.cache_index_and_filter_blocks = true;
    table.pin_l0_filter_and_index_blocks_in_cache = true;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    if (blobs) {
      options.enable_blob_files = true;
      options.min_blob_size = kv.separation_bytes;
      options.blob_compression_type = rocksdb::kLZ4Compression;
      options.blob_cache = table.block_cache;
      options.blob_file_size = 64 << 20;
      options.enable_blob_garbage_collection = true;
      options.blob_garbage_collection_age_cutoff = 0.5;
      options.blob_garbage_collection_force_threshold = 0.5;
    }
    rocksdb::DB* db = nullptr;
    Check(rocksdb::DB::Open(options, kv.directory, &db));
    db_.reset(db);
    write_.disableWAL = true;
  }

  void Put(std::string_view key, std::string_view value) override {
    Check(db_->Put(write_, {key.data(), key.size()}, {value.data(), value.size()}));
  }
  size_t Get(std::string_view key) override {
    value_.Reset();
    const rocksdb::Status status =
        db_->Get(read_, db_->DefaultColumnFamily(), {key.data(), key.size()}, &value_);
    if (status.IsNotFound()) return 0;
    Check(status);
    return value_.size();
  }
  size_t Scan(std::string_view from, uint32_t count) override {
    const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(read_));
    size_t bytes = 0;
    for (iterator->Seek({from.data(), from.size()}); iterator->Valid() && count > 0; --count) {
      bytes += iterator->key().size() + iterator->value().size();
      iterator->Next();
    }
    Check(iterator->status());
    return bytes;
  }
  void Settle() override {
    Check(db_->Flush({}));
    for (int quiet = 0; quiet < 5;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      quiet = Busy() ? 0 : quiet + 1;
    }
  }
  // Does not use rocksdb::Statistics, which would slow down every read.
  EngineFigures Figures() const override {
    std::map<std::string, std::string> stats;
    if (!db_->GetMapProperty(rocksdb::DB::Properties::kCFStats, &stats)) return {};
    const auto cpu = [&](const char* level) {
      return std::strtod(stats["compaction." + std::string(level) + ".CompMergeCPU"].c_str(),
                         nullptr);
    };
    // RocksDB reports a flush as a compaction into L0.
    return {.compaction_cpu_seconds = cpu("Sum") - cpu("L0"), .flush_cpu_seconds = cpu("L0")};
  }
  std::string Version() const override {
    return std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR) + "." +
           std::to_string(ROCKSDB_PATCH);
  }

 private:
  bool Busy() const {
    for (const char* property : {"rocksdb.num-running-flushes", "rocksdb.mem-table-flush-pending",
                                 "rocksdb.num-running-compactions", "rocksdb.compaction-pending"}) {
      uint64_t n = 0;
      if (db_->GetIntProperty(property, &n) && n > 0) return true;
    }
    return false;
  }

  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteOptions write_;
  rocksdb::ReadOptions read_;
  rocksdb::PinnableSlice value_;
};

}  // namespace

std::unique_ptr<KvStore> OpenRocksDB(const KvOptions& options, bool blobs) {
  return std::make_unique<RocksDBKv>(options, blobs);
}

}  // namespace lava::bench
