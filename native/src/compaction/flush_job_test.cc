// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "compaction/flush_job.h"

#include <gtest/gtest.h>

#include "compaction/tree_for_test.h"

namespace lava {
namespace {

TEST(FlushJob, AdjacentRunsShareOneFile) {
  TreeForTest tree;
  tree.Put(K("a"), "1");
  tree.Append(K("l"), "x");
  tree.Seal();
  tree.Put(K("a"), "2");
  tree.Append(K("l"), "y");
  tree.Delete(K("gone"));
  tree.Seal();
  FlushInput input;
  input.runs = tree.sealed();
  FlushOutput output;
  ASSERT_TRUE(RunFlush(tree.context(), input, &output).ok());
  ASSERT_NE(output.file, nullptr);
  EXPECT_EQ(TreeForTest::Dump(*output.file), "put a=2\ndelete gone\nappend l=xy\n");
  EXPECT_EQ(output.bytes_written, output.file->bytes);
  EXPECT_EQ(output.file->lower, K("a"));
  input.nothing_older = true;
  ASSERT_TRUE(RunFlush(tree.context(), input, &output).ok());
  EXPECT_EQ(TreeForTest::Dump(*output.file), "put a=2\nput l=xy\n");
}

TEST(FlushJob, NothingLeftWritesNoFile) {
  TreeForTest tree;
  tree.Delete(K("a"));
  tree.DeleteRange(K("b"), K("c"));
  tree.DeletePrefix(K("mm"));
  tree.Seal();
  FlushInput input;
  input.runs = tree.sealed();
  input.nothing_older = true;
  FlushOutput output;
  ASSERT_TRUE(RunFlush(tree.context(), input, &output).ok());
  EXPECT_EQ(output.file, nullptr);
  EXPECT_TRUE(tree.file_system().Paths().empty());
  input.nothing_older = false;
  ASSERT_TRUE(RunFlush(tree.context(), input, &output).ok());
  ASSERT_NE(output.file, nullptr);
  EXPECT_EQ(output.file->deletes, 1u);
  EXPECT_EQ(output.file->prefix_deletes, 1u);
  EXPECT_EQ(output.file->range_tombstones, 1u);
}

TEST(FlushJob, CancelledLeavesNothing) {
  TreeForTest tree;
  for (int i = 0; i < 1000; ++i) tree.Put(K(std::to_string(i)), "v");
  tree.Seal();
  const std::atomic<bool> cancelled{true};
  tree.context().cancelled = &cancelled;
  FlushInput input;
  input.runs = tree.sealed();
  FlushOutput output;
  EXPECT_EQ(RunFlush(tree.context(), input, &output).code(), Status::Code::kAborted);
  EXPECT_TRUE(tree.file_system().Paths().empty());
}

}  // namespace
}  // namespace lava
