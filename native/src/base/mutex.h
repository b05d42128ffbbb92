// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/check.h"
#include "base/thread_annotations.h"

namespace lava {

/// A mutex for Clang's thread safety analysis: members name it with LAVA_GUARDED_BY, functions with
/// LAVA_REQUIRES, and a build with Clang rejects code that violates either.
/// Threads: any. Not recursive.
class LAVA_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() LAVA_ACQUIRE() {
    mutex_.lock();
    SetHolder();
  }
  void Unlock() LAVA_RELEASE() {
    ClearHolder();
    mutex_.unlock();
  }
  /// Never blocks. True: the calling thread now holds the mutex.
  [[nodiscard]] bool TryLock() LAVA_TRY_ACQUIRE(true) {
    if (!mutex_.try_lock()) return false;
    SetHolder();
    return true;
  }
  /// Aborts in debug builds unless the calling thread holds the mutex. Also tells the compiler that
  /// the mutex is held, in code that the analysis cannot follow, such as a callback.
  void AssertHeld() const LAVA_ASSERT_CAPABILITY(this) {
#ifndef NDEBUG
    LAVA_CHECK(holder_.load(std::memory_order_relaxed) == std::this_thread::get_id());
#endif
  }

 private:
  friend class CondVar;
#ifdef NDEBUG
  void SetHolder() {}
  void ClearHolder() {}
#else
  void SetHolder() { holder_.store(std::this_thread::get_id(), std::memory_order_relaxed); }
  void ClearHolder() { holder_.store(std::thread::id(), std::memory_order_relaxed); }
  std::atomic<std::thread::id> holder_{};
#endif
  std::mutex mutex_;
};

/// Holds a mutex during its own lifetime. Unlock() and Lock() release and retake the mutex in
/// between. Threads: one. Ownership: the mutex must outlive the lock.
class LAVA_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) LAVA_ACQUIRE(mutex) : mutex_(mutex) { mutex_->Lock(); }
  ~MutexLock() LAVA_RELEASE() {
    if (held_) mutex_->Unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void Unlock() LAVA_RELEASE() {
    held_ = false;
    mutex_->Unlock();
  }
  void Lock() LAVA_ACQUIRE() {
    mutex_->Lock();
    held_ = true;
  }

 private:
  Mutex* const mutex_;
  bool held_ = true;
};

/// Releases a mutex that the caller holds and retakes it at the end of the scope, also when an
/// exception leaves the scope. Threads: one. Ownership: the mutex must outlive this object.
class LAVA_SCOPED_CAPABILITY MutexUnlock {
 public:
  explicit MutexUnlock(Mutex* mutex) LAVA_RELEASE(mutex) : mutex_(mutex) { mutex_->Unlock(); }
  ~MutexUnlock() LAVA_RELEASE() { mutex_->Lock(); }
  MutexUnlock(const MutexUnlock&) = delete;
  MutexUnlock& operator=(const MutexUnlock&) = delete;

 private:
  Mutex* const mutex_;
};

/// Lets threads wait for a change of state that a mutex guards. A wait may end without a
/// notification, so callers wait in a loop that checks the guarded state.
/// Threads: any.
class CondVar {
 public:
  void Wait(Mutex* mutex) LAVA_REQUIRES(mutex) {
    Held held(mutex);
    changed_.wait(held.lock);
  }
  /// False if the time passed without a notification.
  template <typename Rep, typename Period>
  bool WaitFor(Mutex* mutex, std::chrono::duration<Rep, Period> most) LAVA_REQUIRES(mutex) {
    return WaitUntil(mutex, std::chrono::steady_clock::now() + most);
  }
  bool WaitUntil(Mutex* mutex, std::chrono::steady_clock::time_point until) LAVA_REQUIRES(mutex) {
    Held held(mutex);
    return changed_.wait_until(held.lock, until) == std::cv_status::no_timeout;
  }
  void NotifyOne() { changed_.notify_one(); }
  void NotifyAll() { changed_.notify_all(); }

 private:
  // Lends the caller's held mutex to std::condition_variable, which needs a std::unique_lock.
  struct Held {
    explicit Held(Mutex* held) : mutex(held), lock(held->mutex_, std::adopt_lock) {
      mutex->ClearHolder();
    }
    ~Held() {
      mutex->SetHolder();
      lock.release();
    }
    Mutex* const mutex;
    std::unique_lock<std::mutex> lock;
  };
  std::condition_variable changed_;
};

}  // namespace lava
