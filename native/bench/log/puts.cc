// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "bench/log/puts.h"

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <cstdio>
#include <cstdlib>

#include "bench/checked_calls.h"
#include "lava/db.h"
#include "lava/host.h"

namespace lava::bench {
namespace {

constexpr uint64_t kMemoryBytes = 256 << 20, kMemtableBytes = 64 << 20;
constexpr uint64_t kSeparatedBytes = 1024;

class LavaStore final : public DurableStore {
 public:
  LavaStore(const std::string& directory, bool on_lavafs) {
    DBOptions options;
    options.lease = Must(Host::Get().Acquire(kMemoryBytes, 0.5));
    options.memtable_bytes = kMemtableBytes;
    options.wal = WalMode::kWalSync;
    if (on_lavafs) {
      options.volume = Must(Host::Get().OpenVolume(directory, {.power_safe = true}));
      db_ = Must(DB::Open(options, "puts"));
    } else {
      db_ = Must(DB::Open(options, directory));
    }
    table_ = Must(
        db_->CreateTable("puts", {.kind = TableKind::kMap, .separation_bytes = kSeparatedBytes}));
  }

  void Put(Slice key, Slice value) override {
    UntilDone([&] { return db_->Put(table_, {key}, value); });
  }
  void Flush() override {
    UntilDone([&, flush = FlushTicket()]() mutable { return db_->Flush(100, &flush); });
  }

 private:
  std::unique_ptr<DB> db_;
  Table* table_ = nullptr;
};

class RocksDbStore final : public DurableStore {
 public:
  explicit RocksDbStore(const std::string& directory) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.write_buffer_size = kMemtableBytes;
    options.enable_blob_files = true;
    options.min_blob_size = kSeparatedBytes;
    rocksdb::DB* db = nullptr;
    Check(rocksdb::DB::Open(options, directory, &db));
    db_.reset(db);
    sync_.sync = true;
  }

  void Put(Slice key, Slice value) override {
    Check(db_->Put(sync_, rocksdb::Slice(key.data(), key.size()),
                   rocksdb::Slice(value.data(), value.size())));
  }
  void Flush() override { Check(db_->Flush({})); }

 private:
  static void Check(const rocksdb::Status& status) {
    if (status.ok()) return;
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    std::exit(1);
  }

  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteOptions sync_;
};

}  // namespace

std::unique_ptr<DurableStore> NewLavaStore(const std::string& directory, bool on_lavafs) {
  return std::make_unique<LavaStore>(directory, on_lavafs);
}

std::unique_ptr<DurableStore> NewRocksDbStore(const std::string& directory) {
  return std::make_unique<RocksDbStore>(directory);
}

}  // namespace lava::bench
