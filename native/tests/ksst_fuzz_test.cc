// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fuzz/ksst_input.h"
#include "fuzz_test_util.h"

namespace lava::testing {
namespace {

TEST(KsstFuzzTest, Corpus) { RunCorpus("ksst", fuzzing::RunKsstInput, fuzzing::KsstSeeds()); }

/// Edits with corrected checksums reach the decoders.
TEST(KsstFuzzTest, SeededEdits) {
  Random random(2013);
  constexpr uint64_t kRounds = 100'000 / kSlowness;
  for (uint64_t round = 0; round < kRounds; ++round) {
    std::string input(1, static_cast<char>(random.Next() | 1));
    for (uint64_t edits = random.Between(1, 4); edits > 0; --edits) input += random.Bytes(3);
    SCOPED_TRACE("round " + std::to_string(round));
    RunOne(fuzzing::RunKsstInput, input);
  }
  PrintExecutions("ksst", kRounds);
}

TEST(KsstFuzzTest, SeededDamageOfAWholeFile) {
  Random random(7);
  constexpr uint64_t kRounds = 40'000 / kSlowness;
  for (uint64_t round = 0; round < kRounds; ++round) {
    std::string input = fuzzing::GoodFileOf(static_cast<uint8_t>(random.Next())).bytes;
    if (random.OneIn(3)) input.resize(random.Uniform(input.size()));
    for (uint64_t edits = random.Uniform(3); edits > 0 && !input.empty(); --edits)
      input[random.Uniform(input.size())] = static_cast<char>(random.Next());
    SCOPED_TRACE("round " + std::to_string(round));
    RunOne(fuzzing::RunKsstInput, '\0' + input);
  }
  PrintExecutions("ksst", kRounds);
}

}  // namespace
}  // namespace lava::testing
