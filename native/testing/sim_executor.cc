// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "testing/sim_executor.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace lava::testing {

void SimExecutor::Submit(os::Priority priority, std::function<void()> job) {
  LAVA_CHECK(job != nullptr);
  std::lock_guard<std::mutex> lock(mutex_);
  jobs_.push_back({priority, std::move(job), false});
}

void SimExecutor::MakeUrgent(os::Priority priority) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (Job& job : jobs_) job.urgent = job.urgent || job.priority == priority;
}

uint32_t SimExecutor::thread_count() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return thread_count_;
}

void SimExecutor::SetThreadCount(uint32_t count) {
  std::lock_guard<std::mutex> lock(mutex_);
  thread_count_ = count;
}

bool SimExecutor::RunOne() {
  std::function<void()> run;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (jobs_.empty()) return false;
    auto next = jobs_.begin();
    if (order_ == Order::kRandom) {
      next += static_cast<std::ptrdiff_t>(random_.Uniform(jobs_.size()));
    } else {
      next = std::min_element(jobs_.begin(), jobs_.end(), [](const Job& a, const Job& b) {
        if (a.urgent != b.urgent) return a.urgent;
        return a.priority < b.priority;  // among equals the first one is the oldest
      });
    }
    run = std::move(next->run);
    jobs_.erase(next);
    ++jobs_run_;
  }
  run();
  return true;
}

bool SimExecutor::RunOne(os::Priority priority) {
  std::function<void()> run;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto next = std::find_if(jobs_.begin(), jobs_.end(),
                                   [&](const Job& job) { return job.priority == priority; });
    if (next == jobs_.end()) return false;
    run = std::move(next->run);
    jobs_.erase(next);
    ++jobs_run_;
  }
  run();
  return true;
}

uint64_t SimExecutor::RunUntilIdle(uint64_t jobs_max) {
  uint64_t ran = 0;
  while (ran < jobs_max && RunOne()) ++ran;
  return ran;
}

uint64_t SimExecutor::DropAll() {
  std::vector<Job> dropped;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    std::swap(dropped, jobs_);
  }
  return dropped.size();
}

uint64_t SimExecutor::pending() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return jobs_.size();
}

uint64_t SimExecutor::pending_urgent() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<uint64_t>(
      std::count_if(jobs_.begin(), jobs_.end(), [](const Job& job) { return job.urgent; }));
}

uint64_t SimExecutor::jobs_run() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return jobs_run_;
}

}  // namespace lava::testing
