// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "jni_util.h"

#include <jni.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "lava/slice.h"
#include "lava/status.h"

namespace lava::jni {

std::atomic<Fault> injected_fault{Fault::kNone};

namespace {

constexpr jint kInternalCode = 100;  // Status.Code.INTERNAL, which only the bindings use

// Weak references: a strong reference from native code to one of our classes would keep its loader,
// and so this library, for ever. The loader keeps the classes while any native method can run.
struct Classes {
  jweak lava_exception = nullptr;
  jweak closed_exception = nullptr;
  jweak null_pointer = nullptr;
  jweak out_of_bounds = nullptr;
  jweak internal_error = nullptr;
  jmethodID lava_exception_init = nullptr;  // (int, String)
};
Classes classes;

// Converts UTF-8 to UTF-16. Invalid bytes become U+FFFD, because messages may contain any file
// name.
std::u16string ToUtf16(std::string_view in) {
  std::u16string out;
  out.reserve(in.size());
  for (size_t i = 0; i < in.size();) {
    const auto b0 = static_cast<unsigned char>(in[i]);
    const size_t n = b0 < 0x80 ? 1 : b0 >> 5 == 6 ? 2 : b0 >> 4 == 14 ? 3 : b0 >> 3 == 30 ? 4 : 0;
    char32_t c = n == 1 ? b0 : b0 & (0x7Fu >> n);
    bool good = n > 0 && i + n <= in.size();
    for (size_t k = 1; good && k < n; k++) {
      const auto b = static_cast<unsigned char>(in[i + k]);
      good = (b & 0xC0) == 0x80;
      c = c << 6 | (b & 0x3Fu);
    }
    static constexpr char32_t kFirst[] = {0, 0, 0x80, 0x800, 0x10000};
    good = good && c >= kFirst[n] && c <= 0x10FFFF && !(c >= 0xD800 && c < 0xE000);
    if (!good) {
      out.push_back(u'\uFFFD');
      i++;
      continue;
    }
    if (c < 0x10000) {
      out.push_back(static_cast<char16_t>(c));
    } else {
      out.push_back(static_cast<char16_t>(0xD7C0 + (c >> 10)));
      out.push_back(static_cast<char16_t>(0xDC00 + (c & 0x3FF)));
    }
    i += n;
  }
  return out;
}

jstring NewString(JNIEnv* env, std::string_view text) {
  const std::u16string utf16 = ToUtf16(text);
  return env->NewString(reinterpret_cast<const jchar*>(utf16.data()),
                        static_cast<jsize>(utf16.size()));
}

void ThrowLava(JNIEnv* env, jint code, std::string_view message) {
  jstring text = NewString(env, message);
  if (text == nullptr) return;  // OutOfMemoryError is pending
  auto type = static_cast<jclass>(env->NewLocalRef(classes.lava_exception));
  if (type == nullptr) return;
  auto exception =
      static_cast<jthrowable>(env->NewObject(type, classes.lava_exception_init, code, text));
  if (exception != nullptr) env->Throw(exception);
}

// ThrowNew takes modified UTF-8, which equals plain ASCII for ASCII characters. All other
// characters are replaced.
void ThrowPlain(JNIEnv* env, jweak weak, std::string message) {
  for (char& c : message) {
    if (static_cast<signed char>(c) <= 0) c = '?';
  }
  auto type = static_cast<jclass>(env->NewLocalRef(weak));
  if (type != nullptr) env->ThrowNew(type, message.c_str());
}

void Raise(JNIEnv* env, Declares declares, jint code, const std::string& message) {
  if (code == static_cast<jint>(Status::Code::kClosed)) {
    ThrowPlain(env, classes.closed_exception, message);
  } else if (declares == Declares::kNothing) {
    ThrowPlain(env, classes.internal_error, message);
  } else {
    ThrowLava(env, code, message);
  }
}

void RaiseCaught(JNIEnv* env, Declares declares) {
  try {
    throw;
  } catch (const JavaError& e) {
    switch (e.kind) {
      case JavaError::Kind::kPending:
        return;
      case JavaError::Kind::kNullPointer:
        return ThrowPlain(env, classes.null_pointer, e.message);
      case JavaError::Kind::kOutOfBounds:
        return ThrowPlain(env, classes.out_of_bounds, e.message);
      case JavaError::Kind::kStatus:
        return Raise(env, declares, static_cast<jint>(e.status.code()),
                     std::string(e.status.message()));
    }
  } catch (const std::bad_alloc&) {
    Raise(env, declares, static_cast<jint>(Status::Code::kMemoryLimit),
          "the native library could not allocate memory");
  } catch (const std::exception& e) {
    Raise(env, declares, kInternalCode, std::string("unexpected native exception: ") + e.what());
  } catch (...) {
    Raise(env, declares, kInternalCode, "unexpected native exception of an unknown type");
  }
}

jweak WeakClass(JNIEnv* env, const char* name) {
  jclass local = env->FindClass(name);
  if (local == nullptr) return nullptr;
  jweak weak = env->NewWeakGlobalRef(local);
  env->DeleteLocalRef(local);
  return weak;
}

}  // namespace

void Check(Status status) {
  if (!status.ok()) [[unlikely]] {
    throw JavaError{JavaError::Kind::kStatus, std::move(status), {}};
  }
}

void ThrowNull(const char* what) {
  throw JavaError{JavaError::Kind::kNullPointer, Status::OK(), std::string(what) + " is null"};
}

void ThrowOutOfBounds(std::string message) {
  throw JavaError{JavaError::Kind::kOutOfBounds, Status::OK(), std::move(message)};
}

#if defined(__SANITIZE_ADDRESS__)
namespace {

void OverflowHeap() {
  const volatile size_t bytes = 8;
  const std::unique_ptr<volatile char[]> memory(new volatile char[bytes]);
  for (size_t i = 0; i < bytes + 2; ++i) memory[i] = 1;
}

void OverflowNumber() {
  volatile int number = std::numeric_limits<int>::max();
  number = number + 1;
}

}  // namespace
#else
static void OverflowHeap() {}
static void OverflowNumber() {}
#endif

void ThrowInjectedFault() {
  switch (injected_fault.load()) {
    case Fault::kException:
      throw std::runtime_error("injected by a test");
    case Fault::kNoMemory:
      throw std::bad_alloc();
    case Fault::kOddThrow:
      throw 42;
    case Fault::kHeapOverflow:
      return OverflowHeap();
    case Fault::kUndefined:
      return OverflowNumber();
    case Fault::kNone:
    case Fault::kBusy:
    case Fault::kCloseBusy:
      return;
  }
}

void RaiseInJava(JNIEnv* env, Declares declares) noexcept {
  try {
    RaiseCaught(env, declares);
  } catch (...) {
    // Building the message failed, so memory is exhausted. This path allocates no native memory.
    auto type = static_cast<jclass>(env->NewLocalRef(classes.internal_error));
    if (type != nullptr) env->ThrowNew(type, "no native memory to describe a native failure");
  }
}

jint DoneOrBusy(Status status) {
  if (status.IsBusy()) return static_cast<jint>(Status::Code::kBusy);
  Check(std::move(status));
  return 0;
}

void CheckRange(const void* array, jint off, jint len, const char* what) {
  if (array == nullptr) [[unlikely]] {
    ThrowNull(what);
  }
  if (off < 0 || len < 0 || off > std::numeric_limits<jint>::max() - len) [[unlikely]] {
    ThrowOutOfBounds(std::string(what) + ": offset " + std::to_string(off) + ", length " +
                     std::to_string(len));
  }
}

std::string CopyWhole(JNIEnv* env, jbyteArray array, const char* what) {
  CheckRange(array, 0, 0, what);
  const jsize length = env->GetArrayLength(array);
  std::string bytes(static_cast<size_t>(length), '\0');
  env->GetByteArrayRegion(array, 0, length, reinterpret_cast<jbyte*>(bytes.data()));
  return bytes;
}

std::string CopyPath(JNIEnv* env, jbyteArray array) {
  std::string path = CopyWhole(env, array, "path");
  if (path.empty() || path.find('\0') != std::string::npos) {
    Check(Status::InvalidArgument("a path is empty or holds a NUL character"));
  }
  return path;
}

void CopyOut(JNIEnv* env, Slice bytes, jbyteArray array, jint off, jint capacity) {
  CheckRange(array, off, capacity, "output array");
  if (bytes.size() > static_cast<size_t>(capacity)) {
    ThrowOutOfBounds("output array: " + std::to_string(bytes.size()) + " bytes for a capacity of " +
                     std::to_string(capacity));
  }
  env->SetByteArrayRegion(array, off, static_cast<jsize>(bytes.size()),
                          reinterpret_cast<const jbyte*>(bytes.data()));
}

void ThrowTooLarge(uint64_t bytes) {
  throw JavaError{
      JavaError::Kind::kStatus,
      Status::MemoryLimit("a result of " + std::to_string(bytes) +
                          " bytes does not fit into a Java array: ask for less at once"),
      {}};
}

jbyteArray NewArray(JNIEnv* env, Slice bytes) {
  if (bytes.size() > kJavaArrayMax) ThrowTooLarge(bytes.size());
  jbyteArray array = env->NewByteArray(static_cast<jsize>(bytes.size()));
  if (array == nullptr) throw JavaError{JavaError::Kind::kPending, Status::OK(), {}};
  env->SetByteArrayRegion(array, 0, static_cast<jsize>(bytes.size()),
                          reinterpret_cast<const jbyte*>(bytes.data()));
  return array;
}

void CopyNumbers(JNIEnv* env, std::span<const jlong> numbers, jlongArray out) {
  CheckRange(out, 0, 0, "numbers");
  const auto count = static_cast<jsize>(numbers.size());
  if (env->GetArrayLength(out) != count) {
    ThrowOutOfBounds("numbers: not an array of " + std::to_string(count));
  }
  env->SetLongArrayRegion(out, 0, count, numbers.data());
}

OptionNumbers::OptionNumbers(JNIEnv* env, jlongArray array) {
  CheckRange(array, 0, 0, "options");
  numbers_.resize(static_cast<size_t>(env->GetArrayLength(array)));
  env->GetLongArrayRegion(array, 0, static_cast<jsize>(numbers_.size()), numbers_.data());
}

uint64_t OptionNumbers::Next() {
  if (next_ == numbers_.size() || numbers_[next_] < 0) {
    Check(Status::InvalidArgument("options: number " + std::to_string(next_) +
                                  " is missing or negative"));
  }
  return static_cast<uint64_t>(numbers_[next_++]);
}

uint32_t OptionNumbers::Next32() {
  const uint64_t number = Next();
  if (number > UINT32_MAX) {
    Check(Status::InvalidArgument("options: number " + std::to_string(next_ - 1) +
                                  " is too large: " + std::to_string(number)));
  }
  return static_cast<uint32_t>(number);
}

void OptionNumbers::End() const {
  if (next_ != numbers_.size()) Check(Status::InvalidArgument("options: too many numbers"));
}

uint32_t CheckPrefix(jint prefix, size_t key_bytes) {
  if (prefix < 0 || static_cast<size_t>(prefix) > key_bytes) [[unlikely]] {
    ThrowOutOfBounds("a prefix of " + std::to_string(prefix) + " bytes in a key of " +
                     std::to_string(key_bytes) + " bytes");
  }
  return static_cast<uint32_t>(prefix);
}

uint32_t Unsigned(jint value, const char* what) {
  if (value < 0) {
    Check(Status::InvalidArgument(std::string(what) + " is negative: " + std::to_string(value)));
  }
  return static_cast<uint32_t>(value);
}

bool LoadClasses(JNIEnv* env) {
  classes.lava_exception = WeakClass(env, "org/lavakv/LavaDBException");
  if (classes.lava_exception == nullptr) return false;
  auto type = static_cast<jclass>(env->NewLocalRef(classes.lava_exception));
  if (type == nullptr) return false;
  classes.lava_exception_init = env->GetMethodID(type, "<init>", "(ILjava/lang/String;)V");
  env->DeleteLocalRef(type);
  if (classes.lava_exception_init == nullptr) return false;
  const std::pair<jweak*, const char*> others[] = {
      {&classes.closed_exception, "org/lavakv/LavaClosedException"},
      {&classes.null_pointer, "java/lang/NullPointerException"},
      {&classes.out_of_bounds, "java/lang/IndexOutOfBoundsException"},
      {&classes.internal_error, "java/lang/InternalError"},
  };
  for (const auto& [weak, name] : others) {
    *weak = WeakClass(env, name);
    if (*weak == nullptr) return false;
  }
  return true;
}

void UnloadClasses(JNIEnv* env) noexcept {
  for (jweak weak : {classes.lava_exception, classes.closed_exception, classes.null_pointer,
                     classes.out_of_bounds, classes.internal_error}) {
    if (weak != nullptr) env->DeleteWeakGlobalRef(weak);
  }
  classes = Classes();
}

}  // namespace lava::jni
