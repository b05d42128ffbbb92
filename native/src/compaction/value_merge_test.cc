// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "compaction/value_merge.h"

#include <gtest/gtest.h>

#include "compaction/tree_for_test.h"

namespace lava {
namespace {

TEST(ValueMerge, AReferenceWhoseValueIsGoneStaysAsItIs) {
  const Version version;
  const auto gone = std::make_shared<ValueFileMeta>();
  const std::set<const ValueFileMeta*> files{gone.get()};
  TreeForTest tree;
  ValueOutput output(tree.context(), tree.tables, 1);
  ValueMerge merge(version, files, &output);
  std::string reference;
  EncodeReference({FileId{{1, 2}, 3}, 100, std::nullopt}, &reference);
  Record record{.key = "k", .kind = RecordKind::kPutReference, .value = reference};
  ASSERT_TRUE(merge.Move(&record).ok());
  EXPECT_EQ(record.kind, RecordKind::kPutReference);
  EXPECT_EQ(record.value, reference);
  EXPECT_EQ(merge.bytes_read(), 0u);
}

TEST(ValueMerge, AMalformedReferenceIsCorruption) {
  const Version version;
  const auto file = std::make_shared<ValueFileMeta>();
  const std::set<const ValueFileMeta*> files{file.get()};
  TreeForTest tree;
  ValueOutput output(tree.context(), tree.tables, 1);
  ValueMerge merge(version, files, &output);
  Record record{.key = "k", .kind = RecordKind::kPutReference, .value = "x"};
  EXPECT_TRUE(merge.Move(&record).IsCorruption());
}

}  // namespace
}  // namespace lava
