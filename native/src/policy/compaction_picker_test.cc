// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/compaction_picker.h"

#include <gtest/gtest.h>

#include <deque>
#include <sstream>

namespace lava {
namespace {

// Cases are written as text, one level per line, L0 newest first. A file is lower-upper:bytes, then
// +bytes of referenced values, * (busy) or ~ (clipped); the upper bound "-" means none. The lines
// "cursor N key" and "l0-busy" are optional.
struct Tree {
  explicit Tree(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string word;
      if (!(words >> word)) continue;
      if (word == "l0-busy") {
        view.l0_busy = true;
      } else if (word == "cursor") {
        size_t level;
        std::string key;
        words >> level >> key;
        view.cursors.resize(8);
        view.cursors[level] = key;
      } else {
        const size_t level = static_cast<size_t>(word[1] - '0');
        view.levels.resize(std::max(view.levels.size(), level + 1));
        while (words >> word) view.levels[level].push_back(ParseFile(word));
      }
    }
  }
  PickerFile ParseFile(const std::string& word) {
    const size_t dash = word.find('-'), colon = word.find(':');
    PickerFile file;
    file.lower = strings.emplace_back(word.substr(0, dash));
    const std::string upper = word.substr(dash + 1, colon - dash - 1);
    file.upper = strings.emplace_back(upper == "-" ? "" : upper);
    file.bytes = std::stoull(word.substr(colon + 1));
    if (const size_t plus = word.find('+'); plus != std::string::npos)
      file.referenced_bytes = std::stoull(word.substr(plus + 1));
    file.busy = word.find('*') != std::string::npos;
    file.clipped = word.find('~') != std::string::npos;
    return file;
  }
  PickerView view;
  std::deque<std::string> strings;
};

std::string ToText(const std::optional<CompactionPlan>& plan) {
  if (!plan) return "none";
  std::ostringstream text;
  for (const CompactionPlan::Input& input : plan->inputs) {
    text << "L" << input.level << "[";
    for (size_t i = 0; i < input.files.size(); ++i) text << (i > 0 ? " " : "") << input.files[i];
    text << "] ";
  }
  text << "-> L" << plan->output_level;
  if (plan->trivial_move) text << " move";
  if (!plan->cursor.empty()) text << " cursor " << plan->cursor;
  return text.str();
}

struct PickRow {
  const char* name;
  const char* tree;
  const char* plan;
};

PickerOptions Options() {
  PickerOptions options;
  options.l0_trigger = 4;
  options.level1_bytes = 100;
  options.level_multiplier = 10;
  options.target_file_bytes = 10;
  return options;
}

TEST(CompactionPicker, Pick) {
  const PickRow rows[] = {
      {"empty", "L0\nL1\nL2", "none"},
      {"L0 is below its trigger", "L0 a-b:1 a-b:1 a-b:1\nL1", "none"},
      {"L0 takes all of L0 and what overlaps in L1",
       "L0 c-d:1 a-b:1 e-f:1 a-c:1\nL1 a-b:5 e-g:5 x-y:5\nL2", "L0[0 1 2 3] L1[0 1] -> L1"},
      {"files of L1 outside the range of L0 are not taken",
       "L0 c-d:1 c-d:1 c-d:1 c-d:1\nL1 a-b:5 e-g:5\nL2", "L0[0 1 2 3] -> L1"},
      {"upper bounds are exclusive", "L0 b-c:1 b-c:1 b-c:1 b-c:1\nL1 a-b:5 c-d:5\nL2",
       "L0[0 1 2 3] -> L1"},
      {"a file without an upper bound overlaps all later files",
       "L0 b--:1 b-c:1 b-c:1 b-c:1\nL1 a-b:5 c-d:5 y--:5\nL2", "L0[0 1 2 3] L1[1 2] -> L1"},
      {"L0 waits for its own compaction", "L0 a-b:1 a-b:1 a-b:1 a-b:1*\nL1\nL2", "none"},
      {"L0 waits while it is marked as busy", "l0-busy\nL0 a-b:1 a-b:1 a-b:1 a-b:1\nL1\nL2",
       "none"},
      {"L0 waits for busy files of L1", "L0 a-b:1 a-b:1 a-b:1 a-b:1\nL1 a-b:5*\nL2", "none"},
      {"L1 is exactly full", "L0\nL1 a-b:50 b-c:50\nL2", "none"},
      {"a file without overlap is moved", "L0\nL1 a-b:60 b-c:60\nL2 a-b:10",
       "L1[1] -> L2 move cursor c"},
      {"a clipped file is rewritten", "L0\nL1 a-b:60 b-c:60~\nL2 a-b:10", "L1[1] -> L2 cursor c"},
      {"the file with the least overlap for its bytes is chosen",
       "L0\nL1 a-b:60 c-d:60 e-f:60\nL2 a-b:50 c-d:20 e-f:30", "L1[1] L2[1] -> L2 cursor d"},
      {"the cursor wraps around", "cursor 1 f\nL0\nL1 a-b:60 c-d:60 e-f:60\nL2 a-b:9 c-d:9 e-f:9",
       "L1[0] L2[0] -> L2 cursor b"},
      {"the cursor advances", "cursor 1 b\nL0\nL1 a-b:60 c-d:60 e-f:60\nL2 a-b:9 c-d:9 e-f:9",
       "L1[1] L2[1] -> L2 cursor d"},
      {"busy files are skipped", "L0\nL1 a-b:60 c-d:60* e-f:60\nL2 a-b:9* c-d:9 e-f:9",
       "L1[2] L2[2] -> L2 cursor f"},
      {"busy bytes no longer count", "L0\nL1 a-b:60* c-d:60\nL2", "none"},
      {"neighbours above one common file are compacted together",
       "L0\nL1 a-b:8 b-c:8 c-d:8 e-f:90\nL2 a-d:9 e-f:900", "L1[0 1 2] L2[0] -> L2 cursor d"},
      {"the level with the highest score comes first", "L0 a-b:1 a-b:1 a-b:1 a-b:1\nL1 a-b:300\nL2",
       "L1[0] -> L2 move cursor b"},
      {"a move comes before more urgent work",
       "L0 a-b:20 a-b:20 a-b:20 a-b:20 a-b:20 a-b:20 a-b:20 a-b:20\nL1 a-b:110\nL2",
       "L1[0] -> L2 move cursor b"},
      {"nothing is moved without need", "L0 a-b:20 a-b:20 a-b:20 a-b:20\nL1 a-b:90\nL2",
       "L0[0 1 2 3] L1[0] -> L1"},
      {"the next best level is taken when the best must wait",
       "L0 a-b:1 a-b:1 a-b:1 a-b:1\nL1 a-b:1\nL2 q-r:2000* s-t:5000*\nL3",
       "L0[0 1 2 3] L1[0] -> L1"},
      {"files of the last level stay", "L0\nL1 a-b:900000", "none"},
  };
  for (const PickRow& row : rows) {
    const Tree tree(row.tree);
    EXPECT_EQ(ToText(PickCompaction(tree.view, Options())), row.plan) << row.name;
  }
}

TEST(CompactionPicker, SmallL0WaitsForMoreAboveALargeL1) {
  const auto trigger = [](const std::string& text, uint32_t most = 100) {
    PickerOptions options = Options();
    options.l0_trigger_max = most;
    return L0Trigger(Tree(text).view, options);
  };
  EXPECT_EQ(trigger("L0 a-b:5 a-b:4\nL1 a-b:99\nL2"), 4u)
      << "L1 is not large enough compared to L0";
  EXPECT_EQ(trigger("L0 a-b:5 a-b:4\nL1 a-b:100\nL2"), 16u);
  EXPECT_EQ(trigger("L0 a-b:5+2000 a-b:4+1991\nL1 a-b:100\nL2"), 4u)
      << "the files of L1 are small compared to the values of L0";
  EXPECT_EQ(trigger("L0 a-b:5+2000 a-b:4+1990\nL1 a-b:100\nL2"), 16u);
  EXPECT_EQ(trigger("L0 a-b:1\nL1 a-b:100\nL2", 10), 10u);
  EXPECT_EQ(trigger("L0 a-b:1\nL1 a-b:100\nL2", 2), 4u);
  EXPECT_EQ(trigger("L0 a-b:1"), 4u);
  PickerOptions uploads = Options();
  uploads.upload_cost_percent = 300;
  EXPECT_EQ(L0Trigger(Tree("L0 a-b:5 a-b:4\nL1 a-b:49\nL2").view, uploads), 4u);
  EXPECT_EQ(L0Trigger(Tree("L0 a-b:5 a-b:4\nL1 a-b:50\nL2").view, uploads), 16u);
  std::string text = "L0";
  for (int i = 0; i < 15; ++i) text += " a-b:1";
  PickerOptions options = Options();
  EXPECT_EQ(ToText(PickCompaction(Tree(text + "\nL1 a-b:1000\nL2 q-r:1*").view, options)),
            "L1[0] -> L2 move cursor b");
  options.level1_bytes = 1000;
  EXPECT_EQ(ToText(PickCompaction(Tree(text + "\nL1 a-b:1000\nL2").view, options)).substr(0, 8),
            "L0[0 1 2")
      << "small files of L0 must be combined meanwhile";
  EXPECT_EQ(
      ToText(PickCompaction(Tree(text + " a-b:1\nL1 a-b:1000\nL2").view, options)).substr(0, 8),
      "L0[0 1 2");
}

TEST(CompactionPicker, SmallFilesOfAWaitingL0BecomeOne) {
  const PickRow rows[] = {
      {"there are too few small files", "L0 a-b:1 a-b:1 a-b:1\nL1 a-b:90\nL2", "none"},
      {"all files have about the same size", "L0 a-b:2 a-b:1 a-b:2 a-b:1 a-b:1\nL1 a-b:90\nL2",
       "L0[0 1 2 3 4] -> L0"},
      {"a file that was combined before is left out",
       "L0 a-b:1 a-b:1 a-b:1 a-b:1 a-b:4\nL1 a-b:90\nL2", "L0[0 1 2 3] -> L0"},
      {"the newest row of small files is taken",
       "L0 a-b:1 a-b:1 a-b:1 a-b:1 a-b:4 a-b:4 a-b:4 a-b:4\nL1 a-b:390\nL2", "L0[0 1 2 3] -> L0"},
      {"an older row is taken when the newest is too short",
       "L0 a-b:1 a-b:1 a-b:1 a-b:4 a-b:4 a-b:4 a-b:5\nL1 a-b:390\nL2", "L0[3 4 5 6] -> L0"},
      {"a smaller file ends the row", "L0 a-b:4 a-b:4 a-b:4 a-b:1 a-b:4\nL1 a-b:390\nL2", "none"},
      {"L0 that is due goes to L1", "L0 a-b:3 a-b:3 a-b:3 a-b:3\nL1 a-b:90\nL2",
       "L0[0 1 2 3] L1[0] -> L1"},
      {"a deeper level comes first", "L0 a-b:1 a-b:1 a-b:1 a-b:1\nL1 a-b:590\nL2 a-b:9",
       "L1[0] L2[0] -> L2 cursor b"},
      {"combining waits for a compaction of L0",
       "l0-busy\nL0 a-b:1 a-b:1 a-b:1 a-b:1\nL1 a-b:390\nL2", "none"},
      {"the files have no bytes", "L0 a-b:0 a-b:0 a-b:0 a-b:0\nL1 a-b:90\nL2", "L0[0 1 2 3] -> L0"},
  };
  PickerOptions options = Options();
  options.level1_bytes = 500;
  for (const PickRow& row : rows) {
    const Tree tree(row.tree);
    EXPECT_EQ(ToText(PickCompaction(tree.view, options)), row.plan) << row.name;
  }
  options.combines_l0 = false;
  EXPECT_EQ(ToText(PickCompaction(Tree(rows[1].tree).view, options)), "none");
}

TEST(CompactionPicker, All) {
  const PickRow rows[] = {
      {"empty", "L0\nL1\nL2", "none"},
      {"only L0 has files", "L0 a-b:1 a-b:1\nL1\nL2", "L0[0 1] -> L1"},
      {"all levels go to the last level in use", "L0 a-b:1\nL1 c-d:1\nL2 a-b:1 e-f:1\nL3",
       "L0[0] L1[0] L2[0 1] -> L2"},
      {"a single level needs no work", "L0\nL1\nL2 a-b:1 b-c:1", "none"},
      {"clipped files are rewritten", "L0\nL1\nL2 a-b:1~ b-c:1", "L2[0 1] -> L2"},
      {"the request waits for running compactions", "L0 a-b:1\nL1 a-b:1*", "wait"},
  };
  for (const PickRow& row : rows) {
    const Tree tree(row.tree);
    bool wait = false;
    const std::string got = ToText(PickCompactAll(tree.view, &wait));
    EXPECT_EQ(wait ? "wait" : got, row.plan) << row.name;
  }
}

TEST(CompactionPicker, Exposing) {
  const PickRow rows[] = {
      {"empty", "L0\nL1", "none"},
      {"a single run hides nothing", "L0\nL1\nL2 a-b:900 c-d:900", "none"},
      {"a single file of L0 hides nothing", "L0 a-b:1\nL1", "none"},
      {"files of L0 hide each other", "L0 a-b:1 a-b:1\nL1", "L0[0 1] -> L1"},
      {"the level with the most bytes is taken", "L0 a-b:5\nL1 a-c:20 c-e:10\nL2 a-f:90",
       "L1[0 1] L2[0] -> L2 cursor e"},
      {"values count at the level of their references", "L0 a-b:1+1000\nL1 a-c:20+30\nL2 a-f:90",
       "L0[0] L1[0] -> L1"},
      {"the next level is taken when the best one is busy",
       "L0 a-b:1+1000*\nL1 a-c:20+30 x-y:9\nL2 a-f:90", "L1[1] -> L2 move cursor y"},
      {"files of running compactions no longer count", "L0 a-b:5\nL1 c-e:20*\nL2 a-f:90",
       "L0[0] -> L1 move"},
      {"the compaction waits for busy files below", "L0\nL1 c-e:20\nL2 a-f:90*", "none"},
  };
  for (const PickRow& row : rows) {
    Tree tree(row.tree);
    EXPECT_EQ(ToText(PickExposing(tree.view, Options())), row.plan) << row.name;
  }
}

TEST(CompactionPicker, PendingBytes) {
  struct PendingRow {
    const char* name;
    const char* tree;
    uint64_t bytes;
  };
  const PendingRow rows[] = {
      {"no level is due", "L0 a-b:9\nL1 a-b:100\nL2", 0},
      {"L0 is due and is merged with L1", "L0 a-b:5 a-b:5 a-b:5 a-b:5\nL1 a-b:30\nL2", 50},
      {"L1 is too large, and no data is below it", "L0\nL1 a-b:150\nL2", 50},
      {"L1 is too large, and twice as much is below it", "L0\nL1 a-b:150\nL2 a-b:300", 150},
      {"bytes that L0 moves down count in L1", "L0 a-b:20 a-b:20 a-b:20 a-b:20\nL1 a-b:70\nL2",
       200},
  };
  for (const PendingRow& row : rows) {
    const Tree tree(row.tree);
    EXPECT_EQ(PendingCompactionBytes(tree.view, Options()), row.bytes) << row.name;
  }
}

TEST(CompactionPicker, LevelTargets) {
  PickerOptions options = Options();
  EXPECT_EQ(LevelTargetBytes(0, options), 0u);
  EXPECT_EQ(LevelTargetBytes(1, options), 100u);
  EXPECT_EQ(LevelTargetBytes(3, options), 10000u);
  options.level1_bytes = UINT64_MAX / 2;
  EXPECT_EQ(LevelTargetBytes(5, options), UINT64_MAX);
}

}  // namespace
}  // namespace lava
