// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/posix_direct_append_file.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "fs/direct_io.h"
#include "fs/file_system.h"
#include "fs/posix_append_base.h"
#include "fs/uring.h"
#include "lava/slice.h"
#include "lava/status.h"

namespace lava::fs {
namespace {

// Block size of file systems. They read a block before they write part of it.
constexpr uint32_t kBlockBytesMin = 4096;
// How far a file grows ahead of its writes, because a write that extends the file costs more.
constexpr uint64_t kAheadBytes = 8 << 20;

class PosixDirectAppendFile : public PosixAppendBase {
 public:
  PosixDirectAppendFile(std::string path, int descriptor, size_t buffer_bytes, uint32_t alignment,
                        std::shared_ptr<DirectIo> direct)
      : PosixAppendBase(std::move(path), descriptor),
        direct_(std::move(direct)),
        block_bytes_(std::max(alignment, kBlockBytesMin)),
        buffer_bytes_(std::max<uint64_t>(RoundDown(buffer_bytes / 2, block_bytes_), block_bytes_)),
        may_be_behind_(direct_->calls().write == pwrite) {}
  ~PosixDirectAppendFile() override {
    if (is_behind_) (void)FinishBehind();
  }

  Status Append(Slice data) override {
    LAVA_RETURN_IF_ERROR(Usable());
    size_ += data.size();
    if (buffer_.data() == nullptr) buffer_ = AlignedBuffer(buffer_bytes_, block_bytes_);
    while (!data.empty()) {
      const size_t piece = std::min(data.size(), buffer_.size() - filled_);
      std::memcpy(buffer_.data() + filled_, data.data(), piece);
      filled_ += piece;
      data.remove_prefix(piece);
      if (filled_ == buffer_.size()) LAVA_RETURN_IF_ERROR(WriteFull());
    }
    return Status::OK();
  }

  Status Flush() override {
    LAVA_RETURN_IF_ERROR(Usable());
    if (is_behind_) LAVA_RETURN_IF_ERROR(FinishBehind());
    if (flushed_ == size_) return CutOff();
    const size_t tail = filled_ % block_bytes_;
    if (tail == 0) {
      LAVA_RETURN_IF_ERROR(WriteOut(filled_));
      return CutOff();
    }
    const size_t padded = RoundUp(filled_, block_bytes_);
    std::memset(buffer_.data() + filled_, 0, padded - filled_);
    LAVA_RETURN_IF_ERROR(WriteOut(padded));
    grown_ = std::max(grown_, offset_);
    LAVA_RETURN_IF_ERROR(CutOff());
    // The last block is written again when it is full.
    offset_ -= block_bytes_;
    std::memmove(buffer_.data(), buffer_.data() + padded - block_bytes_, tail);
    filled_ = tail;
    flushed_ = size_;
    return Status::OK();
  }

 private:
  void FreeBuffer() override {
    // No write is running: a flush waited for the last one, or that write failed. By now another
    // file may have the descriptor's number.
    LAVA_CHECK(!is_behind_);
    buffer_ = AlignedBuffer();
    behind_ = AlignedBuffer();
    ring_.reset();
  }

  // Writes a full buffer while the caller fills the other one.
  Status WriteFull() {
    if (is_behind_) LAVA_RETURN_IF_ERROR(FinishBehind());
    if (!may_be_behind_) return WriteOut(filled_);
    GrowAhead();
    if (ring_ == nullptr) ring_ = Uring::Take();
    if (ring_ != nullptr && behind_.data() == nullptr)
      behind_ = AlignedBuffer(buffer_bytes_, block_bytes_);
    call_ = {.descriptor = descriptor_,
             .offset = offset_,
             .length = static_cast<uint32_t>(filled_),
             .memory = buffer_.data()};
    may_be_behind_ = ring_ != nullptr && ring_->Begin(&call_);
    if (!may_be_behind_) {
      ring_.reset();
      return WriteOut(filled_);
    }
    std::swap(buffer_, behind_);
    is_behind_ = true;
    offset_ += filled_;
    filled_ = 0;
    return Status::OK();
  }

  // Waits for the write that was begun, and writes the rest if it was short.
  Status FinishBehind() {
    is_behind_ = false;
    if (ring_->Finish(&call_) == Uring::Outcome::kLost) {
      behind_.Leak();
      return Fail("write to", EIO);
    }
    const uint64_t end = call_.offset + call_.length;
    if (call_.result == static_cast<int>(call_.length)) {
      flushed_ = end;
      return Status::OK();
    }
    // Writing the rest reports the error again, if there is one. A partly written block does not
    // count.
    const uint64_t done = RoundDown(static_cast<uint64_t>(std::max(call_.result, 0)), block_bytes_);
    LAVA_RETURN_IF_ERROR(Write(behind_.data() + done, call_.length - done, call_.offset + done));
    flushed_ = end;
    return Status::OK();
  }

  // Best effort. fallocate may grow the file in part and then fail, so grown_ is raised anyway.
  void GrowAhead() {
    if (offset_ + filled_ <= grown_) return;
    (void)fallocate(descriptor_, 0, static_cast<off_t>(offset_), kAheadBytes);
    grown_ = offset_ + kAheadBytes;
  }
  Status CutOff() {
    if (grown_ <= size_) return Status::OK();
    if (ftruncate(descriptor_, static_cast<off_t>(size_)) != 0) return Fail("cut off", errno);
    grown_ = size_;
    return Status::OK();
  }

  // Writes the first bytes of the buffer, which are whole blocks, and empties the buffer.
  Status WriteOut(size_t bytes) {
    LAVA_RETURN_IF_ERROR(Write(buffer_.data(), bytes, offset_));
    offset_ += bytes;
    flushed_ = offset_;
    filled_ = 0;
    return Status::OK();
  }

  Status Write(const char* from, size_t bytes, uint64_t offset) {
    LAVA_DCHECK(bytes % block_bytes_ == 0 && offset % block_bytes_ == 0);
    for (size_t done = 0; done < bytes;) {
      const ssize_t written = direct_->calls().write(descriptor_, from + done, bytes - done,
                                                     static_cast<off_t>(offset + done));
      if (written >= 0) {
        done += static_cast<size_t>(written);
      } else if (errno == EINVAL && !refused_) {
        refused_ = true;
        direct_->TurnOff(descriptor_);
      } else if (errno != EINTR) {
        return Fail("write to", errno);
      }
    }
    return Status::OK();
  }

  const std::shared_ptr<DirectIo> direct_;
  const uint32_t block_bytes_;
  const size_t buffer_bytes_;
  AlignedBuffer buffer_;
  size_t filled_ = 0;     // bytes in the buffer
  uint64_t offset_ = 0;   // offset of the buffer in the file; whole blocks
  uint64_t flushed_ = 0;  // bytes written to the file
  uint64_t grown_ = 0;    // length of the file with the space allocated ahead
  bool refused_ = false;  // now goes through the page cache
  // A full buffer that is being written, where the system does that in parallel.
  AlignedBuffer behind_;
  UringCall call_;
  std::unique_ptr<Uring> ring_;
  bool may_be_behind_;  // false for calls of tests, which a ring would bypass
  bool is_behind_ = false;
};

}  // namespace

std::unique_ptr<AppendFile> NewPosixDirectAppendFile(std::string path, int descriptor,
                                                     size_t buffer_bytes, uint32_t alignment,
                                                     std::shared_ptr<DirectIo> direct) {
  return std::make_unique<PosixDirectAppendFile>(std::move(path), descriptor, buffer_bytes,
                                                 alignment, std::move(direct));
}

}  // namespace lava::fs
