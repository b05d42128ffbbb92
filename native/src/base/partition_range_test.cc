// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/partition_range.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/coding.h"

namespace lava {
namespace {

class NamedTable : public Table {
 public:
  const std::string& name() const override { return name_; }
  uint64_t id() const override { return 7; }
  TableOptions options() const override { return {}; }

 private:
  const std::string name_ = "t";
};

class PartitionRangeTest : public ::testing::Test {
 protected:
  PartitionRangeTest() {
    options_.partition_bytes = 2;
    options_.partition_first = 3;
    options_.partition_last = 5;
  }
  static std::string Key(uint32_t partition, std::string_view rest) {
    std::string key;
    PutBigEndian(&key, partition, 2);
    return key.append(rest);
  }
  Status Check(Slice key, uint32_t prefix_bytes = 0) const {
    return PartitionRange(options_).CheckKey(table_, {key, prefix_bytes});
  }
  using Parts = std::vector<std::pair<std::string, std::string>>;
  Parts PartsOf(Slice lower, Slice upper) const {
    Parts parts;
    PartitionRange(options_).ForEach(
        7, lower, upper, [&](Slice begin, Slice end) { parts.emplace_back(begin, end); });
    return parts;
  }
  static std::string Start(uint32_t partition, std::string_view rest = {}) {
    return TableStart(partition, 2, 7).append(rest);
  }
  static std::string End(uint32_t partition) { return TableStart(partition, 2, 8); }

  DBOptions options_;
  const NamedTable table_;
};

TEST_F(PartitionRangeTest, OnlyKeysOfItsPartitionsAreTaken) {
  EXPECT_TRUE(Check(Key(3, "a")).ok());
  EXPECT_TRUE(Check(Key(5, "")).ok());
  EXPECT_TRUE(Check(Key(2, "a")).IsInvalidArgument());
  EXPECT_TRUE(Check(Key(6, "a")).IsInvalidArgument());
  EXPECT_TRUE(Check("x").IsInvalidArgument()) << "the key is shorter than a partition";
  EXPECT_TRUE(Check(Key(3, std::string(kKeyBytesMax - 2, 'k'))).ok());
  EXPECT_TRUE(Check(Key(3, std::string(kKeyBytesMax - 1, 'k'))).IsInvalidArgument());
}

TEST_F(PartitionRangeTest, APrefixIsAPartOfTheKeyAndHoldsThePartition) {
  EXPECT_TRUE(Check(Key(3, "ab"), 2).ok());
  EXPECT_TRUE(Check(Key(3, "ab"), 4).ok());
  EXPECT_TRUE(Check(Key(3, "ab"), 5).IsInvalidArgument());
  EXPECT_TRUE(Check(Key(3, "ab"), 1).IsInvalidArgument());
  EXPECT_EQ(PartitionRange::InternalPrefix(0), 0u);
  EXPECT_EQ(PartitionRange::InternalPrefix(4), 4 + kTableIdBytes);
}

TEST_F(PartitionRangeTest, ABoundMayBeOfAnyPartition) {
  const PartitionRange partitions(options_);
  EXPECT_TRUE(partitions.CheckBound(table_, Key(9, "a"), "upper").ok());
  const Status status = partitions.CheckBound(table_, "x", "upper");
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.ToString().find("upper bound in table 't'"), std::string::npos)
      << status.ToString();
}

TEST_F(PartitionRangeTest, ARangeIsCutIntoThePartsOfItsPartitions) {
  EXPECT_EQ(PartsOf({}, {}), (Parts{{Start(3), End(3)}, {Start(4), End(4)}, {Start(5), End(5)}}));
  EXPECT_EQ(PartsOf(Key(4, "b"), Key(5, "c")),
            (Parts{{Start(4, "b"), End(4)}, {Start(5), Start(5, "c")}}));
  EXPECT_EQ(PartsOf(Key(4, "b"), Key(4, "c")), (Parts{{Start(4, "b"), Start(4, "c")}}));
  EXPECT_EQ(PartsOf(Key(1, "b"), Key(3, "c")), (Parts{{Start(3), Start(3, "c")}}))
      << "the range must begin with the first partition of the instance";
  EXPECT_EQ(PartsOf(Key(5, "c"), Key(9, "")), (Parts{{Start(5, "c"), End(5)}}));
  EXPECT_TRUE(PartsOf(Key(6, ""), {}).empty());
  EXPECT_TRUE(PartsOf(Key(4, ""), Key(4, "")).empty());
}

}  // namespace
}  // namespace lava
