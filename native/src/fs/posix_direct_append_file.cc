#include "fs/posix_direct_append_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "fs/posix_append_base.h"

namespace lava::fs {
namespace {

// What file systems keep: to write less of a block, they read it before.
constexpr uint32_t kBlockBytesMin = 4096;

class PosixDirectAppendFile : public PosixAppendBase {
 public:
  PosixDirectAppendFile(std::string path, int descriptor, size_t buffer_bytes, uint32_t alignment,
                        std::shared_ptr<DirectIo> direct)
      : PosixAppendBase(std::move(path), descriptor),
        direct_(std::move(direct)),
        block_bytes_(std::max(alignment, kBlockBytesMin)),
        buffer_bytes_(std::max<uint64_t>(RoundDown(buffer_bytes, block_bytes_), block_bytes_)) {}

  Status Append(Slice data) override {
    LAVA_RETURN_IF_ERROR(Usable());
    size_ += data.size();
    if (buffer_.data() == nullptr) buffer_ = AlignedBuffer(buffer_bytes_, block_bytes_);
    while (!data.empty()) {
      const size_t piece = std::min(data.size(), buffer_.size() - filled_);
      std::memcpy(buffer_.data() + filled_, data.data(), piece);
      filled_ += piece;
      data.remove_prefix(piece);
      if (filled_ == buffer_.size()) LAVA_RETURN_IF_ERROR(WriteOut(filled_));
    }
    return Status::OK();
  }

  Status Flush() override {
    LAVA_RETURN_IF_ERROR(Usable());
    if (flushed_ == size_) return Status::OK();
    const size_t tail = filled_ % block_bytes_;
    if (tail == 0) return WriteOut(filled_);
    const size_t padded = RoundUp(filled_, block_bytes_);
    std::memset(buffer_.data() + filled_, 0, padded - filled_);
    LAVA_RETURN_IF_ERROR(WriteOut(padded));
    if (ftruncate(descriptor_, static_cast<off_t>(size_)) != 0) return Fail("cut off", errno);
    // The last block is written again when it is full.
    offset_ -= block_bytes_;
    std::memmove(buffer_.data(), buffer_.data() + padded - block_bytes_, tail);
    filled_ = tail;
    flushed_ = size_;
    return Status::OK();
  }

 private:
  void FreeBuffer() override { buffer_ = AlignedBuffer(); }

  // The buffer's first bytes, which are whole blocks; it is empty afterwards.
  Status WriteOut(size_t bytes) {
    LAVA_DCHECK(bytes % block_bytes_ == 0 && offset_ % block_bytes_ == 0);
    for (size_t done = 0; done < bytes;) {
      const ssize_t written = direct_->calls().write(
          descriptor_, buffer_.data() + done, bytes - done, static_cast<off_t>(offset_ + done));
      if (written >= 0) {
        done += static_cast<size_t>(written);
      } else if (errno == EINVAL && !refused_) {
        refused_ = true;
        direct_->TurnOff(descriptor_);
      } else if (errno != EINTR) {
        return Fail("write to", errno);
      }
    }
    offset_ += bytes;
    flushed_ = offset_;
    filled_ = 0;
    return Status::OK();
  }

  const std::shared_ptr<DirectIo> direct_;
  const uint32_t block_bytes_;
  const size_t buffer_bytes_;
  AlignedBuffer buffer_;
  size_t filled_ = 0;     // bytes in the buffer
  uint64_t offset_ = 0;   // where the buffer begins in the file; whole blocks
  uint64_t flushed_ = 0;  // bytes that stand in the file
  bool refused_ = false;  // goes through the page cache
};

}  // namespace

std::unique_ptr<AppendFile> NewPosixDirectAppendFile(std::string path, int descriptor,
                                                     size_t buffer_bytes, uint32_t alignment,
                                                     std::shared_ptr<DirectIo> direct) {
  return std::make_unique<PosixDirectAppendFile>(std::move(path), descriptor, buffer_bytes,
                                                 alignment, std::move(direct));
}

}  // namespace lava::fs
