// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "jni_util.h"
#include "lava/db.h"

namespace lava::jni {

/// Buffers for a thread's frequent calls, so that they do not allocate after the first calls. Their
/// size between calls is limited (1 MiB each, 4 MiB for a batch) and charged to the process. Pins
/// are always released.
struct Scratch {
  GrowBuffer key;
  GrowBuffer upper;
  GrowBuffer value;
  PinnedValue pinned;
  ScanPage page;
  WriteBatch batch;
  KeptBytes pinned_kept, page_kept, batch_kept;  // sizes after the last call
};

inline constexpr size_t kKeptStringBytesMax = 1u << 20;
inline constexpr size_t kKeptBatchBytesMax = 4u << 20;

/// Empties a string, and frees its storage only if it is large.
inline void Recycle(std::string* s) {
  if (s->capacity() > kKeptStringBytesMax) {
    std::string().swap(*s);
  } else {
    s->clear();
  }
}

/// The approximate heap size of a string; short strings are stored inside the object.
inline size_t KeptBytesOf(const std::string& s) {
  constexpr size_t kInside = 16;
  return s.capacity() < kInside ? 0 : s.capacity();
}

/// The calling thread's buffers. Calls of this library are never nested on one thread.
inline Scratch& ThreadScratch() {
  static thread_local Scratch scratch;
  return scratch;
}

/// The thread's value for a read; its pins are released at the end of the call.
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

/// Most keys and many values fit: no heap, and no further thread-local lookup.
inline constexpr size_t kKeyStackBytes = 1024;
inline constexpr size_t kValueStackBytes = 1024;
using KeyBytes = InBytes<kKeyStackBytes>;
using ValueBytes = InBytes<kValueStackBytes>;

}  // namespace lava::jni
