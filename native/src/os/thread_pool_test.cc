// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "os/thread_pool.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "testing/passes.h"

namespace lava::os {
namespace {

using testing::Passes;

TEST(ThreadPoolTest, RunsAllJobsAlsoThoseOfJobs) {
  Passes gate;
  auto pool = ThreadPool::New(3);
  EXPECT_EQ(pool->thread_count(), 3u);
  for (int i = 0; i < 100; ++i) {
    pool->Submit([&] {
      gate.Pass();
      pool->Submit([&] { gate.Pass(); });
    });
  }
  gate.WaitFor(200);
}

TEST(ThreadPoolTest, AJobWithoutAThreadGetsOneLater) {
  std::atomic<int> starts{0};
  std::atomic<bool> refuse{true};
  Passes gate;
  auto pool = ThreadPool::New(2, [&](std::function<void()> body) {
    ++starts;
    if (refuse) throw std::system_error(EAGAIN, std::generic_category());
    return std::thread(std::move(body));
  });
  pool->Submit([&] { gate.Pass(); });
  EXPECT_EQ(starts, 1);
  pool->RetryThreads();
  EXPECT_EQ(starts, 2) << "RetryThreads() must try to start a thread, which fails again";
  refuse = false;
  pool->RetryThreads();
  gate.WaitFor(1);
  pool->RetryThreads();
  EXPECT_EQ(starts, 3) << "no job waits for a thread";

  // The next Submit also starts the thread that the previous one could not start.
  auto other = ThreadPool::New(2, [&](std::function<void()> body) {
    if (refuse) throw std::system_error(EAGAIN, std::generic_category());
    ++starts;
    return std::thread(std::move(body));
  });
  refuse = true;
  starts = 0;
  Passes both, go;
  const auto job = [&] {
    both.Pass();
    go.WaitFor(1);
  };
  other->Submit(job);
  refuse = false;
  other->Submit(job);
  both.WaitFor(2);
  EXPECT_EQ(starts, 2);
  go.Pass();
}

TEST(ThreadPoolTest, KeepsTheOrder) {
  Passes done;
  std::vector<int> order;
  auto pool = ThreadPool::New(1);
  for (int i = 0; i < 10; ++i) {
    pool->Submit([&, i] {
      order.push_back(i);  // needs no lock: the pool has one thread
      done.Pass();
    });
  }
  done.WaitFor(10);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(ThreadPoolTest, ThreadsAreNamedAndLeaveSignalsAlone) {
  Passes done;
  std::string name;
  sigset_t mask;
  auto pool = ThreadPool::New(1);
  pool->Submit([&] {
    char buffer[16];
    pthread_getname_np(pthread_self(), buffer, sizeof(buffer));
    name = buffer;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    done.Pass();
  });
  done.WaitFor(1);
  EXPECT_EQ(name, "lava-bg-0");
  EXPECT_EQ(sigismember(&mask, SIGTERM), 1);
  EXPECT_EQ(sigismember(&mask, SIGCHLD), 1);
  EXPECT_EQ(sigismember(&mask, SIGSEGV), 0);
  sigset_t own;
  pthread_sigmask(SIG_BLOCK, nullptr, &own);
  EXPECT_EQ(sigismember(&own, SIGTERM), 0);
}

TEST(ThreadPoolTest, UsesAsManyThreadsAsItMay) {
  for (const uint32_t count : {1u, 2u, 4u}) {
    Passes inside;
    Passes go;
    Passes done;
    std::mutex mutex;
    std::set<std::thread::id> ids;
    auto pool = ThreadPool::New(1);
    pool->SetThreadCount(count);
    for (uint32_t i = 0; i < count; ++i) {
      pool->Submit([&] {
        {
          std::lock_guard<std::mutex> lock(mutex);
          ids.insert(std::this_thread::get_id());
        }
        inside.Pass();
        go.WaitFor(1);
        done.Pass();
      });
    }
    inside.WaitFor(count);  // hangs if a job has to wait for another job's thread
    go.Pass();
    done.WaitFor(count);
    EXPECT_EQ(ids.size(), count);
  }
}

TEST(ThreadPoolTest, MoreThreadsTakeUpQueuedJobs) {
  Passes inside;
  Passes go;
  auto pool = ThreadPool::New(1);
  for (int i = 0; i < 3; ++i) {
    pool->Submit([&] {
      inside.Pass();
      go.WaitFor(1);
    });
  }
  inside.WaitFor(1);
  pool->SetThreadCount(3);
  inside.WaitFor(3);
  pool->SetThreadCount(1);
  go.Pass();
  EXPECT_EQ(pool->thread_count(), 1u);
  for (int i = 0; i < 10; ++i) pool->Submit([&] { inside.Pass(); });
  inside.WaitFor(13);
}

TEST(ThreadPoolTest, DestructionDropsQueuedJobsAndWaitsForRunningOnes) {
  Passes inside;
  Passes go;
  std::atomic<bool> finished{false};
  std::atomic<int> dropped_ran{0};
  auto owned = std::make_shared<int>(1);
  auto pool = ThreadPool::New(1);
  ThreadPool* raw = pool.get();
  pool->Submit([&] {
    inside.Pass();
    go.WaitFor(1);
    raw->Submit([&] { ++dropped_ran; });
    finished = true;
  });
  inside.WaitFor(1);
  for (int i = 0; i < 5; ++i) pool->Submit([&, owned] { ++dropped_ran; });
  EXPECT_EQ(owned.use_count(), 6);
  std::thread destroyer([&] { pool.reset(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(finished);
  go.Pass();
  destroyer.join();
  EXPECT_TRUE(finished);
  EXPECT_EQ(dropped_ran, 0);
  EXPECT_EQ(owned.use_count(), 1);
}

}  // namespace
}  // namespace lava::os
