// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "os/thread_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"
#include "base/thread_annotations.h"

namespace lava::os {
namespace {

constexpr std::chrono::seconds kIdleMax{10};
constexpr uint32_t kThreadsMax = 1024;

// Signals belong to the host's threads, so pool threads block them. Fault signals stay unblocked: a
// blocked fault would end the process without the host's crash report.
sigset_t SignalsOfOthers() {
  sigset_t set;
  sigfillset(&set);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) {
    sigdelset(&set, fault);
  }
  return set;
}

class ThreadPoolImpl final : public ThreadPool {
 public:
  ThreadPoolImpl(uint32_t count, ThreadStarter start)
      : start_(std::move(start)), count_(std::clamp(count, 1u, kThreadsMax)) {}

  ~ThreadPoolImpl() override {
    std::deque<std::function<void()>> dropped;
    std::list<std::thread> threads;
    {
      MutexLock lock(&mutex_);
      stopping_ = true;
      std::swap(dropped, queue_);
      // Splicing keeps the iterators that the threads hold to their own entries valid.
      threads.splice(threads.end(), running_);
    }
    wake_.NotifyAll();
    for (std::thread& thread : threads) thread.join();
    for (std::thread& thread : ended_) thread.join();
  }

  void Submit(std::function<void()> job) override {
    LAVA_CHECK(job != nullptr);
    std::list<std::thread> ended;
    {
      MutexLock lock(&mutex_);
      if (stopping_) return;  // a job submitted this during destruction: drop it like the rest
      queue_.push_back(std::move(job));
      ended.splice(ended.end(), ended_);
      StartWanted();
    }
    wake_.NotifyOne();
    for (std::thread& thread : ended) thread.join();  // returns at once: the thread has ended
  }

  void RetryThreads() override {
    MutexLock lock(&mutex_);
    if (!stopping_) StartWanted();
  }

  uint32_t thread_count() const override {
    MutexLock lock(&mutex_);
    return count_;
  }

  void SetThreadCount(uint32_t count) override {
    MutexLock lock(&mutex_);
    count_ = std::clamp(count, 1u, kThreadsMax);
    StartWanted();
    wake_.NotifyAll();
  }

 private:
  // Starts a thread for each waiting job, also retrying threads that could not be started before.
  void StartWanted() LAVA_REQUIRES(mutex_) {
    while (queue_.size() > uint64_t{idle_} + starting_ && live_ < count_ && Start()) {
    }
  }

  // A new thread inherits its creator's signal mask.
  bool Start() LAVA_REQUIRES(mutex_) {
    const sigset_t blocked = SignalsOfOthers();
    sigset_t before;
    LAVA_CHECK(pthread_sigmask(SIG_BLOCK, &blocked, &before) == 0);
    bool started = false;
    auto self = running_.end();
    try {
      self = running_.emplace(running_.end());
      auto body = [this, self, number = next_number_] {
        const std::string name = "lava-bg-" + std::to_string(number % 1'000'000);
        (void)pthread_setname_np(pthread_self(), name.c_str());  // 15 characters at most
        Work(self);
      };
      *self = start_ != nullptr ? start_(body) : std::thread(body);
      ++next_number_;
      ++live_;
      ++starting_;
      started = true;
    } catch (const std::exception&) {
      // The system has no thread or memory left: other threads run the job, or the next call
      // retries.
      if (self != running_.end()) running_.erase(self);
    }
    LAVA_CHECK(pthread_sigmask(SIG_SETMASK, &before, nullptr) == 0);
    return started;
  }

  // Jobs report failures themselves, to code that can handle them. An exception that a job throws
  // nevertheless must not end the process.
  static void Run(std::function<void()>* job) {
    try {
      (*job)();
    } catch (...) {
    }
    *job = nullptr;  // frees what the job owns outside the lock
  }

  // Whether an idle thread must wake up: to run a job or to end.
  bool IsWanted() const LAVA_REQUIRES(mutex_) {
    return stopping_ || !queue_.empty() || live_ > count_;
  }

  void Work(std::list<std::thread>::iterator self) LAVA_EXCLUDES(mutex_) {
    MutexLock lock(&mutex_);
    --starting_;
    while (!stopping_ && live_ <= count_) {
      if (queue_.empty()) {
        ++idle_;
        const auto until = std::chrono::steady_clock::now() + kIdleMax;
        bool in_time = true;
        while (in_time && !IsWanted()) in_time = wake_.WaitUntil(&mutex_, until);
        --idle_;
        if (!IsWanted()) break;
        continue;
      }
      std::function<void()> job = std::move(queue_.front());
      queue_.pop_front();
      lock.Unlock();
      Run(&job);
      lock.Lock();
    }
    --live_;
    // This thread may have consumed the wake-up for a job that it did not take. Pass it on, or the
    // job waits for the next Submit.
    if (!queue_.empty()) wake_.NotifyOne();
    if (!stopping_) ended_.splice(ended_.end(), running_, self);
  }

  const ThreadStarter start_;
  mutable Mutex mutex_;
  CondVar wake_;
  std::deque<std::function<void()>> queue_ LAVA_GUARDED_BY(mutex_);
  uint32_t count_ LAVA_GUARDED_BY(mutex_);
  uint32_t live_ LAVA_GUARDED_BY(mutex_) = 0;  // started and not ending
  uint32_t idle_ LAVA_GUARDED_BY(mutex_) = 0;
  uint32_t starting_ LAVA_GUARDED_BY(mutex_) = 0;  // started, but not yet in Work()
  uint64_t next_number_ LAVA_GUARDED_BY(mutex_) = 0;
  bool stopping_ LAVA_GUARDED_BY(mutex_) = false;
  std::list<std::thread> running_ LAVA_GUARDED_BY(mutex_);
  std::list<std::thread> ended_ LAVA_GUARDED_BY(mutex_);  // joined by the next Submit
};

}  // namespace

std::unique_ptr<ThreadPool> ThreadPool::New(uint32_t count, ThreadStarter start) {
  return std::make_unique<ThreadPoolImpl>(count, std::move(start));
}

}  // namespace lava::os
