// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <cstdio>
#include <cstdlib>

#include "base/coding.h"
#include "bench/log/targets.h"

namespace lava::bench {
namespace {

void MustBeOk(const rocksdb::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

class RocksDbTarget : public LogTarget {
 public:
  explicit RocksDbTarget(const LogSetup& setup) {
    rocksdb::Options options;
    options.create_if_missing = true;
    // Only the log is measured, without flushes and compactions.
    options.write_buffer_size = 3ull << 30;
    options.max_total_wal_size = 64ull << 30;
    options.compression = rocksdb::kNoCompression;
    options.disable_auto_compactions = true;
    rocksdb::DB* db = nullptr;
    MustBeOk(rocksdb::DB::Open(options, setup.directory, &db));
    db_.reset(db);
  }

  void Append(uint64_t log, uint64_t lsn, Slice data, bool sync) override {
    rocksdb::WriteOptions options;
    options.sync = sync;
    MustBeOk(db_->Put(options, Key(log, lsn), rocksdb::Slice(data.data(), data.size())));
  }
  void Read(uint64_t log, uint64_t lsn, std::string* data) override {
    MustBeOk(db_->Get({}, Key(log, lsn), data));
  }
  uint64_t Scan(uint64_t log, uint64_t lsn, uint64_t count) override {
    const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator({}));
    uint64_t bytes = 0;
    for (iterator->Seek(Key(log, lsn)); iterator->Valid() && count-- > 0; iterator->Next()) {
      bytes += iterator->value().size();
    }
    return bytes;
  }
  void Trim(uint64_t log, uint64_t lsn) override {
    MustBeOk(db_->DeleteRange({}, db_->DefaultColumnFamily(), Key(log, 0), Key(log, lsn)));
  }
  void Settle() override { MustBeOk(db_->Flush({})); }
  void Kill() override { (void)db_.release(); }
  uint64_t index_bytes() override {
    uint64_t bytes = 0;
    db_->GetIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &bytes);
    return bytes;
  }

 private:
  static std::string Key(uint64_t log, uint64_t lsn) {
    std::string key;
    PutBigEndian(&key, log, 8);
    PutBigEndian(&key, lsn, 8);
    return key;
  }
  std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace

std::unique_ptr<LogTarget> NewRocksDbTarget(const LogSetup& setup) {
  return std::make_unique<RocksDbTarget>(setup);
}

}  // namespace lava::bench
