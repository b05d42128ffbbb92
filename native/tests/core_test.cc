// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// A program that links the core without LavaFS and LavaLog, and has a Host of its own.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/run_in_background.h"
#include "fs/posix_test_util.h"
#include "host/host_impl.h"
#include "host/process_parts.h"
#include "lava/db.h"
#include "lava/host.h"

namespace lava {
namespace {

Status Refused() { return Status::NotSupported("this program has neither LavaFS nor LavaLog"); }

class NoLogs final : public WalOpener {
 public:
  Result<std::unique_ptr<Wal>> Open(const WalLocation&, bool, std::optional<uint64_t>) override {
    return Refused();
  }
  Status Delete(const WalLocation&) override { return Refused(); }
};

class NoVolumes final : public VolumeOpener {
 public:
  Result<std::shared_ptr<SharedVolume>> Open(const std::string&, const VolumeOptions&,
                                             std::vector<std::string>*) override {
    return Refused();
  }
  Result<PinnedFiles> OpenPinned(const std::string&, const VolumeOptions&) override {
    return Refused();
  }
  Result<uint32_t> RemoveStale(const std::string&) override { return Refused(); }
};

std::unique_ptr<WalOpener> NewLogs(MemoryCounter*, RunInBackground) {
  return std::make_unique<NoLogs>();
}

std::unique_ptr<VolumeOpener> NewVolumes(MemoryCounter*, RunInBackground, SpaceQuota*) {
  return std::make_unique<NoVolumes>();
}

}  // namespace

Host& Host::Get() {
  static HostImpl* const host = new HostImpl({.wals = NewLogs, .volumes = NewVolumes});
  return *host;
}

namespace {

template <typename Call>
Status UntilDone(Call call) {
  Status status;
  do status = call();
  while (status.IsBusy());
  return status;
}

std::string KeyOf(int n) { return "k" + std::to_string(n); }

class CoreTest : public fs::PosixTest {
 protected:
  void Open(WalMode wal = WalMode::kNone) {
    DBOptions options;
    auto lease = Host::Get().Acquire(64 << 20, 0.5);
    ASSERT_TRUE(lease.ok()) << lease.status().ToString();
    options.lease = *lease;
    options.wal = wal;
    auto db = DB::Open(options, Path("db"));
    opened_ = db.status();
    if (!db.ok()) return;
    db_ = std::move(*db);
    TableOptions table_options;
    table_options.separation_bytes = 64;
    auto table = db_->CreateTable("t", table_options);
    ASSERT_TRUE(table.ok()) << table.status().ToString();
    table_ = *table;
  }
  std::string Get(const std::string& key) {
    PinnedValue value;
    const Status status = db_->Get(table_, {key, 0}, &value);
    return status.ok() ? std::string(value.data()) : status.ToString();
  }

  Status opened_;
  std::unique_ptr<DB> db_;
  Table* table_ = nullptr;
};

TEST_F(CoreTest, AnInstanceWritesCompactsAndReadsItsFilesAgain) {
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_TRUE(opened_.ok()) << opened_.ToString();
  const std::string large(100, 'v');
  for (int n = 0; n < 1000; ++n) {
    const std::string& value = n % 2 == 0 ? large : KeyOf(n);
    ASSERT_TRUE(UntilDone([&] { return db_->Put(table_, {KeyOf(n), 0}, value); }).ok());
    if (n % 250 == 249) {
      ASSERT_TRUE(UntilDone([&, flush = FlushTicket()]() mutable {
                    return db_->Flush(10'000, &flush);
                  }).ok());
    }
  }
  uint64_t ticket = 0;
  ASSERT_TRUE(UntilDone([&] { return db_->CompactAll(10'000, &ticket); }).ok());
  ASSERT_TRUE(UntilDone([&] { return db_->Close(); }).ok());
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_TRUE(opened_.ok()) << opened_.ToString();
  EXPECT_GT(db_->statistics().value_files, 0u);
  EXPECT_EQ(Get(KeyOf(500)), large);
  EXPECT_EQ(Get(KeyOf(501)), KeyOf(501));
  ASSERT_TRUE(UntilDone([&] { return db_->Close(); }).ok());
}

TEST_F(CoreTest, VolumesAreRefused) {
  std::vector<std::string> left_behind;
  const auto volume = Host::Get().OpenVolume(directory_, {}, &left_behind);
  EXPECT_EQ(volume.status().code(), Status::Code::kNotSupported) << volume.status().ToString();
}

TEST_F(CoreTest, OptionsThatNeedTheLogAreRefused) {
  ASSERT_NO_FATAL_FAILURE(Open(WalMode::kWal));
  EXPECT_EQ(opened_.code(), Status::Code::kNotSupported) << opened_.ToString();
}

}  // namespace
}  // namespace lava
