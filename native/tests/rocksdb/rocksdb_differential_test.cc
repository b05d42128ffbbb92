// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>

#include "memory/large_memory.h"
#include "testing/count.h"
#include "testing/variable.h"
#include "tests/history/generator.h"
#include "tests/history/lava_store.h"
#include "tests/history/model_store.h"
#include "tests/history/player.h"
#include "tests/history/report.h"
#include "tests/history/shrink.h"
#include "tests/rocksdb/rocksdb_store.h"

// Compares LavaKV with RocksDB, an independent oracle. LAVA_TEST_SEED, LAVA_TEST_HISTORIES,
// LAVA_TEST_OPERATIONS and LAVA_TEST_KEEP are those of metamorphic_test.
namespace lava::testing {
namespace {

// RocksDB asks malloc for the size of each of its blocks. RocksDB also uses this program's operator
// new, so none of its memory may come from the page pool.
[[maybe_unused]] const bool has_malloc_alone = [] {
  large_bytes_min = SIZE_MAX;
  return true;
}();

std::string AnswerTo(Player* player, const History& history, size_t index) {
  return index == history.size() ? player->AtEnd() : player->Apply(history[index]);
}

// RocksDB 7.8 may lose data in Get() that its iterator shows: operands merged, after a snapshot,
// into a value that was put after a range deletion, once this is compacted.
bool ContradictsItself(const std::string& answer) {
  return answer.find(" a scan and a get of ") != std::string::npos;
}

std::string AnswerOfModel(const History& history, size_t index) {
  ModelStore model;
  Player player(&model);
  for (size_t i = 0; i < index; ++i) player.Apply(history[i]);
  return AnswerTo(&player, history, index);
}

/// Plays both from the beginning; returns the first difference. If the oracle contradicts itself,
/// the model decides, `contradictions` is incremented, and the history ends.
std::optional<Difference> Play(const History& history, Store* oracle, Store* store,
                               uint64_t* contradictions) {
  Player expected(oracle), found(store);
  for (size_t i = 0; i <= history.size(); ++i) {
    const std::string right = AnswerTo(&expected, history, i);
    const std::string other = AnswerTo(&found, history, i);
    if (other == right) continue;
    if (!ContradictsItself(right)) return Difference{i, right, other};
    const std::string decided = AnswerOfModel(history, i);
    if (other != decided) return Difference{i, decided, other};
    ++*contradictions;
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Difference> PlayLava(const History& history, uint64_t seed,
                                   uint64_t* contradictions) {
  LavaStore lava(OptionSetAt(static_cast<uint32_t>(seed)), seed);
  const Status opened = lava.Open();
  if (!opened.ok()) return Difference{0, "opens", opened.ToString()};
  return Play(history, NewRocksDBStore().get(), &lava, contradictions);
}

std::string Command(uint64_t seed, size_t operations, const std::string& keep) {
  return "LAVA_TEST_SEED=" + std::to_string(seed) +
         " LAVA_TEST_HISTORIES=1 LAVA_TEST_OPERATIONS=" + std::to_string(operations) +
         " LAVA_TEST_KEEP=" + keep + " native/target/release/rocksdb_differential_test\n";
}

TEST(RocksDBDifferential, BothAnswerTheSame) {
  const uint64_t first = Variable("LAVA_TEST_SEED", 1);
  const uint64_t histories = Variable("LAVA_TEST_HISTORIES", 100);
  GeneratorOptions options;
  options.operations = Variable("LAVA_TEST_OPERATIONS", 1000);
  uint64_t played = 0, contradictions = 0;
  for (uint64_t seed = first; seed < first + histories && !HasFailure(); ++seed) {
    SCOPED_TRACE("LAVA_TEST_SEED=" + std::to_string(seed));
    History history = GenerateHistory(seed, options);
    if (const char* keep = std::getenv("LAVA_TEST_KEEP")) history = Keep(history, IndexesOf(keep));
    if (const auto difference = PlayLava(history, seed, &contradictions)) {
      std::cout << Describe(OptionSetAt(static_cast<uint32_t>(seed))) << std::endl;
      const size_t left = ReportDifference(
          history, *difference,
          [&](const History& part) { return PlayLava(part, seed, &contradictions); },
          [&](const std::string& keep) { return Command(seed, history.size(), keep); });
      ADD_FAILURE() << "a history of " << left << " operations, shrunk from " << history.size();
    }
    ++played;
  }
  Count(played - contradictions, "histories answered as RocksDB answers them");
  Count(contradictions, "histories until RocksDB contradicted itself");
  EXPECT_LE(contradictions, 1 + played / 100)
      << "RocksDB contradicted itself in too many histories";
}

// Found by rocksdb-long; an error of RocksDB.
TEST(RocksDBDifferential, WhereRocksDBContradictsItselfTheModelDecides) {
  const uint64_t seed = 207821263;
  const History history =
      Keep(GenerateHistory(seed, {.operations = 1000}), {378, 482, 483, 492, 529, 694, 699, 710});
  uint64_t contradictions = 0;
  const auto difference = PlayLava(history, seed, &contradictions);
  EXPECT_FALSE(difference.has_value()) << difference->expected << " but " << difference->found;
  // A wrong store is detected nevertheless.
  ForgetfulStore store;
  const History all = GenerateHistory(seed, {.operations = 1000});
  EXPECT_TRUE(Play(all, NewRocksDBStore().get(), &store, &contradictions).has_value());
}

// Tests the machinery with a wrong store.
TEST(RocksDBDifferential, ADifferenceIsShrunkAndSaysHowToRepeatIt) {
  const History history = GenerateHistory(5, {});
  const auto play = [](const History& part) {
    ForgetfulStore store;
    uint64_t contradictions = 0;
    return Play(part, NewRocksDBStore().get(), &store, &contradictions);
  };
  const auto difference = play(history);
  ASSERT_TRUE(difference.has_value());
  ::testing::internal::CaptureStdout();
  const size_t left = ReportDifference(history, *difference, play, [&](const std::string& keep) {
    return Command(5, history.size(), keep);
  });
  const std::string said = ::testing::internal::GetCapturedStdout();
  EXPECT_LE(left, 3u) << said;  // a put, and the ignored delete
  const std::string begin = "Again: LAVA_TEST_SEED=5 LAVA_TEST_HISTORIES=1 LAVA_TEST_OPERATIONS=";
  const size_t keep = said.find(" LAVA_TEST_KEEP=");
  ASSERT_NE(said.find(begin), std::string::npos) << said;
  ASSERT_NE(keep, std::string::npos) << said;
  const std::string kept = said.substr(keep + 16, said.find(' ', keep + 1) - keep - 16);
  EXPECT_EQ(IndexesOf(kept).size(), left);
  EXPECT_TRUE(play(Keep(history, IndexesOf(kept))).has_value())
      << "the printed line must repeat the difference";
}

}  // namespace
}  // namespace lava::testing
