// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "manifest/on_demand_reader.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace lava {
namespace {

TEST(OnDemandReader, IsNullUntilTheReaderComes) {
  OnDemandReader<const int> reader;
  EXPECT_EQ(reader.get(), nullptr);
  reader.Set(std::make_shared<int>(1));
  ASSERT_NE(reader.get(), nullptr);
  EXPECT_EQ(*reader.get(), 1);
  EXPECT_EQ(*reader.TakeForTest(), 1);
  EXPECT_EQ(reader.get(), nullptr);
}

TEST(OnDemandReader, OwnsTheFirstAndDropsTheOthers) {
  const auto first = std::make_shared<int>(1), second = std::make_shared<int>(2);
  {
    OnDemandReader<int> reader;
    reader.Set(first);
    reader.Set(second);
    EXPECT_EQ(reader.get(), first.get());
    EXPECT_EQ(first.use_count(), 2);
    EXPECT_EQ(second.use_count(), 1);
  }
  EXPECT_EQ(first.use_count(), 1);
}

TEST(OnDemandReader, ThreadsSetAndReadAtOnce) {
  for (int round = 0; round < 200; ++round) {
    OnDemandReader<const int> reader;
    std::vector<std::thread> threads;
    for (int i = 1; i <= 2; ++i)
      threads.emplace_back([&reader, i] { reader.Set(std::make_shared<int>(i)); });
    threads.emplace_back([&reader] {
      const int* seen = nullptr;
      while ((seen = reader.get()) == nullptr) std::this_thread::yield();
      EXPECT_TRUE(*seen == 1 || *seen == 2);
      EXPECT_EQ(seen, reader.get()) << "the first reader must stay";
    });
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace lava
