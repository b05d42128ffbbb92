// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/read_view.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace lava {
namespace {

TEST(ViewCell, ReadersSeeWholeViewsAndTheLastReferenceFrees) {
  ViewCell cell;
  const auto version = std::make_shared<const Version>();
  const auto publish = [&](size_t runs) {
    auto* view = new ReadView();
    view->version = version;
    for (size_t i = 0; i < runs; ++i) view->sealed.push_back(std::make_shared<SealedRun>());
    cell.Set(ViewRef(view));
  };
  publish(1);
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        const ViewRef view = cell.Get();
        ASSERT_TRUE(view);
        ASSERT_GE(view->sealed.size(), 1u);
        ASSERT_EQ(view->version, version);
      }
    });
  }
  for (size_t i = 0; i < 2000; ++i) publish(1 + i % 5);
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(version.use_count(), 2) << "all old views must be freed";
  cell.Set(ViewRef());
  EXPECT_FALSE(cell.Get());
  EXPECT_EQ(version.use_count(), 1);
}

}  // namespace
}  // namespace lava
