#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/check.h"
#include "base/thread_annotations.h"

namespace lava {

/// A mutex that the compiler knows: members name it with LAVA_GUARDED_BY, functions with
/// LAVA_REQUIRES, and a build with Clang refuses code that breaks either.
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
  /// Never waits. True: the calling thread holds the mutex now.
  [[nodiscard]] bool TryLock() LAVA_TRY_ACQUIRE(true) {
    if (!mutex_.try_lock()) return false;
    SetHolder();
    return true;
  }
  /// Ends the process in debug builds unless the calling thread holds the mutex. Code that the
  /// analysis cannot follow, such as a callback, tells the compiler so that the mutex is held.
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

/// Holds a mutex for as long as it lives. Unlock() and Lock() let it go and take it again in
/// between. Threads: one. Ownership: the mutex must outlive it.
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

/// Gives a mutex back that the caller holds, and takes it again at its end, also when an exception
/// leaves the scope. Threads: one. Ownership: the mutex must outlive it.
class LAVA_SCOPED_CAPABILITY MutexUnlock {
 public:
  explicit MutexUnlock(Mutex* mutex) LAVA_RELEASE(mutex) : mutex_(mutex) { mutex_->Unlock(); }
  ~MutexUnlock() LAVA_RELEASE() { mutex_->Lock(); }
  MutexUnlock(const MutexUnlock&) = delete;
  MutexUnlock& operator=(const MutexUnlock&) = delete;

 private:
  Mutex* const mutex_;
};

/// Threads wait here for a change of what a mutex guards. A wait may end without a notification, so
/// callers wait in a loop that looks at the guarded state.
/// Threads: any.
class CondVar {
 public:
  void Wait(Mutex* mutex) LAVA_REQUIRES(mutex) {
    Held held(mutex);
    changed_.wait(held.lock);
  }
  /// False when the time was over before a notification came.
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
  // The standard library's view of a mutex that the caller holds before and after.
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
