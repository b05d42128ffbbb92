#include "job/value_merge.h"

#include <gtest/gtest.h>

#include "job/tree_for_test.h"

namespace lava {
namespace {

TEST(ValueMerge, AReferenceWhoseValueIsGoneStaysAsItIs) {
  const Version version;
  const auto gone = std::make_shared<ValueFileMeta>();
  const std::set<const ValueFileMeta*> files{gone.get()};
  ValueMerge merge(version, files);
  std::string reference;
  EncodeReference({FileId{{1, 2}, 3}, 100, std::nullopt}, &reference);
  Record record{.key = "k", .kind = RecordKind::kPutReference, .value = reference};
  ASSERT_TRUE(merge.BringIn(&record).ok());
  EXPECT_EQ(record.kind, RecordKind::kPutReference);
  EXPECT_EQ(record.value, reference);
  EXPECT_EQ(merge.bytes_read(), 0u);
}

TEST(ValueMerge, AMalformedReferenceIsCorruption) {
  const Version version;
  const auto file = std::make_shared<ValueFileMeta>();
  const std::set<const ValueFileMeta*> files{file.get()};
  ValueMerge merge(version, files);
  Record record{.key = "k", .kind = RecordKind::kPutReference, .value = "x"};
  EXPECT_TRUE(merge.BringIn(&record).IsCorruption());
}

}  // namespace
}  // namespace lava
