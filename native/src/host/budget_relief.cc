#include "host/budget_relief.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace lava {
namespace {

constexpr std::chrono::milliseconds kFirstWait{10};
constexpr std::chrono::milliseconds kWaitMax{1000};

}  // namespace

BudgetRelief::BudgetRelief(std::function<bool()> step)
    : step_(std::move(step)), pool_(os::ThreadPool::New(1)) {}

BudgetRelief::~BudgetRelief() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  pool_.reset();
}

void BudgetRelief::Start() {
  std::lock_guard<std::mutex> lock(mutex_);
  started_again_ = true;
  changed_.notify_all();
  if (std::exchange(running_, true)) {
    pool_->Poke();
  } else {
    pool_->Submit([this] { Run(); });
  }
}

void BudgetRelief::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  std::chrono::milliseconds wait = kFirstWait;
  while (!stopping_) {
    if (std::exchange(started_again_, false)) wait = kFirstWait;
    lock.unlock();
    const bool done = step_();
    lock.lock();
    if (done && !started_again_) break;
    changed_.wait_for(lock, wait, [this] { return stopping_ || started_again_; });
    wait = std::min(2 * wait, kWaitMax);
  }
  running_ = false;
}

}  // namespace lava
