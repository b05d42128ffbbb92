// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "job/job_context.h"

#include <gtest/gtest.h>

#include "compaction/tree_for_test.h"
#include "read/readers.h"

namespace lava {
namespace {

TEST(OpenReader, RefusesAFileThatIsNotTheManifests) {
  TreeForTest tree;
  tree.Put(TreeForTest::Key(1, 7, "a"), "v");
  tree.SealAndFlush();
  const FileMeta& meta = *tree.version()->levels[0][0].file;
  EXPECT_TRUE(OpenReader(tree.context(), meta).ok());
  const std::shared_ptr<FileMeta> other = MetaOf(meta.id, ReaderOf(meta)->properties());
  EXPECT_TRUE(OpenReader(tree.context(), *other).ok());
  other->records += 1;
  const auto wrong = OpenReader(tree.context(), *other);
  ASSERT_FALSE(wrong.ok());
  EXPECT_TRUE(wrong.status().IsCorruption());
  EXPECT_NE(wrong.status().message().find(meta.id.FileName()), std::string_view::npos);
  other->records = meta.records;
  other->bytes += 1;
  EXPECT_TRUE(OpenReader(tree.context(), *other).status().IsCorruption());
  other->id.number += 100;
  EXPECT_TRUE(OpenReader(tree.context(), *other).status().IsNotFound());
}

}  // namespace
}  // namespace lava
