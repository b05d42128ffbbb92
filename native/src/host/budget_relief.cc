#include "host/budget_relief.h"

#include <algorithm>
#include <chrono>
#include <new>
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

bool BudgetRelief::Start() {
  std::lock_guard<std::mutex> lock(mutex_);
  started_again_ = true;
  changed_.notify_all();
  if (running_) {
    pool_->Poke();
    return true;
  }
  try {
    pool_->Submit([this] { Run(); });
    running_ = true;
  } catch (const std::bad_alloc&) {  // whoever asks next starts it
  }
  return running_;
}

void BudgetRelief::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  std::chrono::milliseconds wait = kFirstWait;
  while (!stopping_) {
    if (std::exchange(started_again_, false)) wait = kFirstWait;
    lock.unlock();
    bool done = false;
    try {
      done = step_();
    } catch (const std::bad_alloc&) {  // tried again
    }
    lock.lock();
    if (done && !started_again_) break;
    changed_.wait_for(lock, wait, [this] { return stopping_ || started_again_; });
    wait = std::min(2 * wait, kWaitMax);
  }
  running_ = false;
}

}  // namespace lava
