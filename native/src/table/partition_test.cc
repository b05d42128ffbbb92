#include "table/partition.h"

#include <gtest/gtest.h>

#include "table/format.h"
#include "testing/random.h"

namespace lava::ksst {
namespace {

std::string Encoded(size_t blocks, uint32_t bits_per_key) {
  IndexBlockBuilder index;
  std::vector<uint64_t> hashes;
  for (size_t i = 0; i < blocks; ++i) {
    index.Add("key" + std::to_string(100 + i), 50, 37);
    hashes.push_back(PointHash("key" + std::to_string(100 + i)));
  }
  std::string raw;
  EncodePartition(&index, hashes, bits_per_key, BloomProbes(bits_per_key), &raw);
  return raw;
}

TEST(PartitionTest, RoundTripInOneAlignedPiece) {
  std::string raw = Encoded(40, 10);
  std::shared_ptr<CachedPartition> partition;
  ASSERT_EQ(LoadPartition(raw, 1000, 3000, &partition), nullptr);
  EXPECT_EQ(partition->index.count(), 40u);
  EXPECT_EQ(partition->index.Find("key105"), 5u);
  EXPECT_EQ(partition->index.extent_begin(5), 1250u);
  for (int i = 100; i < 140; ++i)
    EXPECT_TRUE(partition->filter.MayHold(PointHash("key" + std::to_string(i))));
  EXPECT_GE(partition->charge(), raw.size());
}

TEST(PartitionTest, WithoutAFilterEverythingMayBeThere) {
  std::shared_ptr<CachedPartition> partition;
  ASSERT_EQ(LoadPartition(Encoded(3, 0), 0, 150, &partition), nullptr);
  EXPECT_TRUE(partition->filter.MayHold(12345));
}

TEST(PartitionTest, DamageIsRefusedOrHarmless) {
  testing::Random random(1);
  std::string good = Encoded(20, 10);
  std::shared_ptr<CachedPartition> partition;
  for (size_t length = 0; length < good.size(); ++length) {
    bool whole_lines = (good.size() - length) % kBloomLineBytes == 0;
    const char* error = LoadPartition(Slice(good).substr(0, length), 0, 1000, &partition);
    EXPECT_TRUE(error != nullptr || whole_lines) << length;
  }
  for (int round = 0; round < 5000; ++round) {
    std::string bad = good;
    bad[random.Uniform(bad.size())] = static_cast<char>(random.Next());
    if (LoadPartition(bad, 0, 1000, &partition) != nullptr) continue;
    partition->filter.MayHold(random.Next());
    EXPECT_LE(partition->index.Find("key110"), partition->index.count());
  }
}

}  // namespace
}  // namespace lava::ksst
