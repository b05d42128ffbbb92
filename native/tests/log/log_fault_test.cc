// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <memory>

#include "testing/chosen_file_system.h"
#include "testing/count.h"
#include "testing/fault_file_system.h"
#include "testing/variable.h"
#include "tests/log/log_history.h"

// Every file system call of a history of a LavaLog fails, once or from then on until an operation
// has failed, in every applicable way. The caller must be told, failed operations may be repeated,
// and nothing acknowledged may be lost.
//   LAVA_TEST_SEED, LAVA_TEST_SEEDS  the first history, and how many
namespace lava::testing {
namespace {

using Kind = LogOperation::Kind;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kSeeds = 1;
#else
constexpr uint64_t kSeeds = 6;
#endif
constexpr Fault kFaults[] = {Fault::kIOError,    Fault::kNotOpened, Fault::kNoSpace,
                             Fault::kShortWrite, Fault::kShortRead, Fault::kBitFlip};

class FaultyLog {
 public:
  FaultyLog(uint64_t seed, Fault fault, uint64_t call, bool forever)
      : seed_(seed), call_(call), forever_(forever), fault_(fault), options_(DrawLogOptions(seed)) {
    options_.file_system = &faulty_;
  }

  // Returns false when the history makes no such call.
  bool Run() {
    const std::vector<LogOperation> history = GenerateLogHistory(seed_, 100);
    faulty_.Arm({.fault = fault_, .call = call_, .forever = forever_, .seed = call_});
    LogPlayer player(options_);
    Retry("open", [&] { return player.Open(); });
    for (size_t i = 0; i < history.size() && !::testing::Test::HasFailure(); ++i) {
      Apply(&player, history[i]);
    }
    const bool fired = faulty_.fired() > 0;
    faulty_.Disarm();
    if (::testing::Test::HasFailure()) return fired;
    const LogModel model(history);
    const LogContent expected = model.After(history.size(), SIZE_MAX, SIZE_MAX);
    CheckContent(&player, expected, "at the end");
    const Status opened = player.Open();
    EXPECT_TRUE(opened.ok()) << Where() << opened.ToString();
    if (opened.ok()) CheckContent(&player, expected, "opened again");
    EXPECT_EQ(faulty_.syncs_after_failure(), 0u) << Where();
    return fired;
  }
  uint64_t told = 0;

 private:
  void CheckContent(LogPlayer* player, const LogContent& expected, const char* when) {
    const Result<LogContent> content = ContentOf(player->log());
    ASSERT_TRUE(content.ok()) << Where() << when << ": " << content.status().ToString();
    ASSERT_TRUE(*content == expected) << Where() << when << ": found " << content->ToString()
                                      << "\ninstead of " << expected.ToString();
  }

  template <typename Call>
  void Retry(const std::string& what, const Call& call) {
    Status status = call();
    if (status.ok()) return;
    Told(status, what);
    status = call();
    ASSERT_TRUE(status.ok()) << Where() << what << " once more: " << status.ToString();
  }

  void Told(const Status& status, const std::string& what) {
    ++told;
    faulty_.Disarm();
    EXPECT_GT(faulty_.fired(), 0u) << Where() << what << ": " << status.ToString();
    EXPECT_NE(status.message().find("/log"), std::string_view::npos)
        << Where() << what << " does not say where: " << status.ToString();
  }

  void Apply(LogPlayer* player, const LogOperation& o) {
    if (player->log() == nullptr) Retry("open", [&] { return player->Open(); });
    Status status = player->Apply(o);
    if (status.ok()) return;
    Told(status, Describe(o));
    bool sync_failed = IsOfSync(status);
    const bool maintains =
        o.kind == Kind::kCheckpoint || o.kind == Kind::kMaintain || o.kind == Kind::kCollect;
    // Maintenance that the caller did not request need not be repeated.
    if (maintains && !sync_failed) return;
    bool reopened = false;
    if (player->log() != nullptr) status = player->Apply(o);
    // The failed sync may not have been requested by a call; this operation is the first to report
    // it.
    sync_failed |= IsOfSync(status);
    if (player->log() == nullptr || !status.ok()) {
      EXPECT_TRUE(player->log() == nullptr || sync_failed)
          << Where() << "only a failed sync is final: " << Describe(o)
          << " once more: " << status.ToString();
      const Status opened = player->Open();
      ASSERT_TRUE(opened.ok()) << Where() << opened.ToString();
      reopened = true;
      status = player->Apply(o);
    }
    // The operation may have succeeded without its acknowledgement.
    const bool was_done =
        reopened && (o.kind == Kind::kDelete ? status.IsNotFound() : status.IsInvalidArgument());
    ASSERT_TRUE(status.ok() || was_done) << Where() << Describe(o) << ": " << status.ToString();
  }

  // A file that could not be opened for a sync was not synced: the failure is not final.
  bool IsOfSync(const Status& status) const {
    if (fault_ == Fault::kNotOpened) return false;
    return status.message().find("sync /") != std::string_view::npos ||
           status.message().find("sync file") != std::string_view::npos;
  }

  std::string Where() const {
    return "seed " + std::to_string(seed_) + ", fault " + std::to_string(static_cast<int>(fault_)) +
           (forever_ ? " from call " : " at call ") + std::to_string(call_) + " on " +
           faulty_.struck_path() + ": ";
  }

  const uint64_t seed_, call_;
  const bool forever_;
  const Fault fault_;
  ChosenFileSystem files_;
  FaultFileSystem faulty_{&files_};
  log::LogOptions options_;
};

TEST(LogFault, EveryCallFails) {
  uint64_t calls = 0, told = 0;
  const uint64_t first = Variable("LAVA_TEST_SEED", 1);
  for (uint64_t seed = first; seed < first + Variable("LAVA_TEST_SEEDS", kSeeds); ++seed) {
    for (const Fault fault : kFaults) {
      for (const bool forever : {false, true}) {
        for (uint64_t call = 1;; ++call) {
          FaultyLog faulty(seed, fault, call, forever);
          if (!faulty.Run() || HasFailure()) break;
          ++calls;
          told += faulty.told > 0 ? 1 : 0;
        }
        if (HasFailure()) return;
      }
    }
  }
  Count(calls, "I/O calls of a log failed");
  Count(told, "I/O calls of a log whose failure was told");
}

}  // namespace
}  // namespace lava::testing
