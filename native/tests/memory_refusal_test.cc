// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "host/host_impl.h"
#include "testing/count.h"
#include "testing/variable.h"
#include "tests/history/generator.h"
#include "tests/history/lava_store.h"
#include "tests/history/model_answers.h"
#include "tests/history/player.h"

// Every charge that the budget can refuse is refused, once or from then on: jobs are postponed or
// exceed the budget, scans read less at a time, and no answer changes. Environment:
//   LAVA_TEST_STEP       only every n-th charge
//   LAVA_TEST_SEED, LAVA_TEST_WORKLOADS  other histories: the first seed, and how many
namespace lava::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kStep = 9;
#else
constexpr uint64_t kStep = 1;
#endif

/// Refuses charges of the whole process by their number, from 0.
class Refusals final : public ChargeObserver {
 public:
  Refusals(uint64_t first, uint64_t count) : first_(first), count_(count) {
    Hosted().SetChargeObserver(this);
  }
  ~Refusals() override { Hosted().SetChargeObserver(nullptr); }
  void Charged() override {}
  bool Allows(uint64_t bytes) override {
    if (bytes == 0) return true;
    const uint64_t n = asked_.fetch_add(1);
    const bool refuses = n >= first_ && n - first_ < count_;
    if (refuses) ++refused_;
    return !refuses;
  }
  uint64_t asked() const { return asked_.load(); }
  uint64_t refused() const { return refused_.load(); }

  static HostImpl& Hosted() { return static_cast<HostImpl&>(Host::Get()); }

 private:
  const uint64_t first_, count_;
  std::atomic<uint64_t> asked_{0}, refused_{0};
};

struct Workload {
  uint64_t seed;
  uint32_t option_set;
};

std::vector<Workload> Workloads() {
  const uint64_t first = Variable("LAVA_TEST_SEED", 0);
  const uint64_t count = Variable("LAVA_TEST_WORKLOADS", 0);
  // Inline, separated and collected values; with threads.
  if (count == 0) return {{21, 2}, {45, 45}, {46, 61}, {47, 19}};
  std::vector<Workload> workloads;
  for (uint64_t seed = first; seed < first + count; ++seed)
    workloads.push_back({seed, static_cast<uint32_t>(seed % kOptionSetCount)});
  return workloads;
}

History HistoryOf(const Workload& workload) {
  GeneratorOptions options;
  options.operations = 250;
  options.large_one_in = 10;
  return GenerateHistory(workload.seed, options);
}

void Play(const Workload& workload, const History& history,
          const std::vector<std::string>& expected, bool job_beside = false) {
  OptionSet set = OptionSetAt(workload.option_set);
  set.files = OptionSet::Files::kMemory;
  set.lease_bytes = 64 << 20;  // refuses nothing itself
  {
    LavaStore store(set, workload.seed);
    if (job_beside) store.HaveAJobBeside();
    ASSERT_TRUE(store.Open().ok());
    Player player(&store);
    for (size_t i = 0; i <= history.size(); ++i) {
      const std::string found = i < history.size() ? player.Apply(history[i]) : player.AtEnd();
      ASSERT_EQ(found, expected[i]) << "operation " << i;
    }
  }
  const HostStatistics s = Host::Get().statistics();
  ASSERT_EQ(s.charged_bytes, 0u);
  ASSERT_EQ(s.compaction_job_bytes + s.collection_job_bytes + s.scan_bytes, 0u);
}

uint64_t ChargesOf(const Workload& workload, const History& history,
                   const std::vector<std::string>& expected) {
  const Refusals none(UINT64_MAX, 0);
  Play(workload, history, expected);
  return none.asked();
}

TEST(MemoryRefusal, NoAnswerChangesWhicheverChargeIsRefused) {
  uint64_t once = 0, forever = 0, put_off = Host::Get().statistics().jobs_put_off;
  uint64_t overdrafts = Host::Get().statistics().memory_overdrafts;
  const uint64_t step = Variable("LAVA_TEST_STEP", kStep);
  for (const Workload& workload : Workloads()) {
    const History history = HistoryOf(workload);
    const std::vector<std::string> expected = AnswersOfModel(history);
    const uint64_t charges = ChargesOf(workload, history, expected);
    ASSERT_GT(charges, 0u);
    for (uint64_t n = 0; n < charges && !HasFatalFailure(); n += step) {
      SCOPED_TRACE("seed " + std::to_string(workload.seed) + ", option set " +
                   std::to_string(workload.option_set) + ", charge " + std::to_string(n));
      {
        const Refusals refusals(n, 1);
        Play(workload, history, expected, /*job_beside=*/true);
        once += refusals.refused();
      }
      if (n % 3 != 0 || HasFatalFailure()) continue;
      const Refusals refusals(n, UINT64_MAX);
      Play(workload, history, expected);
      forever += refusals.refused();
    }
  }
  put_off = Host::Get().statistics().jobs_put_off - put_off;
  overdrafts = Host::Get().statistics().memory_overdrafts - overdrafts;
  Count(once, "charges refused once");
  Count(forever, "charges refused from then on");
  Count(put_off, "jobs put off for want of memory");
  EXPECT_GT(put_off, 0u);
  EXPECT_GT(overdrafts, 0u) << "some job must exceed the budget alone";
}

}  // namespace
}  // namespace lava::testing
