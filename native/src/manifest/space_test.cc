// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "manifest/space.h"

#include "manifest/blob_files_for_test.h"
#include "manifest/sums.h"

namespace lava {
namespace {

std::shared_ptr<FileMeta> Keys(uint64_t number, uint64_t bytes,
                               std::vector<BlobReference> blob_files, std::string lower = "a",
                               std::string upper = "z") {
  std::shared_ptr<FileMeta> meta =
      KeyFileOf(number, std::move(blob_files), std::move(lower), std::move(upper));
  meta->bytes = bytes;
  return meta;
}

Version TreeOf(const std::vector<std::vector<std::shared_ptr<FileMeta>>>& levels) {
  Version version;
  for (size_t n = 0; n < levels.size(); ++n)
    for (const auto& file : levels[n]) version.levels[n].push_back(WholeOf(file));
  return version;
}

void Hold(Version* version, uint64_t number, uint64_t raw_bytes, uint64_t bytes) {
  const std::shared_ptr<ValueFileMeta> file = NewValueFile(number, 10, raw_bytes);
  file->bytes = bytes;
  version->value_files[file->id] = {file, 1};
}

// The version was not made by an edit, so its sums are counted here.
VersionSpace SpaceIn(Version version, const MetBelow& met) {
  version.sums = CountSums(version);
  return SpaceOf(version, met);
}

MetBelow Met(double part) {
  MetBelow met;
  met.part.fill(part);
  return met;
}

TEST(Space, ARecordThatPassesOneLevelMayMeetAnOlderOneInTheNext) {
  MetBelow met = Met(0);
  EXPECT_EQ(met.Hiding(0, 3), 0);
  met.part[1] = 0.5;
  met.part[2] = 0.5;
  EXPECT_EQ(met.Hiding(0, 3), 0.75);
  EXPECT_EQ(met.Hiding(2, 3), 0.5);
  EXPECT_EQ(met.Hiding(3, 3), 0);
  EXPECT_EQ(MetBelow().Hiding(1, 2), 1) << "the estimate must be 1 while nothing is known";
}

TEST(Space, OneRunHidesNothing) {
  Version version = TreeOf({{}, {Keys(1, 100, {}), Keys(2, 50, {})}});
  for (const double overwritten : {0.0, 1.0}) {
    const VersionSpace space = SpaceIn(version, Met(overwritten));
    EXPECT_EQ(space.key_file_bytes, 150u);
    EXPECT_EQ(space.live_bytes, 150u);
    EXPECT_EQ(space.hidden_key_bytes, 0u);
  }
  EXPECT_EQ(SpaceIn(Version(), Met(1)).live_bytes, 0u);
}

TEST(Space, UpperRecordsHideAsManyBytesAsCompactionsFoundOverwritten) {
  Version version = TreeOf({{Keys(1, 10, {{IdOf(11), 1, 1000}})},
                            {Keys(2, 30, {{IdOf(12), 3, 3000}})},
                            {Keys(3, 100, {{IdOf(13), 10, 10000}})}});
  // The values are stored at half their size.
  Hold(&version, 11, 1000, 500);
  Hold(&version, 12, 3000, 1500);
  Hold(&version, 13, 10000, 5000);
  VersionSpace space = SpaceIn(version, Met(0));
  EXPECT_EQ(space.live_bytes, 140u + 7000u);
  space = SpaceIn(version, Met(1));
  EXPECT_EQ(space.hidden_key_bytes, 40u);
  EXPECT_EQ(space.hidden_raw_value_bytes, 4000u);
  EXPECT_EQ(space.hidden_value_bytes, 2000u);
  EXPECT_EQ(space.live_bytes, 100u + 5000u);
  // Half of the middle level hides something, and three quarters of the level above it.
  EXPECT_EQ(SpaceIn(version, Met(0.5)).hidden_key_bytes, 7u + 15u);
  EXPECT_EQ(SpaceIn(version, Met(0.5)).hidden_raw_value_bytes, 750u + 1500u);
}

TEST(Space, WhatNoReferenceNamesDoesNotLive) {
  Version version = TreeOf({{}, {Keys(1, 100, {{IdOf(11), 1, 400}})}});
  Hold(&version, 11, 1000, 1000);
  const VersionSpace space = SpaceIn(version, Met(1));
  EXPECT_EQ(space.value_file_bytes, 1000u);
  EXPECT_EQ(space.live_bytes, 500u);
}

TEST(Space, FilesOfL0HideEachOtherWhenThereIsNothingElse) {
  Version version = TreeOf({{Keys(2, 20, {}), Keys(1, 100, {})}});
  EXPECT_EQ(SpaceIn(version, Met(1)).live_bytes, 100u);
  EXPECT_EQ(SpaceIn(version, Met(0)).live_bytes, 120u);
}

TEST(Space, AFileThatStandsTwiceIsThereOnce) {
  const std::shared_ptr<FileMeta> file = Keys(1, 100, {{IdOf(11), 10, 1000}});
  Version version;
  version.levels[1] = {{file, "a", "c"}, {file, "m", "p"}};
  Hold(&version, 11, 1000, 1000);
  const VersionSpace space = SpaceIn(version, Met(1));
  EXPECT_EQ(space.key_file_bytes, 100u);
  EXPECT_EQ(space.live_bytes, 1100u);
}

}  // namespace
}  // namespace lava
