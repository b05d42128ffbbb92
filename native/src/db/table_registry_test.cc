// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/table_registry.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lava {
namespace {

constexpr uint64_t kFirstLarge = 12 << 10;
constexpr uint64_t kLease = 64 << 20;

TableRegistration Map(uint64_t id, const std::string& name, int64_t ttl_ms = 0) {
  const TtlLayout layout = ttl_ms == 0 ? TtlLayout::kNone : TtlLayout::kValue;
  return {name, id, {.kind = TableKind::kMap, .ttl_layout = layout, .ttl_ms = ttl_ms}};
}

class TableRegistryTest : public ::testing::Test {
 protected:
  TableImpl* Register(const TableRegistration& table) { return tables_.Register(table, kLease); }
  bool HasHandle(uint64_t id) const {
    for (const TableImpl* table : tables_.Handles())
      if (table->id() == id) return true;
    return false;
  }

  MemoryCounter memory_;
  TableRegistry tables_{&memory_, kFirstLarge};
};

TEST_F(TableRegistryTest, ATableOfAnEarlierOpeningIsKnownAndHasNoHandle) {
  tables_.Recover({{7, Map(7, "seven", 100)}});
  EXPECT_TRUE(tables_.IsKnown(7));
  EXPECT_EQ(tables_.Registrations().at(7).name, "seven");
  EXPECT_EQ(tables_.List().at(0).options.ttl_ms, 100);
  EXPECT_TRUE(tables_.Handles().empty());
  EXPECT_TRUE(tables_.Options().empty())
      << "jobs must keep the records of a table without a handle";
}

TEST_F(TableRegistryTest, ARegistrationIsComparedWithTheKnownOne) {
  using Difference = TableRegistry::Difference;
  tables_.Recover({{7, Map(7, "seven", 100)}});
  EXPECT_EQ(tables_.Compare(Map(8, "eight")).value(), Difference::kNew);
  EXPECT_EQ(tables_.Compare(Map(7, "seven", 100)).value(), Difference::kNone);
  EXPECT_EQ(tables_.Compare(Map(7, "seven", 200)).value(), Difference::kOptions);
  EXPECT_EQ(tables_.Compare(Map(7, "seven")).value(), Difference::kOptions)
      << "the registration has another TTL layout";
  TableRegistration separated = Map(7, "seven", 100);
  separated.options.separation_bytes = 1000;
  EXPECT_EQ(tables_.Compare(separated).value(), Difference::kNone)
      << "the manifest does not contain the separation size";

  const Status collision = tables_.Compare(Map(7, "other", 100)).status();
  EXPECT_TRUE(collision.IsInvalidArgument());
  EXPECT_NE(std::string(collision.message()).find("'seven' and 'other'"), std::string::npos);
  TableRegistration list = Map(7, "seven");
  list.options.kind = TableKind::kList;
  EXPECT_TRUE(tables_.Compare(list).status().IsInvalidArgument());
  EXPECT_EQ(tables_.List().at(0).options.ttl_ms, 100) << "a comparison must not change the table";
}

TEST_F(TableRegistryTest, ATableIsRegisteredAgainWithTheSameHandle) {
  TableImpl* const table = Register(Map(7, "seven", 100));
  EXPECT_EQ(table->chosen_large(), kFirstLarge);
  TableRegistration changed = Map(7, "seven", 200);
  changed.options.separation_bytes = 1000;
  EXPECT_EQ(Register(changed), table);
  EXPECT_EQ(table->options().ttl_ms, 200);
  EXPECT_EQ(tables_.List().at(0).options.ttl_ms, 200);
  EXPECT_EQ(tables_.Options().at(7).ttl_ms, 200);
  EXPECT_EQ(tables_.Options().at(7).separation_bytes, 1000u);
  EXPECT_EQ(tables_.Handles(), std::vector{table});
}

TEST_F(TableRegistryTest, JobsReadTheBoundThatWasFound) {
  TableRegistration automatic = Map(7, "seven");
  automatic.options.separation_bytes = kSeparationAutomatic;
  TableImpl* const table = Register(automatic);
  table->SetChosenSeparation(2048);
  EXPECT_EQ(tables_.Options().at(7).separation_bytes, 2048u);
  EXPECT_EQ(tables_.List().at(0).options.separation_bytes, kSeparationAutomatic);
}

TEST_F(TableRegistryTest, ADroppedTableIsUnknownAndItsHandleIsRefused) {
  TableImpl* const table = Register(Map(7, "seven"));
  Register(Map(8, "eight"));
  {
    DeadRanges::Walk walk(&table->dead(), "a", "z");
    walk.Remember("c", "f");
  }
  EXPECT_GT(memory_.used(), 0u);
  tables_.Drop(table);
  EXPECT_EQ(memory_.used(), 0u);
  EXPECT_FALSE(tables_.IsKnown(7));
  EXPECT_FALSE(HasHandle(7));
  EXPECT_EQ(tables_.Registrations().size(), 1u);
  EXPECT_EQ(tables_.Options().size(), 1u);
  EXPECT_EQ(tables_.Handles().size(), 1u);
  EXPECT_TRUE(HasHandle(8));
  TableImpl* handle;
  EXPECT_TRUE(tables_.Check(table, &handle).IsClosed());
  EXPECT_EQ(table->name(), "seven") << "a handle must stay readable after the drop of its table";
}

TEST_F(TableRegistryTest, ATableThatIsCreatedAgainHasANewHandle) {
  TableImpl* handle;
  std::vector<TableImpl*> dropped;
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(tables_.Compare(Map(7, "seven")).value(), TableRegistry::Difference::kNew);
    TableImpl* const table = Register(Map(7, "seven"));
    EXPECT_TRUE(tables_.Check(table, &handle).ok());
    for (TableImpl* const old : dropped) {
      EXPECT_NE(old, table);
      EXPECT_TRUE(tables_.Check(old, &handle).IsClosed());
    }
    tables_.Drop(table);
    dropped.push_back(table);
  }
}

TEST_F(TableRegistryTest, AHandleIsOfOneRegistry) {
  TableRegistry other(&memory_, kFirstLarge);
  TableImpl* handle;
  EXPECT_TRUE(tables_.Check(nullptr, &handle).IsInvalidArgument());
  TableImpl* const own = Register(Map(7, "seven"));
  EXPECT_TRUE(tables_.Check(own, &handle).ok());
  EXPECT_EQ(handle, own);
  EXPECT_TRUE(other.Check(own, &handle).IsInvalidArgument());
  tables_.Drop(own);
  EXPECT_TRUE(other.Check(own, &handle).IsInvalidArgument());
}

TEST_F(TableRegistryTest, AReplayForgetsTablesAndKnowsThemAgain) {
  tables_.Recover({{7, Map(7, "seven", 100)}});
  const std::optional<TableRegistration> dropped = tables_.ReplayDrop(7);
  ASSERT_TRUE(dropped.has_value());
  EXPECT_EQ(dropped->options.ttl_ms, 100);
  EXPECT_FALSE(tables_.IsKnown(7));
  EXPECT_FALSE(tables_.ReplayDrop(7).has_value()) << "the table is already dropped";
  tables_.ReplayCreate(*dropped);
  EXPECT_TRUE(tables_.IsKnown(7));
  EXPECT_FALSE(HasHandle(7));
}

TEST_F(TableRegistryTest, NamesAreThoseOfKnownTables) {
  tables_.Recover({{7, Map(7, "seven")}, {9, Map(9, "nine")}});
  Register(Map(8, "eight"));
  EXPECT_EQ(tables_.NamesOf({9, 6, 8}), (std::vector<std::string>{"nine", "eight"}));
}

TEST_F(TableRegistryTest, ClosingFreesTheDeadRangesOfDroppedTablesToo) {
  TableImpl* const kept = Register(Map(7, "seven"));
  TableImpl* const dropped = Register(Map(8, "eight"));
  tables_.Drop(dropped);
  for (TableImpl* const table : {kept, dropped}) {
    DeadRanges::Walk walk(&table->dead(), "a", "z");  // a scan during which the table was dropped
    walk.Remember("c", "f");
  }
  EXPECT_GT(memory_.used(), 0u);
  tables_.ForgetDeadRanges();
  EXPECT_EQ(memory_.used(), 0u);
}

TEST_F(TableRegistryTest, DeadRangesMayTakeAShareOfTheLease) {
  const auto remembered = [](TableImpl* table) {
    for (int i = 0; i < 10'000; ++i) {
      const std::string begin = std::to_string(100'000 + i) + "a";
      DeadRanges::Walk walk(&table->dead(), "0", "z");
      walk.Remember(begin, begin + "b");
    }
    return table->dead().bytes();
  };
  EXPECT_LE(remembered(tables_.Register(Map(7, "small lease"), 1)), uint64_t{64} << 10);
  EXPECT_GT(remembered(tables_.Register(Map(8, "large lease"), uint64_t{1} << 30)),
            uint64_t{64} << 10);
}

TEST(TableRegistry, ValidatesNamesAndOptions) {
  EXPECT_TRUE(TableRegistry::Validate("t", {.kind = TableKind::kMap}).ok());
  EXPECT_TRUE(TableRegistry::Validate(std::string(kTableNameBytesMax, 'x'), {}).ok());
  EXPECT_TRUE(
      TableRegistry::Validate(std::string(kTableNameBytesMax + 1, 'x'), {}).IsInvalidArgument());
  EXPECT_TRUE(TableRegistry::Validate("t", {.ttl_ms = -1}).IsInvalidArgument());
  TableOptions lists{.kind = TableKind::kMap, .ttl_layout = TtlLayout::kList};
  EXPECT_TRUE(TableRegistry::Validate("t", lists).IsInvalidArgument());
  lists.kind = TableKind::kList;
  EXPECT_TRUE(TableRegistry::Validate("t", lists).ok());
}

}  // namespace
}  // namespace lava
