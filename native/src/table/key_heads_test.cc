// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/key_heads.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "testing/random.h"

namespace lava::ksst {
namespace {

// Keys of two letters: many share heads, and some are prefixes of others.
std::string RandomKey(testing::Random* random) {
  std::string key = "common";
  for (uint64_t length = random->Uniform(random->OneIn(3) ? 3 : 20); length > 0; --length)
    key += random->OneIn(5) ? 'b' : 'a';
  return key;
}

TEST(KeyHeadsTest, TellsAllButKeysOfOneHead) {
  testing::Random random(7);
  for (int round = 0; round < 200; ++round) {
    std::set<std::string> sorted;
    for (uint64_t count = random.Between(1, 60); count > 0; --count)
      sorted.insert(RandomKey(&random));
    const std::vector<std::string> keys(sorted.begin(), sorted.end());
    std::vector<uint64_t> heads;
    for (const std::string& key : keys) heads.push_back(KeyHeads::HeadOf(Slice(key).substr(6)));
    const KeyHeads found("common", heads.data(), static_cast<uint32_t>(keys.size()));
    for (int i = 0; i < 100; ++i) {
      std::string target = RandomKey(&random);
      if (random.OneIn(10)) target.resize(random.Uniform(7));
      if (random.OneIn(20)) target[0] = random.OneIn(2) ? 'a' : 'z';
      const auto [begin, end] = found.Find(target);
      const auto bound = std::lower_bound(keys.begin(), keys.end(), target) - keys.begin();
      ASSERT_LE(begin, static_cast<uint32_t>(bound));
      ASSERT_GE(end, static_cast<uint32_t>(bound));
      const Slice rest = Slice(target).substr(std::min<size_t>(6, target.size()));
      for (uint32_t at = begin; at < end; ++at) {
        ASSERT_EQ(heads[at], KeyHeads::HeadOf(rest));
        ASSERT_EQ(KeyHeads::LessBehindHead(Slice(keys[at]).substr(6), rest), keys[at] < target);
        ASSERT_EQ(KeyHeads::LessBehindHead(rest, Slice(keys[at]).substr(6)), target < keys[at]);
      }
      if (begin < end && begin > 0) {
        ASSERT_LT(heads[begin - 1], heads[begin])
            << "the range must contain all keys with the same head";
      }
      if (begin < end && end < keys.size()) {
        ASSERT_LT(heads[end - 1], heads[end]);
      }
    }
  }
}

TEST(KeyHeadsTest, None) {
  const auto [begin, end] = KeyHeads().Find("a");
  EXPECT_EQ(begin, 0u);
  EXPECT_EQ(end, 0u);
}

}  // namespace
}  // namespace lava::ksst
