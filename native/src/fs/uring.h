#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace lava::fs {

/// A read or write of one descriptor; offset, length and address are the caller's to align.
struct UringCall {
  int descriptor = -1;
  uint64_t offset = 0;
  uint32_t length = 0;
  char* memory = nullptr;
  int result = 0;  // bytes done, or -errno; -ECANCELED: never started
};

/// One of the process' few rings of io_uring, for one thread at a time; it goes back on
/// destruction.
class Uring {
 public:
  enum class Outcome {
    kDone,  // every call has its result
    kLost,  // the kernel may still be at it: that memory must never be freed
  };

  /// Null when the system has no io_uring for us; that is remembered where it will not change.
  static std::unique_ptr<Uring> Take();
  virtual ~Uring() = default;
  /// Of all rings of this process so far: the kernel's own counts of a process leave them out.
  struct Totals {
    uint64_t reads = 0, bytes_read = 0;
    uint64_t writes = 0, bytes_written = 0;
  };
  static Totals TotalsNow();
  /// Begins reads, which go on beside the caller, who must Complete() them before anything else;
  /// the calls and their memory stay where they are until then. Of very many only the first.
  virtual void Start(std::span<UringCall> reads) = 0;
  virtual Outcome Complete() = 0;
  /// Begins a write that goes on beside the caller, who must Finish() it before anything else; the
  /// call and its memory stay where they are until then. False: it was not begun.
  virtual bool Begin(UringCall* write) = 0;
  virtual Outcome Finish(UringCall* write) = 0;
};

}  // namespace lava::fs
