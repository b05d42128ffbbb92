#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace lava::fs {

/// A read of one descriptor; offset, length and address are the caller's to align.
struct UringRead {
  int descriptor = -1;
  uint64_t offset = 0;
  uint32_t length = 0;
  char* to = nullptr;
  int result = 0;  // bytes read, or -errno; -ECANCELED: never started
};

/// One of the process' few rings of io_uring, for one thread at a time; it goes back on
/// destruction.
class Uring {
 public:
  enum class Outcome {
    kDone,  // every read has its result
    kLost,  // the kernel may still write where reads were to go: that memory must never be freed
  };

  /// Null when the system has no io_uring for us; that is remembered where it will not change.
  static std::unique_ptr<Uring> Take();
  virtual ~Uring() = default;
  /// Of all rings of this process so far: the kernel's own counts of a process leave them out.
  struct Totals {
    uint64_t reads = 0, bytes = 0;
  };
  static Totals TotalsNow();
  virtual Outcome Run(std::span<UringRead> reads) = 0;
};

}  // namespace lava::fs
