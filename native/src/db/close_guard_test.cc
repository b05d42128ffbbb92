// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/close_guard.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace lava {
namespace {

TEST(CloseGuard, CloseWaitsForUsersAndRefusesLaterOnes) {
  CloseGuard guard;
  std::atomic<bool> inside{false}, leave{false}, left{false};
  std::thread visitor([&] {
    CloseGuard::Use use(&guard);
    ASSERT_TRUE(use);
    inside = true;
    while (!leave) std::this_thread::yield();
    left = true;
  });
  while (!inside) std::this_thread::yield();
  EXPECT_FALSE(guard.Close(std::chrono::milliseconds(1))) << "one user is still inside";
  EXPECT_FALSE(CloseGuard::Use(&guard));
  std::thread closer([&] {
    EXPECT_TRUE(guard.Close(std::chrono::hours(1)));
    EXPECT_TRUE(left);
  });
  leave = true;
  visitor.join();
  closer.join();
  EXPECT_FALSE(CloseGuard::Use(&guard));
  EXPECT_TRUE(guard.Close(std::chrono::milliseconds(0)));
}

}  // namespace
}  // namespace lava
