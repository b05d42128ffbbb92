// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "testing/count.h"
#include "testing/random.h"

namespace lava::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kSlowness = 5;  // factor by which rounds are reduced
#else
constexpr uint64_t kSlowness = 1;
#endif

using RunInput = int (*)(const uint8_t* data, size_t size);

inline void RunOne(RunInput run, const std::string& input) {
  ASSERT_EQ(run(reinterpret_cast<const uint8_t*>(input.data()), input.size()), 0);
}

inline void PrintExecutions(const std::string& parser, uint64_t count) {
  Count(count, "fuzzer executions of " + parser);
}

/// Runs all inputs in native/fuzz/corpus/<parser>, and the seeds. With
/// LAVA_WRITE_CORPUS=<directory> the seeds are written to <directory>/<parser>.
inline void RunCorpus(const std::string& parser, RunInput run,
                      const std::vector<std::string>& seeds) {
  namespace files = std::filesystem;
  uint64_t executions = 0;
  const files::path corpus =
      files::path(__FILE__).parent_path().parent_path() / "fuzz" / "corpus" / parser;
  for (const auto& entry : files::directory_iterator(corpus)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string input((std::istreambuf_iterator<char>(file)),
                            std::istreambuf_iterator<char>());
    SCOPED_TRACE(entry.path().filename());
    EXPECT_LT(input.size(), 2048u);
    RunOne(run, input);
    ++executions;
  }
  EXPECT_GT(executions, 0u) << corpus;
  const char* write = std::getenv("LAVA_WRITE_CORPUS");
  for (size_t i = 0; i < seeds.size(); ++i, ++executions) {
    SCOPED_TRACE("seed " + std::to_string(i));
    RunOne(run, seeds[i]);
    if (write == nullptr) continue;
    const files::path directory = files::path(write) / parser;
    files::create_directories(directory);
    std::ofstream(directory / ("seed-" + std::to_string(i)), std::ios::binary) << seeds[i];
  }
  PrintExecutions(parser, executions);
}

/// One mutation like those of fuzzers.
inline void MutateOnce(Random* random, const std::vector<std::string>& seeds, std::string* input) {
  const size_t size = input->size();
  const size_t at = random->Uniform(size + 1);
  const size_t length = random->Between(1, random->OneIn(4) ? 64 : 4);
  switch (random->Uniform(7)) {
    case 0:
      if (at < size) (*input)[at] = static_cast<char>((*input)[at] ^ 1 << random->Uniform(8));
      break;
    case 1:
      if (at < size) (*input)[at] = static_cast<char>(random->Next());
      break;
    case 2: {
      static constexpr char kInteresting[] = {0, 1, 2, 4, 7, 8, 16, 64, 127, -128, -1};
      const char byte = kInteresting[random->Uniform(sizeof(kInteresting))];
      for (size_t i = at; i < size && i < at + length; ++i) (*input)[i] = byte;
      break;
    }
    case 3:
      input->insert(at, random->Bytes(length));
      break;
    case 4:
      input->erase(at, length);
      break;
    case 5:
      input->insert(at, input->substr(random->Uniform(size + 1), length));
      break;
    default: {
      const std::string& other = seeds[random->Uniform(seeds.size())];
      const size_t from = random->Uniform(other.size() + 1);
      input->insert(at, other.substr(from, length * 4));
    }
  }
}

/// Mutates the seeds; a failure names the round and the seed.
inline void RunMutations(const std::string& parser, RunInput run,
                         const std::vector<std::string>& seeds, uint64_t rounds, uint64_t seed) {
  std::cout << parser << ": mutations by seed " << seed << std::endl;
  rounds /= kSlowness;
  Random random(seed);
  for (uint64_t round = 0; round < rounds; ++round) {
    std::string input = seeds[random.Uniform(seeds.size())];
    for (uint64_t changes = random.Between(1, 4); changes > 0; --changes)
      MutateOnce(&random, seeds, &input);
    RunOne(run, input);
    if (::testing::Test::HasFatalFailure()) FAIL() << "seed " << seed << ", round " << round;
  }
  PrintExecutions(parser, rounds);
}

}  // namespace lava::testing
