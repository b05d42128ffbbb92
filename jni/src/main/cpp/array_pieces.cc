#include "array_pieces.h"

#include <string>
#include <utility>

namespace lava::jni {
namespace {

// Nobody sees it: the Java exception that is pending is what the caller gets.
Status Pending() { return Status::IOError("a Java array could not be copied"); }

}  // namespace

ArraySource::ArraySource(JNIEnv* env, jbyteArray array, jint off, jint len, const char* what)
    : env_(env), array_(array), off_(off), len_(len) {
  CheckRange(array, off, len, what);
  if (off + len > env->GetArrayLength(array))
    ThrowOutOfBounds(std::string(what) + ": the array has " +
                     std::to_string(env->GetArrayLength(array)) + " bytes, not " +
                     std::to_string(off + len));
}

Status ArraySource::Read(uint64_t offset, size_t length, char* to) {
  env_->GetByteArrayRegion(array_, off_ + static_cast<jint>(offset), static_cast<jsize>(length),
                           reinterpret_cast<jbyte*>(to));
  return env_->ExceptionCheck() ? Pending() : Status::OK();
}

bool ArraySink::HasRoom() const {
  return array_ != nullptr && off_ >= 0 && room_ >= 0 &&
         off_ <= env_->GetArrayLength(array_) - room_;
}

bool ArraySink::Begin(uint64_t bytes) {
  begun_ = true;
  bytes_ = bytes;
  if (!is_new_) return bytes <= static_cast<uint64_t>(room_) && HasRoom();
  if (bytes > kJavaArrayMax) return false;
  room_ = static_cast<jint>(bytes);
  array_ = env_->NewByteArray(room_);
  return array_ != nullptr;
}

Status ArraySink::Add(Slice piece) {
  if (piece.size() > bytes_ - done_)
    return Status::Corruption("a value has more bytes than it had");
  env_->SetByteArrayRegion(array_, off_ + static_cast<jint>(done_),
                           static_cast<jsize>(piece.size()),
                           reinterpret_cast<const jbyte*>(piece.data()));
  done_ += piece.size();
  return env_->ExceptionCheck() ? Pending() : Status::OK();
}

jbyteArray ArraySink::Finish(Status status, jint* length) {
  Check(Settled(env_, std::move(status)));
  if (bytes_ > kJavaArrayMax) ThrowTooLarge(bytes_);
  *length = static_cast<jint>(bytes_);
  if (*length > room_) return nullptr;
  if (!HasRoom()) {
    CheckRange(array_, off_, room_, "output array");
    ThrowOutOfBounds("output array: it has not " + std::to_string(off_) + " and " +
                     std::to_string(room_) + " bytes");
  }
  return array_;
}

}  // namespace lava::jni
