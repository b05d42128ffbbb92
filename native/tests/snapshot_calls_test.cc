// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <linux/prctl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "host/host_impl.h"
#include "memory/free_heap.h"
#include "tests/db_real_test_util.h"

// System calls in a checkpoint's synchronous part. The kernel redirects every call of the thread to
// here (PR_SET_SYSCALL_USER_DISPATCH), including those of allocators and locks.

// The signal handler's return, the only code whose calls the kernel lets pass.
extern "C" char lava_test_restorer[], lava_test_restorer_end[];
asm(R"(
  .text
lava_test_restorer:
  mov $15, %eax  # rt_sigreturn
  syscall
  nop            # the kernel looks at where the call returns to
lava_test_restorer_end:
)");

namespace lava::testing {
namespace {

// The kernel reads it at each call of the thread that registered it.
volatile char selector = SYSCALL_DISPATCH_FILTER_ALLOW;
std::vector<long>* made = nullptr;

void Dispatched(int, siginfo_t* info, void* context) {
  selector = SYSCALL_DISPATCH_FILTER_ALLOW;
  made->push_back(info->si_syscall);
  auto* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const long result =
      syscall(info->si_syscall, registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
              registers[REG_R10], registers[REG_R8], registers[REG_R9]);
  registers[REG_RAX] = result == -1 ? -errno : result;
  selector = SYSCALL_DISPATCH_FILTER_BLOCK;
}

// The kernel's own struct, because the library's call would install its own return code.
struct KernelAction {
  void (*handler)(int, siginfo_t*, void*);
  unsigned long flags;
  void (*restorer)();
  uint64_t mask;
};

long SetAction(const KernelAction* action, KernelAction* before) {
  return syscall(SYS_rt_sigaction, SIGSYS, action, before, sizeof(uint64_t));
}

/// The numbers of the system calls that this thread makes in the call.
template <typename Call>
std::vector<long> SystemCallsIn(Call call) {
  constexpr unsigned long kHasRestorer = 0x04000000;
  std::vector<long> calls;
  calls.reserve(1024);
  made = &calls;
  KernelAction before{};
  const KernelAction action{Dispatched, SA_SIGINFO | kHasRestorer,
                            reinterpret_cast<void (*)()>(lava_test_restorer), 0};
  EXPECT_EQ(SetAction(&action, &before), 0);
  EXPECT_EQ(prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, lava_test_restorer,
                  lava_test_restorer_end - lava_test_restorer, &selector),
            0)
      << "the test needs Linux 5.11 or later";
  selector = SYSCALL_DISPATCH_FILTER_BLOCK;
  call();
  selector = SYSCALL_DISPATCH_FILTER_ALLOW;
  EXPECT_EQ(prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0), 0);
  EXPECT_EQ(SetAction(&before, nullptr), 0);
  return calls;
}

TEST(SystemCallsTest, AllAreToldAndMade) {
  pid_t parent = 0;
  EXPECT_EQ(SystemCallsIn([&] {
              parent = getppid();
              EXPECT_EQ(close(-1), -1);
              EXPECT_EQ(errno, EBADF);
            }),
            (std::vector<long>{SYS_getppid, SYS_close}));
  EXPECT_EQ(parent, getppid());
  EXPECT_TRUE(SystemCallsIn([] {}).empty());
}

class SnapshotCallsTest : public RealDBTest {
 protected:
  std::vector<long> CallsOfASnapshot() {
    std::shared_ptr<Snapshot> snapshot;
    std::vector<long> calls = SystemCallsIn([&] {
      auto taken = db_->TakeSnapshot();
      ASSERT_OK(taken.status());
      snapshot = *taken;
    });
    UntilDone([&] { return snapshot->WaitFlushed(100); });
    return calls;
  }
};

// The flush of the sealed memtable is submitted, which wakes a thread, when the snapshot is first
// used.
TEST_F(SnapshotCallsTest, ASnapshotMakesNone) {
  ASSERT_NO_FATAL_FAILURE(Open());
  int grown = 0;
  for (int round = 0; round < 10; ++round) {
    // Settled, so that a thread waits for work, and no other work interferes.
    ASSERT_NO_FATAL_FAILURE(Overwrite(5));
    ASSERT_NO_FATAL_FAILURE(Settle());
    ASSERT_NO_FATAL_FAILURE(Overwrite(5));
    // Free heap has just been returned, and no other thread holds malloc's lock for that any more.
    const HostImpl* const host = Impl(options_.lease.get())->host();
    while (host->gives_back_heap()) std::this_thread::yield();
    heard_->Clear();  // so that the listener of this test has capacity for the snapshot's event
    GiveBackFreeHeap();
    std::vector<long> calls = CallsOfASnapshot();
    // malloc grows its heap by 128 KiB whenever nothing is left of it, which is rarely.
    if (std::erase(calls, SYS_brk) > 0) ++grown;
    EXPECT_EQ(calls, std::vector<long>()) << "round " << round;
  }
  EXPECT_LT(grown, 5) << "the snapshots take too much memory";
}

}  // namespace
}  // namespace lava::testing
