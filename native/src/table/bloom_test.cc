// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/bloom.h"

#include <gtest/gtest.h>

#include <vector>

#include "table/format.h"

namespace lava::ksst {
namespace {

double FalseRate(uint32_t bits_per_key, size_t count) {
  std::vector<uint64_t> hashes;
  for (size_t i = 0; i < count; ++i) hashes.push_back(PointHash("key" + std::to_string(i)));
  std::string lines;
  uint8_t probes = BloomProbes(bits_per_key);
  BuildBloom(hashes, bits_per_key, probes, &lines);
  EXPECT_EQ(lines.size() % kBloomLineBytes, 0u);
  BloomView view(lines.data(), static_cast<uint32_t>(lines.size() / kBloomLineBytes), probes);
  for (uint64_t hash : hashes) EXPECT_TRUE(view.MayHold(hash));
  size_t wrong = 0;
  constexpr size_t kTries = 20000;
  for (size_t i = 0; i < kTries; ++i)
    wrong += view.MayHold(PointHash("absent" + std::to_string(i)));
  return static_cast<double>(wrong) / kTries;
}

TEST(BloomTest, NeverForgetsAndSeldomErrs) {
  EXPECT_LT(FalseRate(10, 10000), 0.016);
  EXPECT_LT(FalseRate(16, 10000), 0.004);
  EXPECT_LT(FalseRate(4, 10000), 0.25);
  EXPECT_LT(FalseRate(10, 1), 0.01);
}

TEST(BloomTest, EmptyMeansAnything) {
  EXPECT_TRUE(BloomView().MayHold(1));
  std::string out = "before";
  BuildBloom({}, 10, 6, &out);
  std::vector<uint64_t> one = {1};
  BuildBloom(one, 0, 6, &out);
  EXPECT_EQ(out, "before");
}

TEST(BloomTest, SeedsDistinguishKinds) {
  EXPECT_NE(PointHash("k"), PrefixHash("k"));
  EXPECT_NE(PrefixHash("k"), PrefixDeleteHash("k"));
  EXPECT_NE(PointHash("k"), PrefixDeleteHash("k"));
}

}  // namespace
}  // namespace lava::ksst
