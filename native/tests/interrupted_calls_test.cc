// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <gtest/gtest.h>
#include <liburing.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <vector>

#include "fs/read_batch.h"
#include "lava/host.h"
#include "testing/count.h"
#include "testing/random.h"
#include "testing/variable.h"
#include "tests/history/generator.h"
#include "tests/history/lava_store.h"
#include "tests/history/model_store.h"
#include "tests/history/player.h"

// Below the posix file system, and the real file of a volume, the system may interrupt any call
// (EINTR), and read or write less than requested. The linker redirects this program's calls to
// here, so that whole histories on real files meet both all the time. No answer may change.
namespace lava::testing {
namespace {

// These include those on disk, with and without direct I/O and threads.
constexpr uint64_t kHistories = 24;

std::atomic<bool> restless{false};
std::atomic<uint64_t> interrupted{0}, shortened{0}, shortened_direct{0}, shortened_in_ring{0},
    writes_shortened_in_ring{0};

Random& Dice() {
  static std::atomic<uint64_t> threads{0};
  thread_local Random random(Variable("LAVA_TEST_SEED", 1) + 7919 * ++threads);
  return random;
}

bool BrokenOff() {
  if (!restless || !Dice().OneIn(8)) return false;
  ++interrupted;
  errno = EINTR;
  return true;
}

// A part of this many bytes, in whole blocks if the descriptor uses direct I/O.
size_t SomeOf(int descriptor, size_t count) {
  constexpr size_t kBlockBytes = 4096;
  if (!restless || count < 2 || !Dice().OneIn(4)) return count;
  const bool direct = (fcntl(descriptor, F_GETFL) & O_DIRECT) != 0;
  if (!direct) {
    ++shortened;
    return Dice().Between(1, count - 1);
  }
  if (count <= kBlockBytes || count % kBlockBytes != 0) return count;
  ++shortened_direct;
  return kBlockBytes * Dice().Between(1, count / kBlockBytes - 1);
}

}  // namespace
}  // namespace lava::testing

using lava::testing::BrokenOff;
using lava::testing::SomeOf;

extern "C" {
ssize_t __real_pread(int descriptor, void* to, size_t count, off_t offset);
ssize_t __wrap_pread(int descriptor, void* to, size_t count, off_t offset) {
  return BrokenOff() ? -1 : __real_pread(descriptor, to, SomeOf(descriptor, count), offset);
}

ssize_t __real_pwrite(int descriptor, const void* from, size_t count, off_t offset);
ssize_t __wrap_pwrite(int descriptor, const void* from, size_t count, off_t offset) {
  return BrokenOff() ? -1 : __real_pwrite(descriptor, from, SomeOf(descriptor, count), offset);
}

ssize_t __real_write(int descriptor, const void* from, size_t count);
ssize_t __wrap_write(int descriptor, const void* from, size_t count) {
  // The test's own output also goes through here.
  if (descriptor <= STDERR_FILENO) return __real_write(descriptor, from, count);
  return BrokenOff() ? -1 : __real_write(descriptor, from, SomeOf(descriptor, count));
}

int __real_fsync(int descriptor);
int __wrap_fsync(int descriptor) { return BrokenOff() ? -1 : __real_fsync(descriptor); }

int __real_fdatasync(int descriptor);
int __wrap_fdatasync(int descriptor) { return BrokenOff() ? -1 : __real_fdatasync(descriptor); }

int __real_io_uring_submit_and_wait(io_uring* ring, unsigned count);
int __wrap_io_uring_submit_and_wait(io_uring* ring, unsigned count) {
  if (BrokenOff()) return -EINTR;
  for (unsigned at = ring->sq.sqe_head; at != ring->sq.sqe_tail; ++at) {
    io_uring_sqe* call = &ring->sq.sqes[at & *ring->sq.kring_mask];
    const size_t some = SomeOf(call->fd, call->len);
    if (some < call->len && call->opcode == IORING_OP_READ) ++lava::testing::shortened_in_ring;
    if (some < call->len && call->opcode == IORING_OP_WRITE)
      ++lava::testing::writes_shortened_in_ring;
    call->len = static_cast<uint32_t>(some);
  }
  return __real_io_uring_submit_and_wait(ring, count);
}
}

namespace lava::testing {
namespace {

std::vector<std::string> Play(const History& history, Store* store) {
  Player player(store);
  std::vector<std::string> words;
  for (const Operation& operation : history) words.push_back(player.Apply(operation));
  words.push_back(player.AtEnd());
  return words;
}

std::vector<uint32_t> SetsOnDisk() {
  std::vector<uint32_t> sets;
  for (uint32_t set = 0; set < kOptionSetCount; ++set)
    if (OptionSetAt(set).files == OptionSet::Files::kPosix) sets.push_back(set);
  return sets;
}

TEST(InterruptedCalls, ChangeNoAnswer) {
  const uint64_t first = Variable("LAVA_TEST_SEED", 1);
  const uint64_t histories = Variable("LAVA_TEST_HISTORIES", kHistories);
  const std::vector<uint32_t> sets = SetsOnDisk();
  ASSERT_GT(sets.size(), 4u);
  uint64_t played = 0;
  for (uint64_t seed = first; seed < first + histories && !HasFailure(); ++seed) {
    const uint32_t set = sets[seed % sets.size()];
    SCOPED_TRACE("LAVA_TEST_SEED=" + std::to_string(seed) +
                 " LAVA_TEST_HISTORIES=1: " + Describe(OptionSetAt(set)));
    GeneratorOptions options;
    options.operations = Variable("LAVA_TEST_OPERATIONS", 500);
    const History history = GenerateHistory(seed, options);
    ModelStore model;
    const std::vector<std::string> expected = Play(history, &model);
    restless = true;
    std::vector<std::string> found;
    {
      LavaStore store(OptionSetAt(set), seed);
      const Status opened = store.Open();
      EXPECT_TRUE(opened.ok()) << opened.ToString();
      if (opened.ok()) found = Play(history, &store);
    }
    restless = false;
    EXPECT_EQ(found, expected);
    EXPECT_EQ(Host::Get().statistics().charged_bytes, 0u);
    ++played;
  }
  Count(played, "histories under calls that the system broke off or did in part");
  Count(interrupted, "calls broken off");
  Count(shortened, "reads and writes done in part");
  Count(shortened_direct, "direct reads and writes done in part");
  Count(shortened_in_ring, "reads of io_uring done in part");
  Count(writes_shortened_in_ring, "writes of io_uring done in part");
  EXPECT_GT(interrupted, 0u);
  EXPECT_GT(shortened, 0u);
  // Containers often have no io_uring, and a single history may not read in batches.
  if (fs::ReadBatch::IsParallel() && played >= kHistories) {
    EXPECT_GT(shortened_in_ring, 0u);
  }
}

}  // namespace
}  // namespace lava::testing
