// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "jni_util.h"
#include "lava/value_pieces.h"

namespace lava::jni {

/// Arrays up to this size are copied as a whole.
inline constexpr jint kWholeArrayMax = static_cast<jint>(kWholeBytesMax);

/// The bytes of a Java array, which the engine reads in pieces.
/// Threads:    of the native call.
class ArraySource final : public ValueSource {
 public:
  /// Throws unless array[off, off + len) is a valid range.
  ArraySource(JNIEnv* env, jbyteArray array, jint off, jint len, const char* what);
  uint64_t size() const override { return static_cast<uint64_t>(len_); }
  Status Read(uint64_t offset, size_t length, char* to) override;

 private:
  JNIEnv* const env_;
  const jbyteArray array_;
  const jint off_, len_;
};

/// A Java array that the engine fills in pieces: a new one, or space in the caller's array.
/// Threads:    of the native call.
class ArraySink final : public ValueSink {
 public:
  explicit ArraySink(JNIEnv* env) : env_(env) {}
  ArraySink(JNIEnv* env, jbyteArray out, jint off, jint capacity)
      : env_(env), is_new_(false), array_(out), off_(off), capacity_(capacity) {}
  bool Begin(uint64_t bytes) override;
  Status Add(Slice piece) override;

  /// Whether the engine passed the value to this sink.
  bool begun() const { return begun_; }
  /// Call after an engine call for which begun() is true. *length: the value's length; a value too
  /// large for the space is not copied. Throws the call's error, or an error of this sink.
  jbyteArray Finish(Status status, jint* length);

 private:
  bool FitsArray() const;

  JNIEnv* const env_;
  const bool is_new_ = true;
  bool begun_ = false;
  jbyteArray array_ = nullptr;
  jint off_ = 0, capacity_ = 0;
  uint64_t bytes_ = 0, done_ = 0;
};

}  // namespace lava::jni
