// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>

#include "lava/host.h"
#include "testing/count.h"
#include "testing/variable.h"
#include "tests/history/generator.h"
#include "tests/history/lava_store.h"
#include "tests/history/model_answers.h"
#include "tests/history/model_store.h"
#include "tests/history/player.h"
#include "tests/history/report.h"
#include "tests/history/shrink.h"

// One history, over every public call, must get the same answers with any options, equal to those
// of sorted maps. Environment, all with defaults:
//   LAVA_TEST_SEED, LAVA_TEST_HISTORIES  the first seed, and how many
//   LAVA_TEST_OPERATIONS                 of each history
//   LAVA_TEST_OPTIONS                    "12,31": these option sets for each, else two by the seed
//   LAVA_TEST_KEEP                       "0-3,17": only these operations of the history
namespace lava::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr uint64_t kHistories = 24;
#elif defined(__SANITIZE_THREAD__)
constexpr uint64_t kHistories = 10;
#else
constexpr uint64_t kHistories = 64;
#endif

std::optional<Difference> Play(const History& history, const std::vector<std::string>& expected,
                               uint32_t option_set, uint64_t seed) {
  LavaStore store(OptionSetAt(option_set), seed);
  if (seed / 2 % 2 == 1) store.HaveMissingFiles();
  const Status opened = store.Open();
  if (!opened.ok()) return Difference{0, "opens", opened.ToString()};
  Player player(&store);
  for (size_t i = 0; i <= history.size(); ++i) {
    const std::string found = i < history.size() ? player.Apply(history[i]) : player.AtEnd();
    if (found != expected[i]) return Difference{i, expected[i], found};
  }
  return std::nullopt;
}

std::string Command(uint64_t seed, size_t operations, uint32_t option_set,
                    const std::string& keep) {
  return std::string(OnLavaFs() ? "LAVA_TEST_FILE_SYSTEM=lavafs " : "") +
         "LAVA_TEST_SEED=" + std::to_string(seed) +
         " LAVA_TEST_HISTORIES=1 LAVA_TEST_OPERATIONS=" + std::to_string(operations) +
         " LAVA_TEST_OPTIONS=" + std::to_string(option_set) +
         (keep.empty() ? "" : " LAVA_TEST_KEEP=" + keep) +
         " native/target/release/metamorphic_test\n";
}

void Report(uint64_t seed, const History& history, uint32_t option_set, const Difference& first) {
  std::cout << Describe(OptionSetAt(option_set)) << std::endl;
  const auto play = [&](const History& part) {
    return Play(part, AnswersOfModel(part), option_set, seed);
  };
  const auto command = [&](const std::string& keep) {
    return Command(seed, history.size(), option_set, keep);
  };
  // With threads the failure may not occur again.
  const bool certain = OptionSetAt(option_set).jobs != OptionSet::Jobs::kThreads;
  const size_t left = ReportDifference(history, first, play, command, certain ? 2000 : 20);
  ADD_FAILURE() << "a history of " << left << " operations, shrunk from " << history.size();
}

std::vector<uint32_t> OptionSetsFor(uint64_t seed) {
  std::vector<uint32_t> sets;
  if (const char* given = std::getenv("LAVA_TEST_OPTIONS")) {
    for (const size_t set : IndexesOf(given)) sets.push_back(static_cast<uint32_t>(set));
    return sets;
  }
#if defined(__SANITIZE_THREAD__)
  // The sets with threads: every eighth of the drawn ones.
  const auto turn = static_cast<uint32_t>(seed % 6);
  return {19 + 8 * turn, 19 + 8 * ((turn + 1) % 6)};
#endif
  // Each set has its turn, with a different neighbour in each round.
  const auto first = static_cast<uint32_t>(seed % kOptionSetCount);
  const auto distance = static_cast<uint32_t>(1 + seed / kOptionSetCount % (kOptionSetCount - 1));
  return {first, (first + distance) % kOptionSetCount};
}

TEST(Metamorphic, AnyOptionsGiveTheSameAnswers) {
  const uint64_t first = Variable("LAVA_TEST_SEED", 1);
  const uint64_t histories = Variable("LAVA_TEST_HISTORIES", kHistories);
  const size_t operations = Variable("LAVA_TEST_OPERATIONS", 1000);
  std::cout << "seeds " << first << " to " << first + histories - 1 << std::endl;
  uint64_t played = 0;
  for (uint64_t seed = first; seed < first + histories && !HasFailure(); ++seed) {
    GeneratorOptions options;
    options.operations = operations;
    History history = GenerateHistory(seed, options);
    if (const char* keep = std::getenv("LAVA_TEST_KEEP")) history = Keep(history, IndexesOf(keep));
    const std::vector<std::string> expected = AnswersOfModel(history);
    for (const uint32_t set : OptionSetsFor(seed)) {
      // Printed before the run, because an abort prints nothing.
      const std::string command = Command(seed, operations, set, "");
      std::cout << command << std::flush;
      if (const auto difference = Play(history, expected, set, seed))
        Report(seed, history, set, *difference);
      ASSERT_EQ(Host::Get().statistics().charged_bytes, 0u) << command;
    }
    ++played;
  }
  Count(played, "metamorphic histories, each under two option sets");
  Count(played * operations, "operations of metamorphic histories");
  const LavaStore::Totals& totals = LavaStore::TotalsOfAll();
  Count(totals.collections, "collections of value files in histories");
  Count(totals.values_logged, "values of histories logged as they were put");
  Count(totals.external_values, "values of histories that are the ends of entries");
  Count(totals.external_elements, "elements of lists in histories that are the ends of entries");
  Count(totals.entries_read, "entries of histories that were read");
  Count(totals.merged_value_bytes, "bytes of values that compactions in histories wrote anew");
  Count(totals.collection_values_dead, "values that collections in histories left behind");
  Count(totals.value_reads, "values read from value files in histories");
  Count(totals.missing_files, "missing files in histories");
  Count(totals.reads_that_needed_a_file, "reads in histories that needed a file first");
  Count(totals.missing_files_in_checkpoints, "files of checkpoints in histories that had not come");
}

// Tests the machinery: it detects a wrong store, and finds the few operations that show the error.
TEST(Metamorphic, ADefectIsSeenAndShrunkToWhatShowsIt) {
  GeneratorOptions options;
  const History history = GenerateHistory(5, options);
  const auto fails = [&](const std::vector<size_t>& kept) {
    const History part = Keep(history, kept);
    ForgetfulStore store;
    Player player(&store);
    std::vector<std::string> found;
    for (const Operation& operation : part) found.push_back(player.Apply(operation));
    found.push_back(player.AtEnd());
    return found != AnswersOfModel(part);
  };
  std::vector<size_t> all;
  for (size_t i = 0; i < history.size(); ++i) all.push_back(i);
  ASSERT_TRUE(fails(all));
  const std::vector<size_t> kept = Shrink(history.size(), fails, 2000);
  ASSERT_EQ(kept.size(), 2u);  // a put and the ignored delete
  EXPECT_EQ(history[kept[1]].op == Op::kDelete || history[kept[1]].op == Op::kBatch, true);
  EXPECT_EQ(IndexesOf(RangesOf(kept)), kept);
  EXPECT_EQ(RangesOf({0, 1, 2, 3, 17}), "0-3,17");
}

}  // namespace
}  // namespace lava::testing
