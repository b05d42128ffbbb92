// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "db_value_test_util.h"
#include "testing/random.h"

// A space limit for the files of all instances of the process.
namespace lava::testing {
namespace {

/// Values of 1000 bytes; compactions and collections happen only because of the limit.
class Instance : public ValueDB {
 public:
  explicit Instance(uint64_t seed) : ValueDB(seed) {
    options().memtable_bytes = 32 << 10;
    options().value_file_bytes = 16 << 10;
    options().collection_garbage_percent = 100;
  }
  Status Put(int key, int round) {
    return get()->Put(t, {K(1, Name(key))}, Large(Name(key) + "." + std::to_string(round)));
  }
  void ExpectAll(int keys, int round) {
    for (int i = 0; i < keys; ++i)
      ASSERT_EQ(Get(t, K(1, Name(i))), Large(Name(i) + "." + std::to_string(round)));
  }
  static std::string Name(int i) { return "k" + std::to_string(i); }
  uint64_t collections() const {
    return const_cast<Instance*>(this)->get()->statistics().collections;
  }
  Table* t = nullptr;
};

/// Instances of one process, whose jobs run in turns.
class Process {
 public:
  explicit Process(size_t count) {
    Host::Get().SetSpaceLimit(0);
    for (size_t i = 0; i < count; ++i) {
      all_.push_back(std::make_unique<Instance>(i + 1));
      Instance& db = *all_.back();
      const std::string path = "/db" + std::to_string(i);
      EXPECT_OK(db.Open({}, path));
      db.t = db.Values();
    }
  }
  ~Process() {
    all_.clear();
    Host::Get().SetSpaceLimit(0);
  }
  Instance& operator[](size_t i) { return *all_[i]; }
  size_t size() const { return all_.size(); }
  void Close(size_t i) { all_[i]->CloseDB(); }

  /// Runs some jobs of each instance; false when there was none.
  bool Run(uint64_t jobs_max) {
    bool any = false;
    for (const auto& db : all_) any = db->executor().RunUntilIdle(jobs_max) > 0 || any;
    return any;
  }
  void RunAll() {
    while (Run(1'000'000)) {
    }
  }
  void Advance(int64_t ms) {
    for (const auto& db : all_) db->clock().Advance(ms);
  }
  /// Repeats the call while it is Busy.
  Status Finish(const std::function<Status()>& call) {
    for (int i = 0; i < 3000; ++i) {
      const Status status = call();
      if (!status.IsBusy()) return status;
      RunAll();
      Advance(10);
    }
    return Status::IOError("busy for ever");
  }
  Status Put(size_t i, int key, int round) {
    const Status status = Finish([&] { return all_[i]->Put(key, round); });
    Run(2);
    most_used_ = std::max(most_used_, Host::Get().statistics().space_used_bytes);
    return status;
  }
  Status Round(size_t i, int keys, int round) {
    for (int key = 0; key < keys; ++key) LAVA_RETURN_IF_ERROR(Put(i, key, round));
    return Status::OK();
  }
  /// Leaves one in ten values live, so that no file is dropped without a collection.
  Status Litter(size_t i, int rounds) {
    for (int round = 0; round < rounds; ++round) {
      for (int k = 0; k < kLittered; ++k)
        LAVA_RETURN_IF_ERROR(Put(i, 1000 * (round + 1) + k, round));
      LAVA_RETURN_IF_ERROR(Finish(
          [&, flush = FlushTicket()]() mutable { return all_[i]->get()->Flush(0, &flush); }));
      for (int k = 0; k < kLittered; ++k)
        if (k % 10 != 0)
          LAVA_RETURN_IF_ERROR(
              all_[i]->get()->Delete(all_[i]->t, {K(1, Instance::Name(1000 * (round + 1) + k))}));
    }
    return Status::OK();
  }
  static constexpr int kLittered = 200;
  /// Everything is in files, and the garbage in each file is known.
  void Settle() {
    for (const auto& db : all_) {
      if (db->get() == nullptr) continue;
      uint64_t ticket = 0;
      EXPECT_OK(Finish([&] { return db->get()->CompactAll(0, &ticket); }));
    }
    RunAll();
  }
  uint64_t most_used() const { return most_used_; }

 private:
  std::vector<std::unique_ptr<Instance>> all_;
  uint64_t most_used_ = 0;
};

constexpr int kKeys = 200;
constexpr uint64_t kLiveBytes = kKeys * 1000;

TEST(DBQuota, WithoutALimitNothingIsDoneForItButUseIsKnown) {
  Process process(2);
  for (int round = 0; round < 6; ++round)
    for (size_t i = 0; i < 2; ++i) ASSERT_OK(process.Round(i, kKeys, round));
  EXPECT_GT(process.most_used(), 6 * kLiveBytes);
  const HostStatistics host = Host::Get().statistics();
  uint64_t files = 0;
  for (size_t i = 0; i < 2; ++i) {
    files += process[i]->statistics().live_file_bytes;
    EXPECT_EQ(process[i].collections(), 0u);
    EXPECT_EQ(process[i]->statistics().space_stall_us, 0u);
    EXPECT_EQ(process[i]->statistics().space_pressure_percent, 0u);
  }
  EXPECT_EQ(host.space_used_bytes, files);
  EXPECT_EQ(host.space_limit_bytes, 0u);
  EXPECT_LE(host.space_live_bytes, host.space_used_bytes);
  EXPECT_GT(host.space_live_bytes, 0u);
  process.Close(0);
  EXPECT_EQ(Host::Get().statistics().space_used_bytes, process[1]->statistics().live_file_bytes);
  process.Close(1);
  EXPECT_EQ(Host::Get().statistics().space_used_bytes, 0u);
  EXPECT_EQ(Host::Get().statistics().space_live_bytes, 0u);
}

TEST(DBQuota, TheLimitIsHeldWhileValuesAreOverwrittenInSeveralInstances) {
  Process process(3);
  constexpr uint64_t kLimit = 6 * kLiveBytes;
  Host::Get().SetSpaceLimit(kLimit);
  EXPECT_EQ(Host::Get().statistics().space_limit_bytes, kLimit);
  for (int round = 0; round < 10; ++round)
    for (size_t i = 0; i < 3; ++i) ASSERT_OK(process.Round(i, kKeys, round));
  // Above the limit: data in memory when the limit was reached, and files being written.
  const uint64_t slack = 3 * (5 * (32u << 10) + 2 * (16u << 10));
  EXPECT_LT(process.most_used(), kLimit + slack);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_GT(process[i].collections(), 0u) << i;
    process[i].ExpectAll(kKeys, 9);
  }
}

TEST(DBQuota, AnIdleInstanceWithTheGarbageCollectsAndTheOthersDoNot) {
  Process process(3);
  // 0: garbage, and no more writes. 1 and 2: almost no garbage.
  ASSERT_OK(process.Litter(0, 5));
  ASSERT_OK(process.Round(1, kKeys, 0));
  process.Settle();
  const uint64_t used = Host::Get().statistics().space_used_bytes;
  ASSERT_GT(used, 5 * kLiveBytes);
  Host::Get().SetSpaceLimit(used + kLiveBytes / 2);
  const uint64_t before = process[1]->statistics().collection_input_bytes;
  ASSERT_OK(process.Round(2, kKeys, 0));
  process.RunAll();
  EXPECT_GT(process[0].collections(), 0u);
  EXPECT_LT(process[0]->statistics().live_file_bytes, 4 * kLiveBytes);
  EXPECT_EQ(process[1]->statistics().collection_input_bytes, before)
      << "the instance has no garbage";
  EXPECT_LE(Host::Get().statistics().space_used_bytes, used + kLiveBytes / 2);
  process[1].ExpectAll(kKeys, 0);
  process[2].ExpectAll(kKeys, 0);
}

TEST(DBQuota, WhoHasMostGarbageCollectsFirst) {
  Process process(3);
  const int rounds[] = {2, 6, 1};
  for (size_t i = 0; i < 3; ++i) ASSERT_OK(process.Litter(i, rounds[i]));
  process.Settle();
  for (size_t i = 0; i < 3; ++i) ASSERT_EQ(process[i].collections(), 0u);
  // The limit is so close that collections begin.
  Host::Get().SetSpaceLimit(Host::Get().statistics().space_used_bytes * 100 / 85);
  for (int i = 0; i < 1000 && process.Run(1); ++i) {
    if (process[1].collections() > 0) break;
    ASSERT_EQ(process[0].collections(), 0u);
  }
  EXPECT_GT(process[1].collections(), 0u);
  EXPECT_EQ(process[2].collections(), 0u);
}

TEST(DBQuota, WritesOfAllAreSlowedByOthersFiles) {
  Process process(2);
  ASSERT_OK(process.Round(0, kKeys, 0));
  process.Settle();
  ASSERT_OK(process[1].Put(0, 0));
  ASSERT_OK(process[1].Put(1, 0));
  const uint64_t used = Host::Get().statistics().space_used_bytes;
  Host::Get().SetSpaceLimit(used * 50, used / 2);
  process.RunAll();
  // The next write is slowed: initially 16 MiB per second, so 1000 bytes take 60 us.
  ASSERT_OK(process[1].Put(2, 0));
  EXPECT_TRUE(process[1].Put(3, 0).IsBusy());
  EXPECT_OK(process[1]->Delete(process[1].t, {K(1, Instance::Name(2))}));  // deletes never wait
  process.Advance(1);
  EXPECT_OK(process[1].Put(3, 0));
  Host::Get().SetSpaceLimit(0);
  for (int i = 0; i < 10; ++i) EXPECT_OK(process[1].Put(i, 1));
}

TEST(DBQuota, LiveDataBeyondTheLimitIsAnErrorWithAllFigures) {
  Process process(3);
  constexpr uint64_t kLimit = 500'000;
  Host::Get().SetSpaceLimit(kLimit);
  ASSERT_OK(process.Round(0, 2 * kKeys, 0));
  process.Settle();
  Status status;
  int keys = 0;
  while (keys < 1000 && (status = process.Put(1, keys, 0)).ok()) ++keys;
  ASSERT_TRUE(status.IsNoSpace()) << status.ToString();
  for (const char* part : {"/db1", "3 instances", "the process's limit is 500000",
                           "most takes /db0 with", "this instance takes"})
    EXPECT_NE(status.ToString().find(part), std::string::npos) << part << status.ToString();
  EXPECT_LT(keys, 300) << "only data in memory may exceed the limit";
  // Writes of all instances fail; and a refused write has no effect.
  EXPECT_TRUE(process.Put(2, 0, 0).IsNoSpace());
  process[1].ExpectAll(keys, 0);
  // Deletes are accepted in any instance, and afterwards writes of all instances are.
  for (int i = 0; i < 2 * kKeys; ++i)
    ASSERT_OK(process[0]->Delete(process[0].t, {K(1, Instance::Name(i))}));
  process.Settle();
  ASSERT_OK(process.Round(2, 100, 1));
  process[2].ExpectAll(100, 1);
}

TEST(DBQuota, AnInstanceThatClosesGivesItsShareBack) {
  Process process(2);
  Host::Get().SetSpaceLimit(2 * kLiveBytes);
  Status status;
  int keys = 0;
  while (keys < 1000 && (status = process.Put(0, keys, 0)).ok()) ++keys;
  ASSERT_TRUE(status.IsNoSpace()) << status.ToString();
  ASSERT_TRUE(process.Put(1, 0, 0).IsNoSpace());
  process.Close(0);
  ASSERT_OK(process.Round(1, kKeys, 0));
  process[1].ExpectAll(kKeys, 0);
}

TEST(DBQuota, WhatSnapshotsKeepIsWaitedForThenTheOldestOfAllIsGivenUp) {
  Process process(3);
  ASSERT_OK(process.Round(0, kKeys, 0));
  ASSERT_OK(process.Round(1, kKeys, 0));
  // The second instance has the older snapshot.
  std::shared_ptr<Snapshot> snapshots[2];
  for (const size_t i : {1, 0}) {
    snapshots[i] = *process[i]->TakeSnapshot();
    ASSERT_OK(process.Finish([&] { return snapshots[i]->WaitFlushed(0); }));
  }
  for (const size_t i : {0, 1}) {
    for (int key = 0; key < kKeys; ++key) {
      ASSERT_OK(process[i]->Delete(process[i].t, {K(1, Instance::Name(key))}));
    }
  }
  process.Settle();
  Host::Get().SetSpaceLimit(2 * kLiveBytes);
  process.RunAll();
  ASSERT_GT(Host::Get().statistics().space_used_bytes, 2 * kLiveBytes);
  int busy = 0;
  for (; busy < 100; ++busy) {
    const Status status = process[2].Put(0, 0);
    if (status.ok()) break;
    ASSERT_TRUE(status.IsBusy()) << status.ToString();
    process.RunAll();
    process.Advance(1000);
  }
  EXPECT_GE(busy, 30) << "the snapshot must not be given up before half a minute";
  EXPECT_EQ(process[1]->statistics().snapshots_given_up, 1u);
  EXPECT_EQ(process[0]->statistics().snapshots_given_up, 0u);
  std::vector<Snapshot::File> files;
  std::string metadata;
  EXPECT_TRUE(snapshots[1]->Files(&files, &metadata).IsNoSpace());
  EXPECT_OK(snapshots[0]->Files(&files, &metadata));
}

TEST(DBQuota, AFailureElsewhereIsToldToTheWriteThatWaitsForIt) {
  Process process(2);
  ASSERT_OK(process.Litter(0, 4));
  process.Settle();
  process[0].ForbidValueReads();
  Host::Get().SetSpaceLimit(Host::Get().statistics().space_used_bytes);
  Status status = process.Put(1, 0, 0);
  ASSERT_TRUE(status.IsNoSpace()) << status.ToString();
  EXPECT_NE(status.ToString().find("in /db0: "), std::string::npos) << status.ToString();
  // A file that can be read again is collected again.
  process[0].faults.Disarm();
  ASSERT_OK(process.Round(1, 100, 0));
  process[1].ExpectAll(100, 0);
}

// Separate threads, which take locks of different instances concurrently.
TEST(DBQuota, InstancesWithThreadsHoldItTogether) {
  constexpr size_t kInstances = 4;
  constexpr int kRounds = 6;
  Host::Get().SetSpaceLimit(kInstances * kLiveBytes * 2);
  Result<std::shared_ptr<Lease>> lease = Host::Get().Acquire(64 << 20, 0.5);
  ASSERT_OK(lease.status());
  std::vector<std::unique_ptr<ChosenFileSystem>> files;
  std::vector<std::unique_ptr<DB>> dbs;
  for (size_t i = 0; i < kInstances; ++i) {
    DBOptions options;
    options.lease = *lease;
    options.file_system = files.emplace_back(std::make_unique<ChosenFileSystem>()).get();
    options.partition_last = 15;
    options.memtable_bytes = 32 << 10;
    options.value_file_bytes = 16 << 10;
    options.value_compression = Compression::kNone;
    Result<std::unique_ptr<DB>> db = DB::Open(options, "/db" + std::to_string(i));
    ASSERT_OK(db.status());
    dbs.push_back(std::move(db).value());
  }
  std::vector<Status> outcomes(kInstances);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kInstances; ++i) {
    threads.emplace_back([&, i] {
      Table* const t = *dbs[i]->CreateTable("t", ValueDB::Separated());
      for (int n = 0; n < kRounds * kKeys && outcomes[i].ok(); ++n) {
        const std::string name = Instance::Name(n % kKeys);
        do {
          outcomes[i] = dbs[i]->Put(t, {K(1, name)}, Large(name + "." + std::to_string(n / kKeys)));
        } while (outcomes[i].IsBusy());
        if (n % 100 == 0) {
          const std::shared_ptr<Snapshot> snapshot = *dbs[i]->TakeSnapshot();
          static_cast<void>(snapshot->WaitFlushed(100));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& outcome : outcomes) EXPECT_OK(outcome);
  dbs.clear();
  Host::Get().SetSpaceLimit(0);
  EXPECT_EQ(Host::Get().statistics().space_used_bytes, 0u);
}

}  // namespace
}  // namespace lava::testing
