// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "testing/chosen_file_system.h"
#include "testing/count.h"
#include "testing/random.h"
#include "testing/variable.h"
#include "tests/log/log_history.h"

// The machine or the process stops after every change that a history makes to the files of a
// LavaLog. Every possible result of a crash opens, and contains the promised data.
//   LAVA_TEST_SEED, LAVA_TEST_SEEDS  the first history, and how many
namespace lava::testing {
namespace {

using Kind = LogOperation::Kind;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kSeeds = 3;
#else
constexpr uint64_t kSeeds = 60;
#endif
constexpr uint64_t kAllUpTo = 24;  // number of images of one moment
constexpr uint64_t kDrawn = 8;

class CrashedLog {
 public:
  CrashedLog(uint64_t seed, bool power_cut)
      : seed_(seed),
        power_cut_(power_cut),
        random_(seed),
        options_(DrawLogOptions(seed)),
        history_(GenerateLogHistory(seed, 120)),
        model_(history_) {
    options_.file_system = &files_;
  }

  void Run() {
    LogPlayer player(options_);
    ASSERT_TRUE(player.Open().ok());
    files_.SetMutationHook([&](uint64_t) { CrashNow(); });
    for (now_ = 0; now_ < history_.size() && !::testing::Test::HasFailure(); ++now_) {
      const LogOperation& o = history_[now_];
      const Status status = player.Apply(o);
      ASSERT_TRUE(status.ok()) << Where() << status.ToString();
      if (LogModel::IsName(o)) ++names_;
      if (LogModel::IsRecord(o)) ++records_;
      const bool all = o.kind == Kind::kSync || (LogModel::IsRecord(o) && o.synced) ||
                       o.kind == Kind::kCheckpoint || o.kind == Kind::kReopen;
      if (all) durable_records_ = records_;
      if (all || o.kind == Kind::kCreate || o.kind == Kind::kDelete || o.synced) {
        durable_names_ = names_;
      }
    }
    files_.SetMutationHook(nullptr);
  }

  uint64_t images = 0, nested = 0, gone_on = 0;

 private:
  void CrashNow() {
    if (::testing::Test::HasFailure()) return;
    if (!power_cut_) return Check(files_.CrashClone(CrashMode::kAll), true);
    const uint64_t states = files_.CrashStates();
    if (states <= kAllUpTo) {
      for (uint64_t s = 0; s < states; ++s) Check(files_.CrashCloneAt(s, random_.Next()), true);
      return;
    }
    Check(files_.CrashClone(CrashMode::kSyncedOnly), true);
    for (uint64_t i = 1; i < kDrawn; ++i) {
      Check(files_.CrashClone(i % 2 == 0 ? CrashMode::kRandom : CrashMode::kTorn, random_.Next()),
            true);
    }
  }

  // Required content: everything acknowledged (after a power cut: everything durable), and of later
  // operations a prefix of the changes of names and one of the records.
  bool IsOfOneMoment(const LogContent& content) const {
    const size_t upto = std::min(now_ + 1, history_.size());
    const bool name = LogModel::IsName(history_[upto - 1]);
    const bool record = LogModel::IsRecord(history_[upto - 1]);
    const size_t names_most = now_ < history_.size() && name ? names_ + 1 : names_;
    const size_t records_most = now_ < history_.size() && record ? records_ + 1 : records_;
    for (size_t n = power_cut_ ? durable_names_ : names_; n <= names_most; ++n) {
      for (size_t r = power_cut_ ? durable_records_ : records_; r <= records_most; ++r) {
        if (model_.After(upto, n, r) == content) return true;
      }
    }
    return false;
  }

  // Some recoveries crash themselves at any point.
  void Check(std::unique_ptr<CrashableFileSystem> image, bool may_nest) {
    if (::testing::Test::HasFailure()) return;
    ++images;
    log::LogOptions options = options_;
    options.file_system = image.get();
    if (may_nest && random_.OneIn(20)) {
      image->SetMutationHook([&](uint64_t) {
        ++nested;
        Check(image->CrashClone(!power_cut_        ? CrashMode::kAll
                                : random_.OneIn(2) ? CrashMode::kTorn
                                                   : CrashMode::kSyncedOnly,
                                random_.Next()),
              false);
      });
    }
    LogPlayer again(options);
    const Status opened = again.Open();
    image->SetMutationHook(nullptr);
    ASSERT_TRUE(opened.ok()) << Where() << opened.ToString();
    const Result<LogContent> content = ContentOf(again.log());
    ASSERT_TRUE(content.ok()) << Where() << content.status().ToString();
    ASSERT_TRUE(IsOfOneMoment(*content))
        << Where() << "found " << content->ToString() << "\nacknowledged "
        << model_.After(now_, names_, records_).ToString() << "\ndurable names " << durable_names_
        << " records " << durable_records_;
    if (random_.OneIn(10)) GoOn(&again, *content);
  }

  // The recovered log works, and loses nothing of its content.
  void GoOn(LogPlayer* player, LogContent content) {
    ++gone_on;
    for (int i = 0; i < 8; ++i) {
      if (content.logs.empty()) {
        ASSERT_TRUE(player->log()->Create("log 999").ok());
        content.logs["log 999"] = {};
      }
      const std::string name = content.logs.begin()->first;
      LogContent::OfLog& of_log = content.logs[name];
      const log::LogId id = *player->log()->Find(name);
      uint64_t trimmed_to = 0, last = 0;
      ASSERT_TRUE(player->log()->Bounds(id, &trimmed_to, &last).ok());
      const uint64_t lsn = std::max(trimmed_to, last + 1);
      of_log.records[lsn] = std::string(random_.Uniform(400), 'w');
      ASSERT_TRUE(
          player->log()->Append(id, lsn, of_log.records[lsn], log::Durability::kSynced).ok());
      if (i % 3 == 0) {
        const Status status = player->log()->CollectOldest();
        ASSERT_TRUE(status.ok() || status.IsNotFound()) << Where() << status.ToString();
      }
      if (i % 4 == 3) {
        const Status status = player->Open();
        ASSERT_TRUE(status.ok()) << Where() << status.ToString();
      }
      const Result<LogContent> now = ContentOf(player->log());
      ASSERT_TRUE(now.ok()) << Where() << now.status().ToString();
      ASSERT_EQ(*now == content, true)
          << Where() << "found " << now->ToString() << "\ninstead of " << content.ToString();
    }
  }

  std::string Where() const {
    return "seed " + std::to_string(seed_) + (power_cut_ ? ", power cut" : ", process kill") +
           ", operation " + std::to_string(now_) + " " +
           (now_ < history_.size() ? Describe(history_[now_]) : "") + ": ";
  }

  const uint64_t seed_;
  const bool power_cut_;
  Random random_;
  ChosenFileSystem files_;
  log::LogOptions options_;
  const std::vector<LogOperation> history_;
  const LogModel model_;
  size_t now_ = 0;
  size_t names_ = 0, records_ = 0, durable_names_ = 0, durable_records_ = 0;
};

void RunAll(bool power_cut) {
  uint64_t images = 0, nested = 0, gone_on = 0;
  const uint64_t first = Variable("LAVA_TEST_SEED", 1);
  for (uint64_t i = 0; i < Variable("LAVA_TEST_SEEDS", kSeeds); ++i) {
    CrashedLog crashed(first + i, power_cut);
    crashed.Run();
    if (::testing::Test::HasFailure()) return;
    images += crashed.images;
    nested += crashed.nested;
    gone_on += crashed.gone_on;
  }
  Count(images, "crash states of a log");
  Count(nested, "crash states within a recovery of a log");
  Count(gone_on, "crash states of a log that were worked with on");
}

TEST(LogCrash, APowerCutLeavesAllThatWasDurable) { RunAll(true); }
TEST(LogCrash, AKillLeavesAllThatWasAcknowledged) { RunAll(false); }

}  // namespace
}  // namespace lava::testing
