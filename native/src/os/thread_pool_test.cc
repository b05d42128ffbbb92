#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "os/executor.h"

namespace lava::os {
namespace {

// Waits until `count` jobs have passed.
class Gate {
 public:
  void Pass() {
    std::lock_guard<std::mutex> lock(mutex_);
    ++passed_;
    changed_.notify_all();
  }
  void WaitFor(uint64_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return passed_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t passed_ = 0;
};

TEST(ThreadPoolTest, RunsAllJobsAlsoThoseOfJobs) {
  Gate gate;
  auto pool = Executor::ThreadPool(3);
  EXPECT_EQ(pool->thread_count(), 3u);
  for (int i = 0; i < 100; ++i) {
    pool->Submit(static_cast<Priority>(i % 4), [&] {
      gate.Pass();
      pool->Submit(Priority::kFlush, [&] { gate.Pass(); });
    });
  }
  gate.WaitFor(200);
}

TEST(ThreadPoolTest, AJobWithoutAThreadGetsOneLater) {
  std::atomic<int> starts{0};
  std::atomic<bool> refuse{true};
  Gate gate;
  auto pool = Executor::ThreadPool(2, [&](std::function<void()> body) {
    ++starts;
    if (refuse) throw std::system_error(EAGAIN, std::generic_category());
    return std::thread(std::move(body));
  });
  pool->Submit(Priority::kFlush, [&] { gate.Pass(); });
  EXPECT_EQ(starts, 1);
  pool->Poke();
  EXPECT_EQ(starts, 2) << "and fails again";
  refuse = false;
  pool->Poke();
  gate.WaitFor(1);
  pool->Poke();
  EXPECT_EQ(starts, 3) << "nothing waits";

  // The next Submit starts what the one before could not.
  auto other = Executor::ThreadPool(2, [&](std::function<void()> body) {
    if (refuse) throw std::system_error(EAGAIN, std::generic_category());
    ++starts;
    return std::thread(std::move(body));
  });
  refuse = true;
  starts = 0;
  Gate both, go;
  const auto job = [&] {
    both.Pass();
    go.WaitFor(1);
  };
  other->Submit(Priority::kFlush, job);
  refuse = false;
  other->Submit(Priority::kFlush, job);
  both.WaitFor(2);
  EXPECT_EQ(starts, 2);
  go.Pass();
}

TEST(ThreadPoolTest, FlushesGoFirst) {
  Gate started;
  Gate go;
  Gate done;
  std::vector<Priority> order;
  auto pool = Executor::ThreadPool(1);
  pool->Submit(Priority::kFlush, [&] {
    started.Pass();
    go.WaitFor(1);
  });
  started.WaitFor(1);
  for (const Priority priority : {Priority::kGc, Priority::kCompaction, Priority::kL0Compaction,
                                  Priority::kFlush, Priority::kGc, Priority::kFlush}) {
    pool->Submit(priority, [&, priority] {
      order.push_back(priority);  // one thread
      done.Pass();
    });
  }
  go.Pass();
  done.WaitFor(6);
  EXPECT_EQ(order,
            (std::vector<Priority>{Priority::kFlush, Priority::kFlush, Priority::kL0Compaction,
                                   Priority::kCompaction, Priority::kGc, Priority::kGc}));
}

TEST(ThreadPoolTest, ThreadsAreNamedAndLeaveSignalsAlone) {
  Gate done;
  std::string name;
  sigset_t mask;
  auto pool = Executor::ThreadPool(1);
  pool->Submit(Priority::kFlush, [&] {
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
    Gate inside;
    Gate go;
    Gate done;
    std::mutex mutex;
    std::set<std::thread::id> ids;
    auto pool = Executor::ThreadPool(1);
    pool->SetThreadCount(count);
    for (uint32_t i = 0; i < count; ++i) {
      pool->Submit(Priority::kCompaction, [&] {
        {
          std::lock_guard<std::mutex> lock(mutex);
          ids.insert(std::this_thread::get_id());
        }
        inside.Pass();
        go.WaitFor(1);
        done.Pass();
      });
    }
    inside.WaitFor(count);  // hangs when one job waits for another's thread
    go.Pass();
    done.WaitFor(count);
    EXPECT_EQ(ids.size(), count);
  }
}

TEST(ThreadPoolTest, MoreThreadsTakeUpQueuedJobs) {
  Gate inside;
  Gate go;
  auto pool = Executor::ThreadPool(1);
  for (int i = 0; i < 3; ++i) {
    pool->Submit(Priority::kCompaction, [&] {
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
  for (int i = 0; i < 10; ++i) pool->Submit(Priority::kGc, [&] { inside.Pass(); });
  inside.WaitFor(13);
}

TEST(ThreadPoolTest, DestructionDropsQueuedJobsAndWaitsForRunningOnes) {
  Gate inside;
  Gate go;
  std::atomic<bool> finished{false};
  std::atomic<int> dropped_ran{0};
  auto owned = std::make_shared<int>(1);
  auto pool = Executor::ThreadPool(1);
  Executor* raw = pool.get();
  pool->Submit(Priority::kFlush, [&] {
    inside.Pass();
    go.WaitFor(1);
    raw->Submit(Priority::kFlush, [&] { ++dropped_ran; });
    finished = true;
  });
  inside.WaitFor(1);
  for (int i = 0; i < 5; ++i) pool->Submit(Priority::kFlush, [&, owned] { ++dropped_ran; });
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
