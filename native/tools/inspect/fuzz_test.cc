// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fuzz/inspect_input.h"
#include "tests/fuzz_test_util.h"

// Like native/tests/parsers_fuzz_test.cc, for the tool's parsers of Flink's files.
namespace lava::testing {
namespace {

TEST(InspectFuzz, Corpus) {
  RunCorpus("inspect", fuzzing::RunInspectProgramInput, fuzzing::InspectSeeds());
}
TEST(InspectFuzz, SeededMutations) {
  RunMutations("inspect", fuzzing::RunInspectProgramInput, fuzzing::InspectSeeds(), 20'000, 7);
}

}  // namespace
}  // namespace lava::testing
