// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "job/output_files.h"

#include <gtest/gtest.h>

#include "compaction/tree_for_test.h"

namespace lava {
namespace {

TEST(OutputFiles, EndsBeforeItOverlapsTooMuchOfTheLevelBelow) {
  TreeForTest tree;
  FileList below;
  for (char c = 'a'; c < 'i'; ++c) {
    auto file = std::make_shared<FileMeta>();
    file->bytes = 100;
    below.push_back({file, TreeForTest::Key(1, 7, std::string(1, c)),
                     TreeForTest::Key(1, 7, std::string(1, static_cast<char>(c + 1)))});
  }
  OutputLimits limits;
  limits.overlap_bytes = 250;
  limits.below = below;
  OutputFiles files(tree.context(), limits, {});
  for (char c = 'a'; c < 'i'; ++c) {
    const std::string key = TreeForTest::Key(1, 7, std::string(1, c) + "x");
    ASSERT_TRUE(files.Add({key, RecordKind::kPut, 0, "v"}).ok());
  }
  std::vector<std::shared_ptr<FileMeta>> written;
  ASSERT_TRUE(files.Finish(&written).ok());
  ASSERT_EQ(written.size(), 3u);
  EXPECT_EQ(written[0]->records, 3u);
}

TEST(OutputFiles, DestructionRemovesWhatWasNotHandedOut) {
  TreeForTest tree;
  OutputLimits limits;
  limits.file_bytes = 100;
  {
    OutputFiles files(tree.context(), limits, {});
    for (int i = 100; i < 500; ++i) {
      const std::string key = TreeForTest::Key(1, 7, std::to_string(i));
      ASSERT_TRUE(files.Add({key, RecordKind::kPut, 0, "v"}).ok());
    }
    EXPECT_GT(tree.file_system().Paths().size(), 1u);
  }
  EXPECT_TRUE(tree.file_system().Paths().empty());
}

TEST(OutputFiles, NoRecordsNoFile) {
  TreeForTest tree;
  OutputFiles files(tree.context(), {}, {});
  std::vector<std::shared_ptr<FileMeta>> written;
  ASSERT_TRUE(files.Finish(&written).ok());
  EXPECT_TRUE(written.empty());
  EXPECT_EQ(files.bytes_written(), 0u);
}

}  // namespace
}  // namespace lava
