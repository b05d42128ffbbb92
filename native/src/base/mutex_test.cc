// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/mutex.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace lava {
namespace {

TEST(Mutex, OneThreadHoldsItAtATime) {
  Mutex mutex;
  MutexLock lock(&mutex);
  bool taken = true;
  std::thread([&]() LAVA_NO_THREAD_SAFETY_ANALYSIS {  // the analysis does not see the new thread
    taken = mutex.TryLock();
  })
      .join();
  EXPECT_FALSE(taken);
}

TEST(Mutex, ALockIsGivenBackAndTakenAgain) {
  Mutex mutex;
  const auto is_free = [&]() LAVA_NO_THREAD_SAFETY_ANALYSIS {
    bool taken = false;
    std::thread([&]() LAVA_NO_THREAD_SAFETY_ANALYSIS {
      taken = mutex.TryLock();
      if (taken) mutex.Unlock();
    }).join();
    return taken;
  };
  {
    MutexLock lock(&mutex);
    EXPECT_FALSE(is_free());
    lock.Unlock();
    EXPECT_TRUE(is_free());
    lock.Lock();
    EXPECT_FALSE(is_free());
    try {
      MutexUnlock unlock(&mutex);
      EXPECT_TRUE(is_free());
      throw std::runtime_error("amid");
    } catch (const std::runtime_error&) {
      EXPECT_FALSE(is_free());
    }
    lock.Unlock();
  }
  EXPECT_TRUE(is_free());
}

TEST(Mutex, AWaitGivesItBackAndEndsByANotificationOrItsTime) {
  Mutex mutex;
  CondVar changed;
  bool asked = false, answered = false;
  std::thread other([&] {
    MutexLock lock(&mutex);
    while (!asked) changed.Wait(&mutex);
    answered = true;
    changed.NotifyAll();
  });
  {
    MutexLock lock(&mutex);
    asked = true;
    changed.NotifyAll();
    while (!answered) changed.Wait(&mutex);
    mutex.AssertHeld();
    bool notified = true;
    while (notified) notified = changed.WaitFor(&mutex, std::chrono::milliseconds(1));
    mutex.AssertHeld();
  }
  other.join();
}

#ifndef NDEBUG
TEST(MutexDeathTest, TellsThatNobodyHoldsIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Mutex mutex;
  EXPECT_DEATH(mutex.AssertHeld(), "holder_");
  EXPECT_DEATH(
      {
        MutexLock lock(&mutex);
        std::thread([&] { mutex.AssertHeld(); }).join();
      },
      "holder_");
}
#endif

}  // namespace
}  // namespace lava
