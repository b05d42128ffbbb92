#include "policy/value_merge_picker.h"

#include <gtest/gtest.h>

namespace lava {
namespace {

using Picked = std::vector<size_t>;

MergeableFile Garbage(uint64_t garbage, uint64_t reached) {
  return {.range = {"a", "b"},
          .raw_bytes = 100,
          .records = 10,
          .garbage = garbage,
          .referenced = 100 - garbage,
          .reached = reached};
}

// n files over one range.
std::vector<MergeableFile> Tangled(size_t n) {
  return std::vector<MergeableFile>(
      n, {.range = {"a", "z"}, .raw_bytes = 100, .referenced = 100, .reached = 10});
}

TEST(ValueMergePicker, TakesGarbageThatGoesWithTheInputs) {
  const ValueMergeOptions options{.garbage_percent = 25, .sorted_runs_max = 0, .bytes_max = 1000};
  EXPECT_EQ(PickValueMerge({Garbage(25, 75)}, options), Picked{0});
  EXPECT_EQ(PickValueMerge({Garbage(24, 76)}, options), Picked{}) << "too little of it";
  EXPECT_EQ(PickValueMerge({Garbage(50, 45)}, options), Picked{0});
  EXPECT_EQ(PickValueMerge({Garbage(50, 44)}, options), Picked{}) << "others keep it alive";
  EXPECT_EQ(PickValueMerge({Garbage(0, 100)}, {.garbage_percent = 0, .bytes_max = 1000}), Picked{});
  EXPECT_EQ(PickValueMerge({Garbage(100, 1)}, {.garbage_percent = 101, .bytes_max = 1000}),
            Picked{});
}

TEST(ValueMergePicker, LeavesLargeValuesToTheCollector) {
  const ValueMergeOptions options{
      .garbage_percent = 25, .sorted_runs_max = 0, .bytes_max = 1 << 20};
  MergeableFile file = Garbage(50, 50);
  file.raw_bytes = 10 * 1024;
  file.garbage = file.referenced = file.reached = 5 * 1024;
  EXPECT_EQ(PickValueMerge({file}, options), Picked{0}) << "1 KiB each";
  file.records = 9;
  EXPECT_EQ(PickValueMerge({file}, options), Picked{});
}

TEST(ValueMergePicker, LeavesOutWhatIsBusyAndWhatTheInputsDoNotReach) {
  const ValueMergeOptions options{.garbage_percent = 25, .sorted_runs_max = 0, .bytes_max = 1000};
  std::vector<MergeableFile> files = {Garbage(50, 50), Garbage(100, 0), Garbage(50, 50)};
  files[0].busy = true;
  EXPECT_EQ(PickValueMerge(files, options), Picked{2});
}

TEST(ValueMergePicker, TakesNoMoreThanOneJobShouldWrite) {
  const ValueMergeOptions options{.garbage_percent = 25, .sorted_runs_max = 0, .bytes_max = 100};
  EXPECT_EQ(PickValueMerge({Garbage(50, 50), Garbage(40, 60), Garbage(50, 50)}, options),
            (Picked{0, 2}));
  EXPECT_EQ(PickValueMerge({Garbage(30, 70), Garbage(40, 60), Garbage(60, 40)}, options),
            (Picked{1, 2}))
      << "the dirtiest";
}

TEST(ValueMergePicker, MergesForOrderWhatOverlapsManyOthersAsFarAsScansPaid) {
  ValueMergeOptions options{.sorted_runs_max = 3, .order_bytes_max = 100, .bytes_max = 1000};
  EXPECT_EQ(PickValueMerge(Tangled(3), options), Picked{}) << "each meets two others";
  EXPECT_EQ(PickValueMerge(Tangled(4), options), (Picked{0, 1, 2, 3}));
  options.order_bytes_max = 25;
  EXPECT_EQ(PickValueMerge(Tangled(4), options).size(), 2u);
  options.order_bytes_max = 0;
  EXPECT_EQ(PickValueMerge(Tangled(4), options), Picked{}) << "nobody scanned";
  options.order_bytes_max = 100;
  options.sorted_runs_max = 0;
  EXPECT_EQ(PickValueMerge(Tangled(4), options), Picked{}) << "switched off";
}

TEST(ValueMergePicker, PrefersTheMostEntangled) {
  std::vector<MergeableFile> files = Tangled(5);
  files[0].range = files[1].range = {"a", "c"};
  files[2].range = {"d", "f"};
  const ValueMergeOptions options{.sorted_runs_max = 2, .order_bytes_max = 20, .bytes_max = 1000};
  EXPECT_EQ(PickValueMerge(files, options), (Picked{3, 4}));
}

}  // namespace
}  // namespace lava
