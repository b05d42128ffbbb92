// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "lava/status.h"

namespace lava::fs {

/// Memory whose address is a multiple of a device's block.
/// Threads:    a value.
/// Errors:     std::bad_alloc from the constructor.
/// Units:      bytes; alignment is a power of two, size() a multiple of it.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  AlignedBuffer(size_t bytes, size_t alignment);

  ~AlignedBuffer() { Free(); }
  AlignedBuffer(AlignedBuffer&& from) noexcept { Swap(&from); }
  AlignedBuffer& operator=(AlignedBuffer&& from) noexcept {
    if (this != &from) {
      Free();
      Swap(&from);
    }
    return *this;
  }

  char* data() const { return memory_; }
  size_t size() const { return bytes_; }
  /// Gives the memory up without freeing it, because the kernel may still write to it.
  void Leak() {
    memory_ = nullptr;
    bytes_ = 0;
  }

 private:
  void Free();
  void Swap(AlignedBuffer* other) {
    std::swap(memory_, other->memory_);
    std::swap(bytes_, other->bytes_);
    std::swap(from_pool_, other->from_pool_);
  }
  char* memory_ = nullptr;
  size_t bytes_ = 0;
  bool from_pool_ = false;  // pages of PagePool::Process()
};

constexpr uint64_t RoundDown(uint64_t bytes, uint64_t alignment) {
  return bytes & ~(alignment - 1);
}
constexpr uint64_t RoundUp(uint64_t bytes, uint64_t alignment) {
  return RoundDown(bytes + alignment - 1, alignment);
}

/// I/O past the page cache (O_DIRECT) for the files of one file system. A file that rejects direct
/// I/O goes through the page cache like any other, and is counted.
/// Threads:    any.
/// Errors:     IOError, naming path, offset and length.
/// Units:      bytes.
class DirectIo {
 public:
  /// The system calls that may reject direct I/O; tests replace them.
  struct Calls {
    uint32_t (*turn_on)(int descriptor);  // O_DIRECT; the alignment, 0: rejected
    void (*turn_off)(int descriptor);
    ssize_t (*read)(int descriptor, void* to, size_t bytes, off_t offset);
    ssize_t (*write)(int descriptor, const void* from, size_t bytes, off_t offset);
  };
  static Calls System();

  explicit DirectIo(const Calls& calls = System()) : calls_(calls) {}

  /// Returns the alignment of offsets, lengths and memory from now on. 0: rejected, and counted.
  uint32_t TurnOn(int descriptor);
  /// For a file that rejects direct I/O only at its first read or write.
  void TurnOff(int descriptor);

  /// Reads as ReadAt does, in whole blocks of `alignment`, through a buffer of at most 1 MiB. A
  /// read that fits in the buffer is one call. *refused: direct I/O must be turned off and the read
  /// repeated without it.
  Result<size_t> Read(int descriptor, const std::string& path, uint64_t offset, size_t length,
                      uint32_t alignment, char* to, bool* refused) const;
  const Calls& calls() const { return calls_; }
  /// Files that rejected direct I/O.
  uint64_t files_refused() const { return files_refused_.load(std::memory_order_relaxed); }

 private:
  const Calls calls_;
  std::atomic<uint64_t> files_refused_{0};
};

}  // namespace lava::fs
