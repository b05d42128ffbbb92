// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/value_rules.h"

#include <gtest/gtest.h>

#include <deque>
#include <span>
#include <sstream>

namespace lava {
namespace {

// Files are written as text, one per line:
//   lower-upper of 100 garbage 25 reached 75 [level 1] [records 10] [busy] [uploaded]
// The bytes that are not garbage are referenced.
struct FilesByText {
  explicit FilesByText(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string word;
      if (!(words >> word)) continue;
      MergeableFile file;
      file.records = 10;
      const size_t dash = word.find('-');
      file.range = {strings.emplace_back(word.substr(0, dash)),
                    strings.emplace_back(word.substr(dash + 1))};
      while (words >> word) {
        if (word == "busy") file.busy = true;
        if (word == "uploaded") file.in_checkpoint = true;
        if (word == "of") words >> file.raw_bytes;
        if (word == "garbage") words >> file.garbage;
        if (word == "reached") words >> file.reached;
        if (word == "level") words >> file.level;
        if (word == "records") words >> file.records;
      }
      file.referenced = file.raw_bytes - file.garbage;
      files.push_back(file);
    }
  }
  std::deque<std::string> strings;
  std::vector<MergeableFile> files;
};

std::string Judge(ValuePolicy policy, const std::string& files, const ValueMergeOptions& options) {
  std::string text;
  for (const ValueMergeReason reason :
       RulesOf(policy).JudgeMerge(FilesByText(files).files, options))
    text += std::string(NameOf(reason)) + "\n";
  return text;
}

struct RuleRow {
  const char* name;
  const char* files;
  const char* reasons;
};

ValueMergeOptions MergeOptionsForTest() {
  return {.garbage_percent = 25,
          .checkpoint_percent = 50,
          .sorted_runs_max = 3,
          .order_bytes_max = 100,
          .bytes_max = 1000};
}

void Expect(ValuePolicy policy, const ValueMergeOptions& options, std::span<const RuleRow> rows) {
  for (const RuleRow& row : rows)
    EXPECT_EQ(Judge(policy, row.files, options), row.reasons) << row.name;
}

TEST(ValueRules, AutomaticTakesGarbageThatGoesWithTheInputs) {
  const RuleRow rows[] = {
      {"the file has enough garbage", "a-b of 100 garbage 25 reached 75",
       "merged, for its garbage\n"},
      {"the file has too little garbage", "a-b of 100 garbage 24 reached 76",
       "left, nothing is gained\n"},
      {"up to a tenth of the live bytes may be left", "a-b of 100 garbage 50 reached 45",
       "merged, for its garbage\n"},
      {"other references keep the file alive", "a-b of 100 garbage 50 reached 44",
       "left to a collection\n"},
      {"the inputs reference none of the values", "a-b of 100 garbage 50 reached 0",
       "left, nothing of it is reached\n"},
      {"busy", "a-b of 100 garbage 50 reached 50 busy", "left, another job has it\n"},
      {"the values have 1 KiB each", "a-b of 10240 garbage 9740 reached 500 records 10",
       "merged, for its garbage\n"},
      {"files with larger values are collected", "a-b of 10240 garbage 9740 reached 500 records 9",
       "left to a collection\n"},
      {"an uploaded file needs more garbage", "a-b of 100 garbage 49 reached 51 uploaded",
       "left, nothing is gained\n"},
      {"an uploaded file is not left for ever", "a-b of 100 garbage 50 reached 50 uploaded",
       "merged, for its garbage\n"},
  };
  Expect(ValuePolicy::kAutomatic, MergeOptionsForTest(), rows);
  ValueMergeOptions none = MergeOptionsForTest();
  none.garbage_percent = 101;
  EXPECT_EQ(Judge(ValuePolicy::kAutomatic, "a-b of 100 garbage 99 reached 1", none),
            "left, nothing is gained\n");
}

TEST(ValueRules, TheDirtiestComeFirstAsFarAsTheJobAllows) {
  ValueMergeOptions options = MergeOptionsForTest();
  options.bytes_max = 100;
  const RuleRow rows[] = {
      {"the two files with the most garbage fill the job",
       "a-b of 100 garbage 50 reached 50\na-b of 100 garbage 40 reached 60\n"
       "a-b of 100 garbage 50 reached 50",
       "merged, for its garbage\nleft, the job is large enough\nmerged, for its garbage\n"},
      {"the files with the most garbage come first",
       "a-b of 100 garbage 30 reached 70\na-b of 100 garbage 40 reached 60\n"
       "a-b of 100 garbage 60 reached 40",
       "left, the job is large enough\nmerged, for its garbage\nmerged, for its garbage\n"},
  };
  Expect(ValuePolicy::kAutomatic, options, rows);
}

const char* const kOverlapping =
    "a-z of 100 garbage 0 reached 10\na-z of 100 garbage 0 reached 10\n"
    "a-z of 100 garbage 0 reached 10\na-z of 100 garbage 0 reached 10";

TEST(ValueRules, AutomaticMergesForOrderWhatScansPaidFor) {
  const std::string merged = "merged, for its overlaps\n", unpaid = "left, too few scans\n";
  ValueMergeOptions options = MergeOptionsForTest();
  EXPECT_EQ(Judge(ValuePolicy::kAutomatic, kOverlapping, options),
            merged + merged + merged + merged);
  options.order_bytes_max = 25;
  EXPECT_EQ(Judge(ValuePolicy::kAutomatic, kOverlapping, options),
            merged + merged + unpaid + unpaid);
  options.order_bytes_max = 0;
  EXPECT_EQ(Judge(ValuePolicy::kAutomatic, kOverlapping, options),
            unpaid + unpaid + unpaid + unpaid);
  options = MergeOptionsForTest();
  options.order_bytes_max = 60;
  options.upload_cost_percent = 300;
  EXPECT_EQ(Judge(ValuePolicy::kAutomatic,
                  "a-z of 100 garbage 0 reached 10 uploaded\na-z of 100 garbage 0 reached 10\n"
                  "a-z of 100 garbage 0 reached 10 uploaded\na-z of 100 garbage 0 reached 10",
                  options),
            merged + merged + unpaid + merged)
      << "the rewrite of an uploaded file must cost four times as much";
  options = MergeOptionsForTest();
  options.low_enough = false;
  EXPECT_EQ(Judge(ValuePolicy::kAutomatic,
                  "a-z of 9 garbage 0 reached 1\n" + std::string(kOverlapping), options)
                .substr(0, 28),
            "left, the level is too high\n");
  options = MergeOptionsForTest();
  options.sorted_runs_max = 4;
  EXPECT_EQ(Judge(ValuePolicy::kAutomatic, kOverlapping, options).substr(0, 24),
            "left, nothing is gained\n")
      << "each file overlaps three others, which is not too many";
  options.sorted_runs_max = 0;
  EXPECT_EQ(Judge(ValuePolicy::kAutomatic, kOverlapping, options).substr(0, 24),
            "left, nothing is gained\n")
      << "the merge for order is switched off";
  options = MergeOptionsForTest();
  options.sorted_runs_max = 2;
  options.order_bytes_max = 20;
  EXPECT_EQ(Judge(ValuePolicy::kAutomatic,
                  "a-c of 100 garbage 0 reached 10\na-c of 100 garbage 0 reached 10\n"
                  "d-f of 100 garbage 0 reached 10\n"
                  "a-z of 100 garbage 0 reached 10\na-z of 100 garbage 0 reached 10",
                  options),
            unpaid + unpaid + unpaid + merged + merged)
      << "the files that overlap most must be merged first";
}

TEST(ValueRules, CollectAndGreedyMergeNothing) {
  for (const ValuePolicy policy : {ValuePolicy::kCollect, ValuePolicy::kGreedy}) {
    const RuleRow rows[] = {
        {"garbage", "a-b of 100 garbage 90 reached 10", "left to a collection\n"},
        {"no garbage", "a-b of 100 garbage 0 reached 10", "left, nothing is gained\n"},
        {"the inputs reference none of the values", "a-b of 100 garbage 90 reached 0",
         "left, nothing of it is reached\n"},
    };
    Expect(policy, MergeOptionsForTest(), rows);
    EXPECT_EQ(Judge(policy, kOverlapping, MergeOptionsForTest()).find("merged"), std::string::npos);
  }
}

TEST(ValueRules, MergeTakesWhatMovesDownAndWhatOverlapsOrIsDirtyBelow) {
  const RuleRow rows[] = {
      {"values of a higher level move down with their keys",
       "a-b of 100 garbage 0 reached 10 level 0", "merged, its keys move down\n"},
      {"values of the output level stay", "a-b of 100 garbage 0 reached 10 level 1",
       "left, nothing is gained\n"},
      {"a file with much garbage is merged, whoever else references it",
       "a-b of 100 garbage 25 reached 5 level 1", "merged, for its garbage\n"},
      {"overlapping files are merged although no scan paid for it",
       "a-b of 100 garbage 0 reached 90 level 1\na-b of 100 garbage 0 reached 90 level 1\n"
       "a-b of 100 garbage 0 reached 90 level 1\na-b of 100 garbage 0 reached 90 level 1",
       "merged, for its overlaps\nmerged, for its overlaps\nmerged, for its overlaps\n"
       "merged, for its overlaps\n"},
      {"busy", "a-b of 100 garbage 50 reached 5 busy", "left, another job has it\n"},
      {"files with large values are merged as well", "a-b of 99999 garbage 0 reached 500 records 1",
       "merged, its keys move down\n"},
      {"the job must not exceed its limit", "a-b of 9999 garbage 0 reached 1001",
       "left, the job is large enough\n"},
  };
  Expect(ValuePolicy::kMerge, MergeOptionsForTest(), rows);
  ValueMergeOptions high = MergeOptionsForTest();
  high.low_enough = false;
  EXPECT_EQ(Judge(ValuePolicy::kMerge, "a-b of 100 garbage 90 reached 10", high),
            "left, the level is too high\n");
}

TEST(ValueRules, Collections) {
  using Choice = std::vector<size_t>;
  const std::vector<CollectableFile> files = {
      {.raw_bytes = 100, .garbage = 60},
      {.raw_bytes = 100, .garbage = 70, .in_checkpoint = true},
      {.raw_bytes = 100, .garbage = 60, .hot = true}};
  const CollectionOptions options{
      .garbage_percent = 25, .checkpoint_percent = 80, .live_bytes_max = 1000};
  EXPECT_EQ(RulesOf(ValuePolicy::kAutomatic).PickCollection(files, options), (Choice{2, 0}));
  EXPECT_EQ(RulesOf(ValuePolicy::kCollect).PickCollection(files, options), (Choice{2, 0}));
  EXPECT_EQ(RulesOf(ValuePolicy::kGreedy).PickCollection(files, options), Choice{1})
      << "only the file with the most garbage, although it must be uploaded again";
  EXPECT_EQ(RulesOf(ValuePolicy::kMerge).PickCollection(files, options), Choice{});
  CollectionOptions last = options;
  last.last_resort = true;
  EXPECT_EQ(RulesOf(ValuePolicy::kMerge).PickCollection(files, last), (Choice{2, 0}));
}

}  // namespace
}  // namespace lava
