// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "testing/count.h"
#include "testing/random.h"
#include "testing/variable.h"
#include "tests/history/generator.h"
#include "tests/history/lava_store.h"
#include "tests/history/model_store.h"
#include "tests/history/past.h"
#include "tests/history/player.h"

// The machine or the process stops after every change that a history makes to its files. Every
// possible result of a crash must open in the state of one moment between the last acknowledged
// flush and now. Images are enumerated if there are few, otherwise sampled.
namespace lava::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kSeeds = 1;
#else
constexpr uint64_t kSeeds = 12;
#endif
constexpr uint64_t kAllUpTo = 12;  // number of images of one moment
constexpr uint64_t kDrawn = 6;

enum class Promise : uint8_t {
  kProcessKill,  // nothing that the operating system received is lost
  kPowerCut,     // with options.sync: nothing acknowledged is lost
  // Without sync: all data may be lost, but no data may be invented. The instance need not open, or
  // its reads may fail, but all readable data must be from one moment.
  kPowerCutWithoutSync,
};

class CrashedHistory {
 public:
  CrashedHistory(uint64_t seed, Promise promise)
      : seed_(seed), promise_(promise), random_(seed), set_(SetFor(seed, promise)) {
    GeneratorOptions options;
    options.operations = 90;
    options.writes_only = true;
    options.large_one_in = 25;
    options.entries_one_in = 3;
    history_ = GenerateHistory(seed, options);
    ModelStore model;
    Player player(&model);
    past_.Add(model);
    for (const Operation& operation : history_) {
      player.Apply(operation);
      past_.Add(model);
    }
  }

  void Run() {
    LavaStore store(set_, seed_);
    ASSERT_TRUE(store.Open().ok());
    Player player(&store);
    seen_ = &player;
    running_ = &store;
    store.memory().SetMutationHook([&](uint64_t) { CrashNow(store); });
    for (now_ = 0; now_ < history_.size() && !::testing::Test::HasFailure(); ++now_) {
      const Operation& o = history_[now_];
      const std::string answer = player.Apply(o);
      ASSERT_TRUE(answer == "done" || answer.empty()) << Describe(o) << ": " << answer;
      if (o.op == Op::kFlush || o.op == Op::kReopen || o.op == Op::kImport || LosesNothing())
        durable_ = now_ + 1;
      if (o.op == Op::kTakeSnapshot) taken_[o.slot] = now_ + 1;
      if (o.op == Op::kReopen || o.op == Op::kImport) taken_.clear();
      // The content of a checkpoint is in its files.
      if (o.op == Op::kCheckpoint && answer == "done")
        durable_ = std::max(durable_, taken_.at(o.slot));
    }
    store.memory().SetMutationHook(nullptr);
  }

  uint64_t images = 0, moments = 0, lost = 0, nested = 0, gone_on = 0;

 private:
  // Whether the write-ahead log preserves everything.
  bool LosesNothing() const {
    const WalMode wal = WalOf(set_);
    return promise_ == Promise::kProcessKill ? wal != WalMode::kNone : wal == WalMode::kWalSync;
  }

  static OptionSet SetFor(uint64_t seed, Promise promise) {
    OptionSet set = OptionSetAt(static_cast<uint32_t>(seed % kOptionSetCount));
    set.files = OptionSet::Files::kMemory;
    if (set.jobs == OptionSet::Jobs::kThreads) set.jobs = OptionSet::Jobs::kRandomOrder;
    set.sync = promise == Promise::kPowerCut;
    return set;
  }

  void CrashNow(LavaStore& store) {
    if (::testing::Test::HasFailure()) return;
    ++moments;
    const CrashableFileSystem& files = store.memory();
    if (promise_ == Promise::kProcessKill)
      return Check(files.CrashClone(CrashMode::kAll), store.directory(), true);
    const uint64_t states = files.CrashStates();
    if (states <= kAllUpTo) {
      for (uint64_t state = 0; state < states; ++state)
        Check(files.CrashCloneAt(state, random_.Next()), store.directory(), true);
      return;
    }
    Check(files.CrashClone(CrashMode::kSyncedOnly), store.directory(), true);
    for (uint64_t i = 1; i < kDrawn; ++i) {
      const uint64_t seed = random_.Next();
      Check(states == UINT64_MAX
                ? files.CrashClone(i % 2 == 0 ? CrashMode::kRandom : CrashMode::kTorn, seed)
                : files.CrashCloneAt(seed % states, seed),
            store.directory(), true);
    }
  }

  // Some recoveries crash themselves at any point.
  void Check(std::unique_ptr<CrashableFileSystem> image, const std::string& directory,
             bool may_nest) {
    if (::testing::Test::HasFailure()) return;
    ++images;
    const bool nest = may_nest && random_.OneIn(40);
    LavaStore again(set_, random_.Next(), image.get());
    again.TakeTimes(*running_);
    if (nest) {
      image->SetMutationHook([&](uint64_t) {
        ++nested;
        const CrashMode mode = promise_ == Promise::kProcessKill ? CrashMode::kAll
                               : random_.OneIn(2)                ? CrashMode::kTorn
                                                                 : CrashMode::kSyncedOnly;
        Check(image->CrashClone(mode, random_.Next()), directory, false);
      });
    }
    const Status opened = again.OpenAt(directory);
    image->SetMutationHook(nullptr);
    const bool may_be_lost = promise_ == Promise::kPowerCutWithoutSync;
    if (!opened.ok()) {
      ++lost;
      EXPECT_TRUE(may_be_lost) << Where() << opened.ToString();
      return;
    }
    Player player(&again, *seen_);
    const Result<uint64_t> digest = player.Digest();
    if (!digest.ok()) {
      ++lost;
      EXPECT_TRUE(may_be_lost && digest.status().IsCorruption())
          << Where() << digest.status().ToString();
      return;
    }
    const std::optional<size_t> moment =
        past_.Find(*digest, may_be_lost ? 0 : durable_, now_ + 1, *seen_);
    ASSERT_TRUE(moment.has_value()) << Where() << "the content matches no moment of the history";
    if (!may_be_lost && random_.OneIn(16)) GoOn(&again, &player, *moment);
  }

  // The recovered instance works: it reopens, is compacted and collected, every value can be read
  // by its key, every file is intact, and no file is left over.
  void GoOn(LavaStore* store, Player* player, size_t moment) {
    ++gone_on;
    const Status reopened = store->Reopen();
    ASSERT_TRUE(reopened.ok()) << Where() << reopened.ToString();
    ModelStore model(past_.at(moment));
    Player oracle(&model, *seen_);
    const std::string found = player->AtEnd(), expected = oracle.AtEnd();
    EXPECT_TRUE(found == expected)
        << Where()
        << "the content differs when the history goes on: " << (IsError(found) ? found : "");
  }

  std::string Where() const {
    return "LAVA_TEST_SEED=" + std::to_string(seed_) + ", " + lava::testing::Describe(set_) +
           ", operation " + std::to_string(now_) + " (" +
           (now_ < history_.size() ? lava::testing::Describe(history_[now_]) : "") +
           "), acknowledged " + std::to_string(durable_) + ", image " + std::to_string(images) +
           ": ";
  }

  const uint64_t seed_;
  const Promise promise_;
  Random random_;
  const OptionSet set_;
  History history_;
  Past past_;  // by number of operations
  const Player* seen_ = nullptr;
  const LavaStore* running_ = nullptr;
  std::map<int32_t, size_t> taken_;  // snapshots, by number of operations
  size_t now_ = 0, durable_ = 0;
};

void Enumerate(Promise promise, uint64_t share) {
  const uint64_t first = Variable("LAVA_TEST_SEED", 1);
  const uint64_t seeds = Variable("LAVA_TEST_SEEDS", kSeeds * share);
  uint64_t images = 0, moments = 0, lost = 0, nested = 0, gone_on = 0;
  for (uint64_t seed = first; seed < first + seeds && !::testing::Test::HasFailure(); ++seed) {
    CrashedHistory history(seed, promise);
    history.Run();
    images += history.images;
    moments += history.moments;
    lost += history.lost;
    nested += history.nested;
    gone_on += history.gone_on;
  }
  EXPECT_GT(nested, 0u);
  std::cout << "seeds " << first << " to " << first + seeds - 1 << ": " << moments << " moments, "
            << images << " images, " << lost << " of them lost as a whole, " << nested
            << " in a recovery" << std::endl;
  Count(images, "crash states");
  Count(nested, "crash states within a recovery");
  Count(gone_on, "crash states that were worked with on");
}

TEST(DBCrash, AProcessKillLosesNothingThatWasFlushed) { Enumerate(Promise::kProcessKill, 4); }
TEST(DBCrash, APowerCutLosesNothingThatWasSynced) { Enumerate(Promise::kPowerCut, 2); }
TEST(DBCrash, APowerCutWithoutSyncsMakesNothingUp) { Enumerate(Promise::kPowerCutWithoutSync, 1); }

}  // namespace
}  // namespace lava::testing
