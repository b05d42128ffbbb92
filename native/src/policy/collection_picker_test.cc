// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/collection_picker.h"

#include <gtest/gtest.h>

namespace lava {
namespace {

using Picked = std::vector<size_t>;

TEST(CollectionPicker, TakesTheDirtiestFirstAndOnlyWhatPassesTheThreshold) {
  const CollectionOptions options{.garbage_percent = 25, .live_bytes_max = 1000};
  EXPECT_EQ(PickGarbage({{100, 24}, {100, 25}, {100, 30}, {100, 28}}, options), (Picked{2, 3, 1}));
  EXPECT_EQ(PickGarbage({{100, 24}}, options), Picked{});
  EXPECT_EQ(PickGarbage({}, options), Picked{});
}

TEST(CollectionPicker, LeavesWhatIsMuchCleanerThanTheDirtiestToGatherMore) {
  const CollectionOptions options{.garbage_percent = 25, .live_bytes_max = 1000};
  EXPECT_EQ(PickGarbage({{100, 61}, {100, 80}, {100, 59}}, options), (Picked{1, 0}));
}

TEST(CollectionPicker, OfEqualsTakesHotOnesFirst) {
  const CollectionOptions options{.garbage_percent = 25, .live_bytes_max = 1000};
  EXPECT_EQ(PickGarbage({{100, 50}, {100, 50, false, true}, {100, 60}, {200, 100}}, options),
            (Picked{2, 1, 0, 3}));
}

TEST(CollectionPicker, WaitsForMoreGarbageInWhatACheckpointHas) {
  const CollectionOptions options{
      .garbage_percent = 25, .checkpoint_percent = 50, .live_bytes_max = 1000};
  const CollectableFile young{100, 40}, old{100, 40, false, false, true},
      dirty{100, 50, false, false, true};
  EXPECT_EQ(PickGarbage({old, young, dirty}, options), (Picked{2, 1}));
  EXPECT_EQ(PickGarbage({old}, options), Picked{});
}

TEST(CollectionPicker, LeavesOutWhatIsBusyAndWhatHasNoGarbage) {
  const CollectionOptions options{.garbage_percent = 0, .live_bytes_max = 1000};
  EXPECT_EQ(PickGarbage({{100, 60, true}, {100, 0}, {0, 0}, {100, 1}}, options), Picked{3});
}

TEST(CollectionPicker, StopsAtWhatOneJobShouldCopyButTakesOneAtLeast) {
  const CollectionOptions options{.garbage_percent = 25, .live_bytes_max = 100};
  EXPECT_EQ(PickGarbage({{1000, 500}, {1000, 400}}, options), Picked{0});
  EXPECT_EQ(PickGarbage({{100, 50}, {100, 60}, {100, 48}}, options), (Picked{1, 0}));
}

TEST(CollectionPicker, TakesNoMoreFilesThanOneJobMergesWell) {
  const std::vector<CollectableFile> files(20, CollectableFile{100, 100});
  EXPECT_EQ(PickGarbage(files, {}).size(), kCollectableFilesMax);
}

TEST(CollectionPicker, IsOffAboveAHundredPercent) {
  EXPECT_EQ(PickGarbage({{100, 100}}, {.garbage_percent = 101}), Picked{});
}

}  // namespace
}  // namespace lava
