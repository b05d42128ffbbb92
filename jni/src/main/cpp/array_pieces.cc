// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "array_pieces.h"

#include <jni.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "jni_util.h"
#include "lava/slice.h"
#include "lava/status.h"

namespace lava::jni {

ArraySource::ArraySource(JNIEnv* env, jbyteArray array, jint off, jint len, const char* what)
    : env_(env), array_(array), off_(off), len_(len) {
  CheckRange(array, off, len, what);
  if (off + len > env->GetArrayLength(array))
    ThrowOutOfBounds(std::string(what) + ": the array has " +
                     std::to_string(env->GetArrayLength(array)) + " bytes, not " +
                     std::to_string(off + len));
}

Status ArraySource::Read(uint64_t offset, size_t length, char* to) {
  if (length > size() || offset > size() - length)
    return Status::InvalidArgument("a read past the end of a Java array");
  // No exception can be pending after this call: the constructor and the check above have verified
  // the range.
  env_->GetByteArrayRegion(array_, off_ + static_cast<jint>(offset), static_cast<jsize>(length),
                           reinterpret_cast<jbyte*>(to));
  return Status::OK();
}

bool ArraySink::FitsArray() const {
  return array_ != nullptr && off_ >= 0 && capacity_ >= 0 &&
         off_ <= env_->GetArrayLength(array_) - capacity_;
}

bool ArraySink::Begin(uint64_t bytes) {
  begun_ = true;
  bytes_ = bytes;
  if (!is_new_) return bytes <= static_cast<uint64_t>(capacity_) && FitsArray();
  if (bytes > kJavaArrayMax) return false;
  capacity_ = static_cast<jint>(bytes);
  array_ = env_->NewByteArray(capacity_);
  return array_ != nullptr;
}

Status ArraySink::Add(Slice piece) {
  if (piece.size() > bytes_ - done_)
    return Status::Corruption("a value has more bytes than it had");
  // No exception can be pending after this call: Begin() created the array or checked its range.
  env_->SetByteArrayRegion(array_, off_ + static_cast<jint>(done_),
                           static_cast<jsize>(piece.size()),
                           reinterpret_cast<const jbyte*>(piece.data()));
  done_ += piece.size();
  return Status::OK();
}

jbyteArray ArraySink::Finish(Status status, jint* length) {
  if (is_new_ && array_ == nullptr && bytes_ <= kJavaArrayMax)  // NewByteArray() failed
    throw JavaError{JavaError::Kind::kPending, Status::OK(), {}};
  Check(std::move(status));
  if (bytes_ > kJavaArrayMax) ThrowTooLarge(bytes_);
  *length = static_cast<jint>(bytes_);
  if (*length > capacity_) return nullptr;
  if (!FitsArray()) {
    CheckRange(array_, off_, capacity_, "output array");
    ThrowOutOfBounds("output array: it has not " + std::to_string(off_) + " and " +
                     std::to_string(capacity_) + " bytes");
  }
  return array_;
}

}  // namespace lava::jni
