// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// Code that breaks the rules of locks, in a different way for each value of BREAKS. check.py
// requires that the compiler refuses each of them, and that it accepts the code with BREAKS 0. This
// file is never linked.

#include "base/mutex.h"

namespace lava {

class Account {
 public:
  void Deposit(int amount) LAVA_EXCLUDES(mutex_) {
    MutexLock lock(&mutex_);
    Add(amount);
    changed_.NotifyAll();
  }
  void AwaitFull() LAVA_EXCLUDES(mutex_) {
    MutexLock lock(&mutex_);
    while (balance_ < 100) changed_.Wait(&mutex_);
  }
  void Audit() LAVA_REQUIRES(mutex_) {
    const MutexUnlock unlock(&mutex_);
#if BREAKS == 1
    Add(1);  // the mutex was released
#endif
  }
#if BREAKS == 2
  int Balance() const { return balance_; }
#elif BREAKS == 3
  void Bonus() { Add(1); }
#elif BREAKS == 4
  void Nested() {
    MutexLock inner(&last_);
    MutexLock outer(&mutex_);  // against the order
  }
#elif BREAKS == 5
  void Twice() {
    MutexLock lock(&mutex_);
    Deposit(1);
  }
#endif

 private:
  void Add(int amount) LAVA_REQUIRES(mutex_) { balance_ += amount; }

  Mutex mutex_ LAVA_ACQUIRED_BEFORE(last_);
  Mutex last_;
  CondVar changed_;
  int balance_ LAVA_GUARDED_BY(mutex_) = 0;
};

void Use(Account* account) {
  account->Deposit(1);
  account->AwaitFull();
#if BREAKS == 6
  account->Audit();
#endif
}

}  // namespace lava
