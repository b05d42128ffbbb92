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

/// Describes the Java exception that an entry is to end with. Thrown inside the glue only; Entry()
/// turns it into the Java exception, once.
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

/// What tests inject, see LavaLibrary.setFault0.
enum class Fault : int {
  kNone = 0,
  kException = 1,
  kNoMemory = 2,
  kOddThrow = 3,
  kBusy = 4,
  kCloseBusy = 5,
  // What a sanitizer must report; nothing in other builds.
  kHeapOverflow = 6,
  kUndefined = 7
};
extern std::atomic<Fault> injected_fault;
[[gnu::cold]] void ThrowInjectedFault();

/// Whether the Java method of an entry declares LavaDBException.
enum class Declares { kLavaDBException, kNothing };

/// Turns the exception in flight into a pending Java exception. Only inside a catch block.
[[gnu::cold]] void RaiseInJava(JNIEnv* env, Declares declares) noexcept;

/// The frame of every native method: no C++ exception leaves it.
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

/// True when a write or wait should answer Busy because a test says so.
inline bool BusyInjected() {
  return injected_fault.load(std::memory_order_relaxed) == Fault::kBusy;
}

/// 0 for OK, the number of kBusy for Busy; throws for everything else.
jint DoneOrBusy(Status status);

/// What something of a thread takes, told to the process's budget whenever it changes.
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

/// Bytes that grow, are not cleared, and are kept for the next call of the thread unless large.
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
    kept_.Set(capacity_);  // less than before, too, when there was no memory
  }

 private:
  static constexpr size_t kKeptBytesMax = 1u << 20;
  std::unique_ptr<char[]> data_;
  size_t capacity_ = 0;
  KeptBytes kept_;
};

/// Where a call's array goes on its way in: the stack when it is small, which needs no clearing.
template <size_t kStackBytes>
class InBytes {
 public:
  explicit InBytes(GrowBuffer* spill) : spill_(spill) {}
  ~InBytes() { spill_->Trim(); }
  InBytes(const InBytes&) = delete;
  InBytes& operator=(const InBytes&) = delete;
  char* Room(size_t bytes) { return bytes <= kStackBytes ? stack_ : spill_->Reserve(bytes); }

 private:
  char stack_[kStackBytes];
  GrowBuffer* spill_;
};

/// Throws unless off and len are a possible range of a Java array that is not null.
void CheckRange(const void* array, jint off, jint len, const char* what);

/// The one way in for bytes: array[off, off + len), checked, copied once. The JVM checks the upper
/// end against the array's length while it copies.
/// Ownership:  the slice lives in *room.
template <size_t kStackBytes>
Slice CopyIn(JNIEnv* env, jbyteArray array, jint off, jint len, const char* what,
             InBytes<kStackBytes>* room) {
  CheckRange(array, off, len, what);
  char* to = room->Room(static_cast<size_t>(len));
  env->GetByteArrayRegion(array, off, len, reinterpret_cast<jbyte*>(to));
  // Java checked the range, too. But without this question a call that forgot to would go on with
  // bytes that nobody copied; measured, it costs about 5 of the 130 ns of contains().
  if (env->ExceptionCheck()) [[unlikely]] {
    throw JavaError{JavaError::Kind::kPending, Status::OK(), {}};
  }
  return Slice(to, static_cast<size_t>(len));
}

/// A whole array, for calls that are not hot.
std::string CopyWhole(JNIEnv* env, jbyteArray array, const char* what);
/// Text that the operating system or a name table gets: no NUL inside.
std::string CopyPath(JNIEnv* env, jbyteArray array);

/// The one way out for bytes into an existing array; the JVM checks the range.
/// Errors:     a pending Java exception, nothing copied.
void CopyOut(JNIEnv* env, Slice bytes, jbyteArray array, jint off, jint room);
inline constexpr size_t kJavaArrayMax = std::numeric_limits<jint>::max() - 8;
/// Of a result that no array can hold.
[[noreturn]] void ThrowTooLarge(uint64_t bytes);
/// A new Java array with these bytes.
jbyteArray NewArray(JNIEnv* env, Slice bytes);
/// Fills a long[] of exactly this length.
void CopyNumbers(JNIEnv* env, std::span<const jlong> numbers, jlongArray out);

/// The long[] of some options' toNative in Java, taken in order.
/// Errors:     throws InvalidArgument's JavaError.
class OptionNumbers {
 public:
  OptionNumbers(JNIEnv* env, jlongArray array);
  uint64_t Next();
  uint32_t Next32();
  /// All were taken.
  void End() const;

 private:
  std::vector<jlong> numbers_;
  size_t next_ = 0;
};

/// Throws InvalidArgument unless 0 <= prefix <= key bytes.
uint32_t CheckPrefix(jint prefix, size_t key_bytes);
/// A number from Java that must not be negative.
uint32_t Unsigned(jint value, const char* what);

/// Caches the exception classes; false with a Java exception pending.
bool LoadClasses(JNIEnv* env);
void UnloadClasses(JNIEnv* env) noexcept;

}  // namespace lava::jni
