// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/direct_io.h"

#include <fcntl.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "base/check.h"
#include "fs/posix_error.h"
#include "lava/status.h"
#include "memory/page_pool.h"

namespace lava::fs {
namespace {

constexpr uint32_t kAlignmentDefault = 4096;
constexpr uint32_t kAlignmentMax = 64 << 10;
constexpr size_t kReadBytesMax = 1 << 20;

bool SetDirect(int descriptor, bool on) {
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0) return false;
  return fcntl(descriptor, F_SETFL, on ? flags | O_DIRECT : flags & ~O_DIRECT) == 0;
}

// 0: the file reports that it does not support direct I/O.
uint32_t AlignmentOf([[maybe_unused]] int descriptor) {
#ifdef STATX_DIOALIGN
  struct statx st {};
  const bool known = statx(descriptor, "", AT_EMPTY_PATH, STATX_DIOALIGN, &st) == 0 &&
                     (st.stx_mask & STATX_DIOALIGN) != 0;
  if (known) {
    const uint32_t alignment = std::max(st.stx_dio_mem_align, st.stx_dio_offset_align);
    if (st.stx_dio_offset_align == 0 || alignment > kAlignmentMax) return 0;
    if (std::has_single_bit(alignment)) return alignment;
  }
#endif
  return kAlignmentDefault;
}

uint32_t SystemTurnOn(int descriptor) {
  return SetDirect(descriptor, true) ? AlignmentOf(descriptor) : 0;
}

void SystemTurnOff(int descriptor) { (void)SetDirect(descriptor, false); }

}  // namespace

AlignedBuffer::AlignedBuffer(size_t bytes, size_t alignment)
    : bytes_(static_cast<size_t>(RoundUp(bytes, alignment))) {
  LAVA_CHECK(std::has_single_bit(alignment) && bytes > 0);
  from_pool_ = bytes_ >= PagePool::kPageBytes && alignment <= PagePool::kPageBytes;
  memory_ = from_pool_ ? PagePool::Process().Allocate(bytes_)
                       : static_cast<char*>(std::aligned_alloc(alignment, bytes_));
  if (memory_ == nullptr) throw std::bad_alloc();
}

void AlignedBuffer::Free() {
  if (memory_ == nullptr) return;
  if (from_pool_) {
    PagePool::Process().Free(memory_, bytes_);
  } else {
    std::free(memory_);
  }
  Leak();
}

DirectIo::Calls DirectIo::System() {
  return {.turn_on = SystemTurnOn, .turn_off = SystemTurnOff, .read = pread, .write = pwrite};
}

uint32_t DirectIo::TurnOn(int descriptor) {
  const uint32_t alignment = calls_.turn_on(descriptor);
  if (alignment == 0) TurnOff(descriptor);
  return alignment;
}

void DirectIo::TurnOff(int descriptor) {
  calls_.turn_off(descriptor);
  files_refused_.fetch_add(1, std::memory_order_relaxed);
}

Result<size_t> DirectIo::Read(int descriptor, const std::string& path, uint64_t offset,
                              size_t length, uint32_t alignment, char* to, bool* refused) const {
  *refused = false;
  if (length == 0) return size_t{0};
  const uint64_t end = RoundUp(offset + length, alignment);
  uint64_t at = RoundDown(offset, alignment);
  const AlignedBuffer buffer(std::min<uint64_t>(end - at, kReadBytesMax), alignment);
  size_t done = 0;
  while (at < end) {
    const size_t wanted = std::min<uint64_t>(end - at, buffer.size());
    const ssize_t got = calls_.read(descriptor, buffer.data(), wanted, static_cast<off_t>(at));
    if (got < 0) {
      if (errno == EINTR) continue;
      *refused = errno == EINVAL;
      return PosixError(
          "read " + std::to_string(length) + " bytes at offset " + std::to_string(offset) + " of",
          path, errno);
    }
    const uint64_t from = std::max(at, offset), until = std::min(at + got, offset + length);
    if (from < until) {
      std::memcpy(to + (from - offset), buffer.data() + (from - at), until - from);
      done = until - offset;
    }
    // The rest of a partly read block is requested again. No more bytes mean the end of the file.
    const uint64_t next = RoundDown(at + got, alignment);
    if (next == at || done == length) break;
    at = next;
  }
  return done;
}

}  // namespace lava::fs
