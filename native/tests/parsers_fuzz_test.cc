// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fuzz/blocks_input.h"
#include "fuzz/entries_input.h"
#include "fuzz/framing_input.h"
#include "fuzz/list_input.h"
#include "fuzz/log_input.h"
#include "fuzz/manifest_input.h"
#include "fuzz/metadata_input.h"
#include "fuzz/vblocks_input.h"
#include "fuzz/volume_input.h"
#include "fuzz_test_util.h"

// The committed inputs and a fixed number of mutations for each parser, except the key SST's, which
// has a separate test. native/fuzz/run.sh runs many more, guided by coverage.
namespace lava::testing {
namespace {

TEST(EntriesFuzz, Corpus) {
  RunCorpus("entries", fuzzing::RunEntriesInput, fuzzing::EntriesSeeds());
}
TEST(EntriesFuzz, SeededMutations) {
  RunMutations("entries", fuzzing::RunEntriesInput, fuzzing::EntriesSeeds(), 300'000, 9);
}

TEST(FramingFuzz, Corpus) {
  RunCorpus("framing", fuzzing::RunFramingInput, fuzzing::FramingSeeds());
}
TEST(FramingFuzz, SeededMutations) {
  RunMutations("framing", fuzzing::RunFramingInput, fuzzing::FramingSeeds(), 400'000, 1);
}

TEST(ListFuzz, Corpus) { RunCorpus("list", fuzzing::RunListInput, fuzzing::ListSeeds()); }
TEST(ListFuzz, SeededMutations) {
  RunMutations("list", fuzzing::RunListInput, fuzzing::ListSeeds(), 400'000, 2);
}

TEST(LogFuzz, Corpus) { RunCorpus("log", fuzzing::RunLogInput, fuzzing::LogSeeds()); }
TEST(LogFuzz, SeededMutations) {
  RunMutations("log", fuzzing::RunLogInput, fuzzing::LogSeeds(), 100'000, 8);
}

TEST(ManifestFuzz, Corpus) {
  RunCorpus("manifest", fuzzing::RunManifestInput, fuzzing::ManifestSeeds());
}
TEST(ManifestFuzz, SeededMutations) {
  RunMutations("manifest", fuzzing::RunManifestInput, fuzzing::ManifestSeeds(), 150'000, 3);
}

TEST(MetadataFuzz, Corpus) {
  RunCorpus("metadata", fuzzing::RunMetadataInput, fuzzing::MetadataSeeds());
}
TEST(MetadataFuzz, SeededMutations) {
  RunMutations("metadata", fuzzing::RunMetadataInput, fuzzing::MetadataSeeds(), 300'000, 4);
}

TEST(BlocksFuzz, Corpus) { RunCorpus("blocks", fuzzing::RunBlocksInput, fuzzing::BlocksSeeds()); }
TEST(BlocksFuzz, SeededMutations) {
  RunMutations("blocks", fuzzing::RunBlocksInput, fuzzing::BlocksSeeds(), 1'000'000, 5);
}

TEST(VblocksFuzz, Corpus) {
  RunCorpus("vblocks", fuzzing::RunVblocksInput, fuzzing::VblocksSeeds());
}
TEST(VblocksFuzz, SeededMutations) {
  RunMutations("vblocks", fuzzing::RunVblocksInput, fuzzing::VblocksSeeds(), 1'000'000, 6);
}

TEST(VolumeFuzz, Corpus) { RunCorpus("volume", fuzzing::RunVolumeInput, fuzzing::VolumeSeeds()); }
TEST(VolumeFuzz, SeededMutations) {
  RunMutations("volume", fuzzing::RunVolumeInput, fuzzing::VolumeSeeds(), 150'000, 7);
}

}  // namespace
}  // namespace lava::testing
