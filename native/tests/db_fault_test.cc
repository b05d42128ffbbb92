#include "db_test_util.h"
#include "testing/fault_file_system.h"
#include "testing/random.h"

// Every call to the file system fails once, or for ever, and the machine stops after every change.
namespace lava::testing {
namespace {

void Small(DBOptions* o) {
  o->memtable_bytes = 48 << 10;
  o->block_bytes = 512;
  o->target_file_bytes = 4 << 10;
  o->level1_bytes = 8 << 10;
  o->l0_compaction_trigger = 2;
}

// A short fixed history; remembers what was acknowledged.
class Workload {
 public:
  explicit Workload(SimDB* db) : db_(*db) {}

  // Stops at nothing; a write that fails is not in the model.
  void Run() {
    Random random(7);
    Table* t = db_.table("t");
    if (t == nullptr) return;
    for (int i = 0; i < 60; ++i) {
      const std::string key =
          K(static_cast<int>(random.Uniform(4)), "k" + std::to_string(random.Uniform(30)));
      const std::string value = random.Bytes(100);
      const bool erase = random.OneIn(5);
      const Status status =
          db_.Finish([&] { return erase ? db_->Delete(t, {key}) : db_->Put(t, {key}, value); });
      if (status.ok()) {
        if (erase) {
          model.Delete("t", {key});
        } else {
          model.Put("t", {key}, value);
        }
      }
      if (i % 12 != 11) continue;
      sealed.push_back(model);
      if (db_.Flush().ok()) flushed = sealed.size();
      if (i == 35) static_cast<void>(db_.CompactAll());
    }
  }

  Model model;
  std::vector<Model> sealed = {Model()};  // as it was at each seal
  size_t flushed = 0;                     // how many of them are acknowledged

 private:
  SimDB& db_;
};

Status Content(SimDB* db, std::vector<Model::Entry>* entries) {
  return db->ScanAll(db->table("t"), {}, entries);
}

class DBFault : public ::testing::TestWithParam<Fault> {};

TEST_P(DBFault, AnyCallThatFailsIsToldAndLosesNothing) {
  for (const bool forever : {false, true}) {
    for (uint64_t call = 1; call < 400; call += forever ? 13 : 3) {
      SCOPED_TRACE("call " + std::to_string(call) + (forever ? " and all later" : ""));
      MemFileSystem memory;
      FaultFileSystem faults(&memory);
      SimDB db(call, &faults);
      Small(&db.options());
      ASSERT_OK(db.Open());
      Workload workload(&db);
      workload.model.CreateTable("t");
      ASSERT_NE(db.table("t"), nullptr);
      faults.Arm({.fault = GetParam(), .call = call, .forever = forever});
      workload.Run();
      const bool struck = faults.fired() > 0;
      faults.Disarm();
      db.clock().Advance(3'600'000);
      std::vector<Model::Entry> entries;
      ASSERT_OK(Content(&db, &entries));
      EXPECT_EQ(entries, workload.model.Scan("t", {}));
      EXPECT_EQ(faults.syncs_after_failure(), 0u);
      ASSERT_OK(db.Flush());
      ASSERT_OK(db.Open());
      entries.clear();
      ASSERT_OK(Content(&db, &entries));
      EXPECT_EQ(entries, workload.model.Scan("t", {}));
      if (!struck) break;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, DBFault,
                         ::testing::Values(Fault::kIOError, Fault::kNoSpace, Fault::kShortWrite));

TEST(DBFault, ReadErrorsReachTheCaller) {
  MemFileSystem memory;
  FaultFileSystem faults(&memory);
  SimDB db(1, &faults);
  Small(&db.options());
  ASSERT_OK(db.Open());
  Workload workload(&db);
  workload.model.CreateTable("t");
  workload.Run();
  ASSERT_OK(db.Flush());
  const std::vector<Model::Entry> expected = workload.model.Scan("t", {});
  uint64_t failed = 0;
  for (uint64_t call = 1; call < 60; ++call) {
    ASSERT_OK(db.Open());  // with an empty cache
    Table* t = db.table("t");
    faults.Arm({.fault = Fault::kBitFlip, .call = call, .only = FileCall::kRead, .seed = call});
    for (const Model::Entry& entry : expected) {
      PinnedValue value;
      const Status status = db->Get(t, {entry.first}, &value);
      if (status.ok()) {
        EXPECT_EQ(value.data(), entry.second);
      } else {
        ++failed;
        EXPECT_TRUE(status.IsCorruption()) << status.ToString();
        EXPECT_NE(status.message().find(".ksst"), std::string_view::npos) << status.ToString();
      }
    }
    const bool struck = faults.fired() > 0;
    faults.Disarm();
    if (!struck) break;
  }
  EXPECT_GT(failed, 0u);
}

void CheckCrashes(bool sync, CrashMode mode) {
  SimDB db(3);
  Small(&db.options());
  db.options().sync = sync;
  Workload workload(&db);
  workload.model.CreateTable("t");
  workload.sealed[0].CreateTable("t");
  ASSERT_OK(db.Open());
  ASSERT_NE(db.table("t"), nullptr);
  uint64_t crashes = 0;
  db.memory().SetMutationHook([&](uint64_t call) {
    const std::unique_ptr<MemFileSystem> crashed = db.memory().CrashClone(mode, call);
    SimDB again(call, crashed.get());
    Small(&again.options());
    ASSERT_OK(again.Open());
    std::vector<Model::Entry> entries;
    ASSERT_OK(Content(&again, &entries));
    bool known = false;
    for (size_t i = workload.flushed == 0 ? 0 : workload.flushed - 1; i < workload.sealed.size();
         ++i)
      known = known || entries == workload.sealed[i].Scan("t", {});
    EXPECT_TRUE(known) << "after call " << call << ": " << entries.size() << " entries";
    ++crashes;
  });
  workload.Run();
  db.memory().SetMutationHook(nullptr);
  EXPECT_GT(crashes, 20u);
}

TEST(DBCrash, AKillAnywhereLeavesWhatWasSealedAtOneMoment) {
  CheckCrashes(/*sync=*/false, CrashMode::kAll);
}
TEST(DBCrash, APowerCutKeepsWhatWasSynced) { CheckCrashes(/*sync=*/true, CrashMode::kSyncedOnly); }
TEST(DBCrash, APowerCutThatTearsSectorsToo) { CheckCrashes(/*sync=*/true, CrashMode::kTorn); }

}  // namespace
}  // namespace lava::testing
