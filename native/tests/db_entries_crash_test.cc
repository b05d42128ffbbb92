// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <array>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "db_test_util.h"
#include "testing/count.h"
#include "testing/fault_file_system.h"
#include "testing/random.h"
#include "testing/variable.h"

// Crashes at the six fail points of XLL (Table 3), for every key, and during the maintenance of
// segments between them.
namespace lava::testing {
namespace {

enum class FailPoint : uint8_t {
  kBeforeAppend,
  kDuringAppend,
  kAfterAppend,
  kBeforeApply,
  kBeforeCallback,
  kAfterApply,
  kNone,  // upkeep
};
constexpr size_t kFailPoints = static_cast<size_t>(FailPoint::kNone);

/// How a value and its entry are associated: the entry contains the value; or the value is first
/// put, or appended to a list, and then bound.
enum class Way : uint8_t { kExternal, kBoundPut, kBoundAppend };

class DBEntriesCrash : public ::testing::TestWithParam<std::tuple<WalMode, Way>> {
 protected:
  DBEntriesCrash() : db_(1, &faults_) {
    Set(&db_);
    EXPECT_OK(db_.Open());
    EntryLocation location;
    EXPECT_TRUE(db_->BindExternal("nothing", &location).IsNotFound());
    faults_.SetHook([this](FileCall) { CrashHere(); });
  }
  ~DBEntriesCrash() override { faults_.SetHook(nullptr); }
  static WalMode Mode() { return std::get<0>(GetParam()); }
  static bool Late() { return std::get<1>(GetParam()) != Way::kExternal; }
  static bool IsList() { return std::get<1>(GetParam()) == Way::kBoundAppend; }
  static void Set(SimDB* db) {
    db->options().wal = Mode();
    db->options().sync = true;
    db->options().large_value_bytes = 0;
    db->options().value_file_bytes = 16 << 10;
  }
  static Table* Map(SimDB* db) {
    return *(*db)->CreateTable(
        "map", {.kind = IsList() ? TableKind::kList : TableKind::kMap, .separation_bytes = 100});
  }
  static std::string KeyOf(int i) { return K(1, "k" + std::to_string(i)); }
  static std::string ValueOf(int i) {
    Random random(static_cast<uint64_t>(i) + 1);
    return std::to_string(i) + ":" + random.Bytes(3000);
  }
  /// The value as stored by the instance.
  static std::string StoredOf(int i) { return IsList() ? ListOf({ValueOf(i)}) : ValueOf(i); }

  /// Acknowledged once it returns.
  void Add(int i) {
    now_ = i;
    before_ = Segments();
    log_before_ = LogBytes();
    in_call_ = true;
    const std::string value = ValueOf(i), entry = "set " + KeyOf(i) + " to " + value;
    Table* const map = Map(&db_);
    const Status status = db_.Finish([&] {
      return IsList() ? db_->Append(map, {KeyOf(i)}, ListOf({value}))
             : Late() ? db_->Put(map, {KeyOf(i)}, value)
                      : db_->PutExternal(map, {KeyOf(i)}, value, entry, &location_);
    });
    ASSERT_OK(status);
    if (Late()) ASSERT_OK(db_->BindExternal(entry, &location_));
    CrashHere();
    in_call_ = false;
    // After the last call only memory changes.
    CrashAt(FailPoint::kBeforeApply);
    CrashAt(FailPoint::kBeforeCallback);
    acknowledged_ = i + 1;
    CrashAt(FailPoint::kAfterApply);
  }
  void Flush() {
    ASSERT_OK(db_.Flush());
    durable_ = acknowledged_;
  }

  SimDB& db() { return db_; }
  const EntryLocation& location() const { return location_; }
  uint64_t crashes(FailPoint point) const { return crashes_[static_cast<size_t>(point)]; }
  uint64_t upkeep_crashes() const { return upkeep_crashes_; }

 private:
  std::map<std::string, uint64_t> Segments() {
    std::map<std::string, uint64_t> sizes;
    for (const std::string& path : files_.Paths())
      if (path.ends_with(".vsst")) sizes[path] = *files_.FileSize(path);
    return sizes;
  }
  uint64_t LogBytes() {
    uint64_t bytes = 0;
    for (const std::string& path : files_.Paths())
      if (path.starts_with("/wal/")) bytes += *files_.FileSize(path);
    return bytes;
  }

  // Before each call, which means after the previous one.
  void CrashHere() {
    if (checking_ || HasFailure()) return;
    if (!in_call_) return CrashAt(FailPoint::kNone);
    const std::map<std::string, uint64_t> now = Segments();
    for (const auto& [path, bytes] : now) {
      const auto before = before_.find(path);
      const uint64_t from = before == before_.end() ? 0 : before->second;
      if (bytes <= from) continue;
      // After the put's own record the entry must be complete.
      if (!Late() && LogBytes() > log_before_) return CrashAt(FailPoint::kBeforeApply);
      CrashAmid(path, random_.Between(from, bytes - 1));
      return CrashAt(FailPoint::kAfterAppend);
    }
    CrashAt(FailPoint::kBeforeAppend);
  }
  // The process ends during a write.
  void CrashAmid(const std::string& path, uint64_t bytes) {
    const auto image = files_.CrashClone(CrashMode::kAll);
    ASSERT_OK(image->SetContent(path, image->Content(path)->substr(0, bytes)));
    Check(image.get(), FailPoint::kDuringAppend, Mode() != WalMode::kNone);
  }
  void CrashAt(FailPoint point) {
    for (const CrashMode mode : {CrashMode::kAll, CrashMode::kSyncedOnly, CrashMode::kTorn}) {
      const bool promised =
          mode == CrashMode::kAll ? Mode() != WalMode::kNone : Mode() == WalMode::kWalSync;
      Check(files_.CrashClone(mode, random_.Next()).get(), point, promised);
    }
  }
  // Each key requires all earlier ones, and all promised keys must exist.
  void Check(CrashableFileSystem* image, FailPoint point, bool promised) {
    if (HasFailure()) return;
    checking_ = true;
    SCOPED_TRACE("key " + std::to_string(now_) + ", fail point " +
                 std::to_string(static_cast<int>(point)));
    ++(point == FailPoint::kNone ? upkeep_crashes_ : crashes_[static_cast<size_t>(point)]);
    int found = 0;
    const int openings = random_.OneIn(8) ? 3 : 1;
    for (int opening = 0; opening < openings; ++opening) {
      SimDB again(1, image);
      Set(&again);
      ASSERT_OK(again.Open());
      int there = 0;
      while (there <= now_ && again.Get(Map(&again), KeyOf(there)) == StoredOf(there)) ++there;
      for (int i = there; i <= now_; ++i) EXPECT_EQ(again.Get(Map(&again), KeyOf(i)), "NotFound");
      EXPECT_GE(there, promised ? acknowledged_ : durable_);
      if (opening == 0) found = there;
      EXPECT_EQ(there, found) << "each opening must find the same keys";
      if (opening == 1) ASSERT_OK(again.Flush());
    }
    checking_ = false;
  }

  ChosenFileSystem files_;
  FaultFileSystem faults_{&files_};
  SimDB db_;
  Random random_{1};
  EntryLocation location_;
  std::map<std::string, uint64_t> before_;  // sizes of segments and the log when the call began
  uint64_t log_before_ = 0;
  bool in_call_ = false, checking_ = false;
  int now_ = 0, acknowledged_ = 0, durable_ = 0;  // numbers of keys
  std::array<uint64_t, kFailPoints> crashes_{};
  uint64_t upkeep_crashes_ = 0;
};

TEST_P(DBEntriesCrash, AtAnyOfTheSixFailPointsNothingAcknowledgedIsLostNorSeenOutOfOrder) {
  const int keys = static_cast<int>(Variable("LAVA_TEST_KEYS", 40));
  uint64_t rolled = 0;
  for (int i = 0; i < keys && !HasFailure(); ++i) {
    Add(i);
    const uint64_t segment = location().segment;
    if (i % 4 == 3) {
      ASSERT_OK(db()->RollEntries());
      rolled = location().sequence;
      ASSERT_OK(db()->FinishEntries(segment));
    }
    if (i % 12 == 10) Flush();
    if (i % 10 == 9) ASSERT_OK(db()->ReleaseEntries(rolled));
  }
  uint64_t all = upkeep_crashes();
  EXPECT_GT(all, 0u);
  for (size_t point = 0; point < kFailPoints; ++point) {
    const uint64_t there = crashes(static_cast<FailPoint>(point));
    // On LavaFS a file's size may be ahead of the written data.
    EXPECT_TRUE(OnLavaFs() || there >= static_cast<uint64_t>(keys)) << point << ": " << there;
    all += there;
  }
  Count(all, "crashes at fail points of entries");
}

std::string NameOf(const ::testing::TestParamInfo<std::tuple<WalMode, Way>>& info) {
  static constexpr const char* kModes[] = {"none", "wal", "wal_sync"};
  static constexpr const char* kWays[] = {"", "_bound_late", "_list"};
  const auto [mode, way] = info.param;
  return std::string(kModes[static_cast<size_t>(mode)]) + kWays[static_cast<size_t>(way)];
}
INSTANTIATE_TEST_SUITE_P(
    Modes, DBEntriesCrash,
    ::testing::Combine(::testing::Values(WalMode::kNone, WalMode::kWal, WalMode::kWalSync),
                       ::testing::Values(Way::kExternal, Way::kBoundPut, Way::kBoundAppend)),
    NameOf);

}  // namespace
}  // namespace lava::testing
