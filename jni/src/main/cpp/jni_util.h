// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <jni.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lava/host.h"
#include "lava/slice.h"
#include "lava/status.h"

namespace lava::jni {

/// Describes the Java exception with which an entry will end. Only thrown inside the bindings;
/// Entry() converts it once to the Java exception.
struct JavaError {
  enum class Kind { kStatus, kNullPointer, kOutOfBounds, kPending };
  Kind kind;
  Status status;        // kStatus
  std::string message;  // kNullPointer, kOutOfBounds
};

/// Throws JavaError when the status is not OK.
void Check(Status status);
[[noreturn]] void ThrowNull(const char* what);
[[noreturn]] void ThrowOutOfBounds(std::string message);

/// Faults injected by tests, see LavaLibrary.setFault0.
enum class Fault : int {
  kNone = 0,
  kException = 1,
  kNoMemory = 2,
  kOddThrow = 3,
  kBusy = 4,
  kCloseBusy = 5,
  // Errors that a sanitizer must report; no effect in other builds.
  kHeapOverflow = 6,
  kUndefined = 7
};
extern std::atomic<Fault> injected_fault;
[[gnu::cold]] void ThrowInjectedFault();

/// Whether the Java method of an entry declares LavaDBException.
enum class Declares { kLavaDBException, kNothing };

/// Converts the current C++ exception to a pending Java exception. Only inside a catch block.
[[gnu::cold]] void RaiseInJava(JNIEnv* env, Declares declares) noexcept;

/// The common part of every native method: no C++ exception leaves it.
/// Errors:     returns `failed`, with a Java exception pending.
template <Declares declares = Declares::kLavaDBException, typename R, typename Body>
R Entry(JNIEnv* env, R failed, Body&& body) noexcept {
  try {
    if (injected_fault.load(std::memory_order_relaxed) != Fault::kNone) [[unlikely]] {
      ThrowInjectedFault();
    }
    return body();
  } catch (...) {
    RaiseInJava(env, declares);
    return failed;
  }
}

/// Whether a test wants writes and waits to return Busy.
inline bool BusyInjected() {
  return injected_fault.load(std::memory_order_relaxed) == Fault::kBusy;
}

/// Returns 0 for OK and the number of kBusy for Busy; throws for everything else.
jint DoneOrBusy(Status status);

/// The size of a buffer that belongs to a thread. Every change is reported to the process's budget.
/// Threads:    one. Units: bytes.
class KeptBytes {
 public:
  KeptBytes() = default;
  KeptBytes(const KeptBytes&) = delete;
  KeptBytes& operator=(const KeptBytes&) = delete;
  ~KeptBytes() { Set(0); }
  void Set(size_t bytes) {
    if (bytes == told_) [[likely]]
      return;
    Host::Get().CountBindingBytes(static_cast<int64_t>(bytes) - static_cast<int64_t>(told_));
    told_ = bytes;
  }

 private:
  size_t told_ = 0;
};

/// A growing, uninitialized buffer. It is kept for the thread's next call unless it is large.
class GrowBuffer {
 public:
  char* Reserve(size_t bytes) {
    if (bytes > capacity_) {
      data_.reset();
      capacity_ = 0;
      kept_.Set(bytes);
      data_ = std::make_unique_for_overwrite<char[]>(bytes);
      capacity_ = bytes;
    }
    return data_.get();
  }
  void Trim() {
    if (capacity_ > kKeptBytesMax) {
      data_.reset();
      capacity_ = 0;
    }
    kept_.Set(capacity_);  // smaller than before if memory was exhausted
  }

 private:
  static constexpr size_t kKeptBytesMax = 1u << 20;
  std::unique_ptr<char[]> data_;
  size_t capacity_ = 0;
  KeptBytes kept_;
};

/// The buffer for an array argument. Small arrays use the stack, which needs no initialization.
template <size_t kStackBytes>
class InBytes {
 public:
  explicit InBytes(GrowBuffer* spill) : spill_(spill) {}
  ~InBytes() { spill_->Trim(); }
  InBytes(const InBytes&) = delete;
  InBytes& operator=(const InBytes&) = delete;
  char* Reserve(size_t bytes) { return bytes <= kStackBytes ? stack_ : spill_->Reserve(bytes); }

 private:
  char stack_[kStackBytes];
  GrowBuffer* spill_;
};

/// Throws unless the array is not null, and off and len are a possible range.
void CheckRange(const void* array, jint off, jint len, const char* what);

/// The only way to pass bytes in: array[off, off + len), checked, copied once. The JVM checks the
/// upper bound against the array's length during the copy.
/// Ownership:  the slice is stored in *buffer.
template <size_t kStackBytes>
Slice CopyIn(JNIEnv* env, jbyteArray array, jint off, jint len, const char* what,
             InBytes<kStackBytes>* buffer) {
  CheckRange(array, off, len, what);
  char* to = buffer->Reserve(static_cast<size_t>(len));
  env->GetByteArrayRegion(array, off, len, reinterpret_cast<jbyte*>(to));
  // Java has checked the range, too. Without this test, a call that forgot the check would go on
  // with uninitialized bytes. By measurement the test costs about 5 of the 130 ns of contains().
  if (env->ExceptionCheck()) [[unlikely]] {
    throw JavaError{JavaError::Kind::kPending, Status::OK(), {}};
  }
  return Slice(to, static_cast<size_t>(len));
}

/// Copies a whole array, for infrequent calls.
std::string CopyWhole(JNIEnv* env, jbyteArray array, const char* what);
/// Copies text that is passed to the operating system or a name table: no NUL inside.
std::string CopyPath(JNIEnv* env, jbyteArray array);

/// The only way to pass bytes out into an existing array; the JVM checks the range.
/// Errors:     a pending Java exception, nothing copied.
void CopyOut(JNIEnv* env, Slice bytes, jbyteArray array, jint off, jint capacity);
inline constexpr size_t kJavaArrayMax = std::numeric_limits<jint>::max() - 8;
/// For a result that no array can hold.
[[noreturn]] void ThrowTooLarge(uint64_t bytes);
/// A new Java array with these bytes.
jbyteArray NewArray(JNIEnv* env, Slice bytes);
/// Fills a long[] of exactly this length.
void CopyNumbers(JNIEnv* env, std::span<const jlong> numbers, jlongArray out);

/// The long[] of some options' toNative in Java, read in order.
/// Errors:     throws InvalidArgument's JavaError.
class OptionNumbers {
 public:
  OptionNumbers(JNIEnv* env, jlongArray array);
  uint64_t Next();
  uint32_t Next32();
  /// Checks that all numbers were read.
  void End() const;

 private:
  std::vector<jlong> numbers_;
  size_t next_ = 0;
};

/// Throws InvalidArgument unless 0 <= prefix <= key bytes.
uint32_t CheckPrefix(jint prefix, size_t key_bytes);
/// Converts a number from Java that must not be negative.
uint32_t Unsigned(jint value, const char* what);

/// Caches the exception classes; false with a Java exception pending.
bool LoadClasses(JNIEnv* env);
void UnloadClasses(JNIEnv* env) noexcept;

}  // namespace lava::jni
