// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "host/budget_relief.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <new>
#include <utility>

#include "base/mutex.h"
#include "os/thread_pool.h"

namespace lava {
namespace {

constexpr std::chrono::milliseconds kFirstWait{10};
constexpr std::chrono::milliseconds kWaitMax{1000};

}  // namespace

BudgetRelief::BudgetRelief(std::function<bool()> step)
    : step_(std::move(step)), pool_(os::ThreadPool::New(1)) {}

BudgetRelief::~BudgetRelief() {
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  pool_.reset();
}

bool BudgetRelief::Start() {
  MutexLock lock(&mutex_);
  started_again_ = true;
  changed_.NotifyAll();
  if (running_) {
    pool_->RetryThreads();
    return true;
  }
  try {
    pool_->Submit([this] { Run(); });
    running_ = true;
  } catch (const std::bad_alloc&) {  // the next Start() tries again
  }
  return running_;
}

void BudgetRelief::Run() {
  MutexLock lock(&mutex_);
  std::chrono::milliseconds wait = kFirstWait;
  while (!stopping_) {
    if (std::exchange(started_again_, false)) wait = kFirstWait;
    lock.Unlock();
    bool done = false;
    try {
      done = step_();
    } catch (const std::bad_alloc&) {  // the next step tries again
    }
    lock.Lock();
    if (done && !started_again_) break;
    const auto until = std::chrono::steady_clock::now() + wait;
    while (!stopping_ && !started_again_ && changed_.WaitUntil(&mutex_, until)) continue;
    wait = std::min(2 * wait, kWaitMax);
  }
  running_ = false;
}

}  // namespace lava
