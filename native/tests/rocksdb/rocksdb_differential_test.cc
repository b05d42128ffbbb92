#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>

#include "testing/count.h"
#include "testing/variable.h"
#include "tests/history/generator.h"
#include "tests/history/lava_store.h"
#include "tests/history/model_store.h"
#include "tests/history/player.h"
#include "tests/history/report.h"
#include "tests/history/shrink.h"
#include "tests/rocksdb/rocksdb_store.h"

// LavaKV and RocksDB are asked the same: an oracle that others wrote. LAVA_TEST_SEED,
// LAVA_TEST_HISTORIES, LAVA_TEST_OPERATIONS and LAVA_TEST_KEEP are those of metamorphic_test.
namespace lava::testing {
namespace {

/// Both from their beginning; where they differ first.
std::optional<Difference> Play(const History& history, Store* oracle, Store* store) {
  Player expected(oracle), found(store);
  for (size_t i = 0; i <= history.size(); ++i) {
    const bool end = i == history.size();
    const std::string right = end ? expected.AtEnd() : expected.Apply(history[i]);
    const std::string other = end ? found.AtEnd() : found.Apply(history[i]);
    if (other != right) return Difference{i, right, other};
  }
  return std::nullopt;
}

std::optional<Difference> PlayLava(const History& history, uint64_t seed) {
  LavaStore lava(OptionSetAt(static_cast<uint32_t>(seed)), seed);
  const Status opened = lava.Open();
  if (!opened.ok()) return Difference{0, "opens", opened.ToString()};
  return Play(history, NewRocksDBStore().get(), &lava);
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
  uint64_t played = 0;
  for (uint64_t seed = first; seed < first + histories && !HasFailure(); ++seed) {
    SCOPED_TRACE("LAVA_TEST_SEED=" + std::to_string(seed));
    History history = GenerateHistory(seed, options);
    if (const char* keep = std::getenv("LAVA_TEST_KEEP")) history = Keep(history, IndexesOf(keep));
    if (const auto difference = PlayLava(history, seed)) {
      std::cout << Describe(OptionSetAt(static_cast<uint32_t>(seed))) << std::endl;
      const size_t left = ReportDifference(
          history, *difference, [&](const History& part) { return PlayLava(part, seed); },
          [&](const std::string& keep) { return Command(seed, history.size(), keep); });
      ADD_FAILURE() << "a history of " << left << " operations, shrunk from " << history.size();
    }
    ++played;
  }
  Count(played, "histories answered as RocksDB answers them");
}

// The machinery itself, with a store that is wrong.
TEST(RocksDBDifferential, ADifferenceIsShrunkAndSaysHowToRepeatIt) {
  const History history = GenerateHistory(5, {});
  const auto play = [](const History& part) {
    ForgetfulStore store;
    return Play(part, NewRocksDBStore().get(), &store);
  };
  const auto difference = play(history);
  ASSERT_TRUE(difference.has_value());
  ::testing::internal::CaptureStdout();
  const size_t left = ReportDifference(history, *difference, play, [&](const std::string& keep) {
    return Command(5, history.size(), keep);
  });
  const std::string said = ::testing::internal::GetCapturedStdout();
  EXPECT_LE(left, 3u) << said;  // a put, the delete that was forgotten
  const std::string begin = "Again: LAVA_TEST_SEED=5 LAVA_TEST_HISTORIES=1 LAVA_TEST_OPERATIONS=";
  const size_t keep = said.find(" LAVA_TEST_KEEP=");
  ASSERT_NE(said.find(begin), std::string::npos) << said;
  ASSERT_NE(keep, std::string::npos) << said;
  const std::string kept = said.substr(keep + 16, said.find(' ', keep + 1) - keep - 16);
  EXPECT_EQ(IndexesOf(kept).size(), left);
  EXPECT_TRUE(play(Keep(history, IndexesOf(kept))).has_value()) << "the line repeats it";
}

}  // namespace
}  // namespace lava::testing
