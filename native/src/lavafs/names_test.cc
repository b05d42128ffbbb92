// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "lavafs/names.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "testing/random.h"

namespace lava::lavafs {
namespace {

TEST(Names, ComeBackAsTheyWere) {
  Names names;
  uint32_t first = Names::kNone;
  const std::string id = "0123456789abcdef0123456789abcdef";
  const std::set<std::string> all = {"a",
                                     id,
                                     id + "-1.ksst",
                                     id + "0",
                                     id.substr(1),
                                     "0123456789abcdeF0123456789abcdef-1",
                                     "g123456789abcdef0123456789abcdef-1",
                                     "0123456789abcdef0123456789abcdeg",
                                     "CURRENT",
                                     std::string(255, 'f')};
  for (const std::string& name : all) names.Add(7, name, 1, &first);
  std::set<std::string> walked;
  for (uint32_t entry = first; entry != Names::kNone; entry = names.next(entry)) {
    walked.insert(names.name(entry));
  }
  EXPECT_EQ(walked, all);
  for (const std::string& name : all) {
    EXPECT_EQ(names.name(names.Find(7, name)), name);
    EXPECT_EQ(names.Find(8, name), Names::kNone);
  }
}

TEST(Names, AgreeWithAMap) {
  testing::Random random(8);
  Names names;
  std::map<std::pair<uint32_t, std::string>, uint32_t> model;
  uint32_t firsts[3] = {Names::kNone, Names::kNone, Names::kNone};
  for (uint32_t round = 0; round < 20'000; round++) {
    const auto directory = static_cast<uint32_t>(random.Uniform(3));
    const std::string name = std::to_string(random.Uniform(200));
    const uint32_t entry = names.Find(directory, name);
    const auto found = model.find({directory, name});
    ASSERT_EQ(entry == Names::kNone, found == model.end());
    if (entry == Names::kNone) {
      names.Add(directory, name, round, &firsts[directory]);
      model[{directory, name}] = round;
    } else {
      ASSERT_EQ(names.inode(entry), found->second);
      if (random.OneIn(2)) continue;
      names.Remove(entry, &firsts[directory]);
      model.erase(found);
    }
  }
  size_t walked = 0;
  for (uint32_t directory = 0; directory < 3; directory++) {
    for (uint32_t e = firsts[directory]; e != Names::kNone; e = names.next(e), walked++) {
      ASSERT_EQ(names.directory(e), directory);
      ASSERT_TRUE(model.count({directory, names.name(e)}));
    }
  }
  EXPECT_EQ(walked, model.size());
}

}  // namespace
}  // namespace lava::lavafs
