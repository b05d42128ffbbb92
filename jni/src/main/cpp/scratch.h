#pragma once

#include <string>

#include "jni_util.h"
#include "lava/db.h"

namespace lava::jni {

/// Storage of a thread's hot calls, so that they allocate nothing once warm. What a call leaves
/// behind is bounded (1 MiB each, 4 MiB of a batch) and charged to the process; pins never stay.
struct Scratch {
  GrowBuffer key;
  GrowBuffer upper;
  GrowBuffer value;
  PinnedValue pinned;
  ScanPage page;
  WriteBatch batch;
  KeptBytes pinned_kept, page_kept, batch_kept;  // as their last call left them
};

inline constexpr size_t kKeptStringBytesMax = 1u << 20;
inline constexpr size_t kKeptBatchBytesMax = 4u << 20;

/// Empties a string and keeps its storage unless that is large.
inline void Recycle(std::string* s) {
  if (s->capacity() > kKeptStringBytesMax) {
    std::string().swap(*s);
  } else {
    s->clear();
  }
}

/// What a string has of the heap, or some bytes of its own that are not worth a question.
inline size_t KeptBytesOf(const std::string& s) {
  constexpr size_t kInside = 16;
  return s.capacity() < kInside ? 0 : s.capacity();
}

/// The calling thread's. No call of this library is inside another one on the same thread.
inline Scratch& ThreadScratch() {
  static thread_local Scratch scratch;
  return scratch;
}

/// The thread's value for a read; what it pins is let go at the end of the call.
class ScratchValue {
 public:
  ScratchValue() : scratch_(ThreadScratch()), value_(&scratch_.pinned) {}
  ~ScratchValue() {
    value_->Reset();
    Recycle(value_->storage());
    scratch_.pinned_kept.Set(KeptBytesOf(*value_->storage()));
  }
  ScratchValue(const ScratchValue&) = delete;
  ScratchValue& operator=(const ScratchValue&) = delete;
  PinnedValue* get() const { return value_; }
  Slice data() const { return value_->data(); }

 private:
  Scratch& scratch_;
  PinnedValue* const value_;
};

/// Most keys and many values fit: no heap, no thread-local lookup beyond the scratch's own.
inline constexpr size_t kKeyStackBytes = 1024;
inline constexpr size_t kValueStackBytes = 1024;
using KeyBytes = InBytes<kKeyStackBytes>;
using ValueBytes = InBytes<kValueStackBytes>;

}  // namespace lava::jni
