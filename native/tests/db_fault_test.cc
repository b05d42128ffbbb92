// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "lava/host.h"
#include "testing/count.h"
#include "testing/fault_file_system.h"
#include "testing/variable.h"
#include "tests/history/generator.h"
#include "tests/history/lava_store.h"
#include "tests/history/model_store.h"
#include "tests/history/past.h"
#include "tests/history/player.h"

// Every file system call of a history fails, once or from then on, in every applicable way. The
// caller must be told, no answer may be wrong, nothing acknowledged may be lost, and once the fault
// is gone everything must work. Environment:
//   LAVA_TEST_STEP       only every n-th call
//   LAVA_TEST_CALL       from this call on
//   LAVA_TEST_SEED, LAVA_TEST_WORKLOADS  other histories: the first seed, and how many
namespace lava::testing {
namespace {

constexpr uint64_t kSampledStep = 45;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kStep = kSampledStep;
#else
constexpr uint64_t kStep = 2;
#endif
constexpr uint64_t kForeverStep = 7;

/// Operations that each history must contain, so that faults strike all of their calls.
constexpr Op kMustHave[] = {Op::kTakeSnapshot, Op::kCheckpoint, Op::kSetTtl, Op::kSetTime,
                            Op::kCompactAll,   Op::kReadAll,    Op::kImport, Op::kSetTime,
                            Op::kCompactAll,   Op::kReadAll};

constexpr uint32_t kTableThatExpires = 4;
constexpr uint64_t kTwoParts = 154;  // for PlanOf: of the snapshot, and of the newest state

struct Workload {
  const char* name;
  uint64_t seed;
  uint32_t option_set;
  bool sync;
  uint64_t step = 1;  // interval between struck calls
};
constexpr Workload kWorkloads[] = {
    {"small, synced", 11, 0, true},
    {"no filters, two partition bytes", 12, 1, false, 3},
    {"drawn options, values separated and collected", 45, 45, true},
    {"write-ahead log", 22, 22, false, 25},
    {"write-ahead log, synced", 39, 39, true, 25},
};

History HistoryOf(const Workload& workload) {
  GeneratorOptions options;
  options.operations = 160;
  options.large_one_in = 25;
  options.entries_one_in = 3;
  History history = GenerateHistory(workload.seed, options);
  // Reads, which notice data missing in the files.
  for (size_t i = 25; i < history.size(); i += 25) {
    history[i] = Operation();
    history[i].op = Op::kReopen;
  }
  // A longer TTL would expect expired data to reappear.
  for (Operation& o : history)
    if (o.op == Op::kSetTtl && o.table == kTableThatExpires) o.op = Op::kRunJobs;
  size_t i = 30;
  for (const Op op : kMustHave) {
    Operation& o = history[i] = Operation();
    o.op = op;
    o.slot = op == Op::kReadAll ? -1 : 0;
    o.table = op == Op::kSetTtl ? kTableThatExpires : 0;
    // Values of the current and of earlier units, so that first some of them expire, and later all.
    if (op == Op::kSetTtl) o.number = 4;
    if (op == Op::kImport) o.number = kTwoParts;
    if (op == Op::kSetTime) o.number = kFirstTime + (i < 90 ? 5 : 20);
    i += i % 25 == 24 ? 13 : 12;
  }
  return history;
}

/// The workloads in the table, or LAVA_TEST_WORKLOADS more with seeds from LAVA_TEST_SEED on.
std::vector<Workload> Workloads() {
  const uint64_t first = Variable("LAVA_TEST_SEED", 0);
  const uint64_t count = Variable("LAVA_TEST_WORKLOADS", 0);
  if (count == 0) return {std::begin(kWorkloads), std::end(kWorkloads)};
  std::vector<Workload> workloads;
  for (uint64_t seed = first; seed < first + count; ++seed)
    workloads.push_back(
        {"drawn", seed, static_cast<uint32_t>(seed % kOptionSetCount), seed % 2 == 0});
  return workloads;
}

class FaultyRun {
 public:
  FaultyRun(const Workload& workload, const History& history)
      : history_(history),
        faults_(&memory_),
        store_(SetFor(workload), workload.seed, &faults_),
        synced_(workload.sync) {
    store_.MayFail();
  }

  /// Returns whether the fault struck.
  bool Run(const FaultFileSystem::Plan& plan) {
    faults_.Arm(plan);
    if (const Status opened = store_.Open(); !opened.ok()) OpenAgain(opened);
    Player lava(&store_), oracle(&model_);
    for (const Operation& o : history_) {
      SCOPED_TRACE(Describe(o));
      Step(o, &lava, &oracle);
      if (TornTail(o, plan.fault, &lava, &oracle)) return true;
      if (::testing::Test::HasFailure()) return true;
    }
    const bool struck = faults_.fired() > 0;
    faults_.Disarm();
    store_.clock().Advance(3'600'000);
    GoOn(&lava, &oracle);
    EXPECT_EQ(faults_.syncs_after_failure(), 0u);
    return struck;
  }
  uint64_t errors() const { return errors_; }
  /// Whether it ended with a manifest that accepts no more edits.
  bool read_only() const { return read_only_ > 0; }
  /// Whether it ended with a manifest whose damaged end looked torn.
  bool torn() const { return torn_; }

 private:
  static OptionSet SetFor(const Workload& workload) {
    OptionSet set = OptionSetAt(workload.option_set);
    set.jobs = OptionSet::Jobs::kRandomOrder;
    set.files = OptionSet::Files::kMemory;
    set.sync = workload.sync;
    return set;
  }

  void Told(const std::string& words) {
    ++errors_;
    EXPECT_TRUE(IsError(words)) << words;
    EXPECT_GT(faults_.fired(), 0u) << words;
    EXPECT_NE(words.find("/db"), std::string::npos) << "the error names no file: " << words;
  }
  // The fault is gone: a new open removes files left by failed removals, and no data is missing.
  void GoOn(Player* lava, Player* oracle) {
    Status reopened = store_.Reopen();
    if (!reopened.ok()) {
      // A background flush failed, and no call had reported it.
      Told(reopened.ToString());
      reopened = store_.Reopen();
    }
    if (reopened.ok()) {
      static_cast<void>(model_.Reopen());
      EXPECT_EQ(lava->AtEnd(), oracle->AtEnd());
      return;
    }
    // A failed sync of the manifest is final: no flush can be acknowledged any more. All data can
    // still be read, and acknowledged data exists after a reopen.
    EXPECT_NE(reopened.message().find("read-only until reopened"), Slice::npos)
        << reopened.ToString();
    const Result<uint64_t> digest = lava->Digest();
    if (digest.ok()) {
      EXPECT_EQ(*digest, *oracle->Digest());
    } else {
      // A table that was not used in this opening cannot be registered.
      EXPECT_NE(digest.status().message().find("read-only until reopened"), Slice::npos);
    }
    ASSERT_TRUE(store_.Open().ok());
    Past past = Replayed();
    EXPECT_TRUE(past.Find(*lava->Digest(), durable_, applied_.size(), *lava).has_value())
        << "the content matches no moment since the last acknowledged flush";
    ++read_only_;
  }
  Past Replayed() const {
    ModelStore model;
    Player player(&model);
    Past past;
    past.Add(model);
    for (const Operation& o : applied_) {
      player.Apply(o);
      past.Add(model);
    }
    return past;
  }
  void Applied(const Operation& o, Player* oracle) {
    oracle->Apply(o);
    applied_.push_back(o);
  }
  void OpenAgain(const Status& failed) {
    Told(failed.ToString());
    faults_.Disarm();
    const Status opened = store_.Open();
    EXPECT_TRUE(opened.ok()) << opened.ToString();
  }

  // If a log's records are synced individually, an invalid last record looks like a power cut
  // during its sync: its edit counts as never made (docs/manifest-format.md).
  bool TornTail(const Operation& o, Fault fault, Player* lava, Player* oracle) {
    if (o.op != Op::kReopen || fault != Fault::kBitFlip || !synced_) return false;
    if (faults_.struck_path().find("/MANIFEST-") == std::string::npos) return false;
    const Result<uint64_t> digest = lava->Digest();
    torn_ = digest.ok() && *digest != *oracle->Digest();
    return torn_;
  }

  void Step(const Operation& o, Player* lava, Player* oracle) {
    const std::string found = lava->Apply(o);
    const bool flushes = o.op == Op::kFlush || o.op == Op::kReopen || o.op == Op::kImport;
    const bool changes = o.op <= Op::kBatch || o.op == Op::kImport || o.op == Op::kReopen ||
                         o.op == Op::kDropTable || o.op == Op::kSetTtl;
    if (!changes) {
      const std::string expected = oracle->Apply(o);
      if (found != expected) Told(found);
      applied_.push_back(o);  // for its effect on time
    } else if (found == "done") {
      Applied(o, oracle);
      if (flushes) durable_ = applied_.size();
    } else {
      // Nothing was changed.
      Told(found);
    }
    if (!store_.is_open()) {
      faults_.Disarm();
      const Status opened = store_.Open();
      EXPECT_TRUE(opened.ok()) << opened.ToString();
      Operation reopen;
      reopen.op = Op::kReopen;
      Applied(reopen, oracle);
    }
  }

  const History& history_;
  ChosenFileSystem memory_;
  FaultFileSystem faults_;
  LavaStore store_;
  ModelStore model_;
  History applied_;     // acknowledged operations, and those that change nothing
  size_t durable_ = 0;  // number of them known to be durable
  uint64_t errors_ = 0, read_only_ = 0;
  const bool synced_;
  bool torn_ = false;
};

class DBFault : public ::testing::TestWithParam<Fault> {};

TEST_P(DBFault, AnyCallThatFailsIsToldAndLosesNothing) {
  const uint64_t step = Variable("LAVA_TEST_STEP", kStep);
  const uint64_t collections_before = LavaStore::TotalsOfAll().collections;
  uint64_t once = 0, for_ever = 0, errors = 0, read_only = 0, torn = 0;
  for (const Workload& workload : Workloads()) {
    const History history = HistoryOf(workload);
    for (const bool forever : {false, true}) {
      const uint64_t distance = step * workload.step * (forever ? kForeverStep : 1);
      for (uint64_t call = Variable("LAVA_TEST_CALL", 1 + workload.seed % distance);;
           call += distance) {
        SCOPED_TRACE(std::string(workload.name) + " with seed " + std::to_string(workload.seed) +
                     ", LAVA_TEST_CALL=" + std::to_string(call) +
                     (forever ? " and all later" : ""));
        FaultyRun run(workload, history);
        const bool struck =
            run.Run({.fault = GetParam(), .call = call, .forever = forever, .seed = call});
        ASSERT_FALSE(HasFailure());
        if (!struck) break;
        ++(forever ? for_ever : once);
        errors += run.errors();
        read_only += run.read_only();
        torn += run.torn();
      }
      ASSERT_EQ(Host::Get().statistics().charged_bytes, 0u);
    }
    if (step < kSampledStep || !workload.sync) continue;
    // A sample of all calls may not contain one that leaves the instance read-only.
    for (uint64_t call = 1;; call += 3) {
      SCOPED_TRACE(std::string(workload.name) + ", sync " + std::to_string(call) + " of manifests");
      FaultyRun run(workload, history);
      const bool struck = run.Run({.fault = GetParam(),
                                   .call = call,
                                   .only = FileCall::kSync,
                                   .path_contains = "/MANIFEST-"});
      ASSERT_FALSE(HasFailure());
      if (!struck) break;
      ++once;
      errors += run.errors();
      read_only += run.read_only();
    }
  }
  EXPECT_GT(errors, 0u);
  const bool syncs_fail = GetParam() == Fault::kIOError || GetParam() == Fault::kNoSpace;
  EXPECT_EQ(read_only > 0, syncs_fail) << read_only;
  EXPECT_LE(torn * 20, once + 20) << "too many flips passed for a torn end";
  Count(torn, "flips in a manifest's last record taken for a torn one");
  Count(once, "I/O calls failed once");
  Count(for_ever, "I/O calls failed from then on");
  const uint64_t collections = LavaStore::TotalsOfAll().collections - collections_before;
  EXPECT_GT(collections, 0u);
  Count(collections, "collections of value files beside faults");
}

INSTANTIATE_TEST_SUITE_P(Faults, DBFault,
                         ::testing::Values(Fault::kIOError, Fault::kNoSpace, Fault::kShortWrite,
                                           Fault::kShortRead, Fault::kBitFlip));

}  // namespace
}  // namespace lava::testing
