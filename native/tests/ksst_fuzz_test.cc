#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuzz/ksst_input.h"
#include "testing/random.h"

namespace lava {
namespace {

int RunInput(const std::string& input) {
  return fuzzing::RunKsstInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

TEST(KsstFuzzTest, Corpus) {
  auto directory =
      std::filesystem::path(__FILE__).parent_path().parent_path() / "fuzz" / "corpus" / "ksst";
  size_t inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::string input((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    SCOPED_TRACE(entry.path().filename());
    EXPECT_EQ(RunInput(input), 0);
    ++inputs;
  }
  EXPECT_GT(inputs, 0u);
}

/// Edits behind right checksums reach the decoders.
TEST(KsstFuzzTest, SeededEdits) {
  testing::Random random(2013);
  for (int round = 0; round < 4000; ++round) {
    std::string input(1, static_cast<char>(random.Next() | 1));
    for (uint64_t edits = random.Between(1, 4); edits > 0; --edits) input += random.Bytes(3);
    ASSERT_EQ(RunInput(input), 0) << "round " << round;
  }
}

TEST(KsstFuzzTest, SeededDamageOfAWholeFile) {
  testing::Random random(7);
  testing::MemFileSystem file_system;
  ASSERT_TRUE(file_system.CreateDirectory("/fuzz").ok());
  for (int round = 0; round < 1000; ++round) {
    std::string input = fuzzing::GoodFile(&file_system, static_cast<uint8_t>(random.Next()));
    if (random.OneIn(3)) input.resize(random.Uniform(input.size()));
    for (uint64_t edits = random.Uniform(3); edits > 0 && !input.empty(); --edits)
      input[random.Uniform(input.size())] = static_cast<char>(random.Next());
    ASSERT_EQ(RunInput('\0' + input), 0) << "round " << round;
  }
}

}  // namespace
}  // namespace lava
