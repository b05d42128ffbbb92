#include "fs/posix_append_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "fs/posix_descriptor.h"
#include "fs/posix_direct_append_file.h"
#include "fs/posix_error.h"

namespace lava::fs {
namespace {

class PosixAppendFile : public AppendFile {
 public:
  PosixAppendFile(std::string path, int descriptor, size_t buffer_bytes)
      : path_(std::move(path)), descriptor_(descriptor), buffer_bytes_(buffer_bytes) {}
  ~PosixAppendFile() override {
    if (descriptor_ >= 0) (void)close(descriptor_);
  }

  Status Append(Slice data) override {
    LAVA_RETURN_IF_ERROR(Usable());
    size_ += data.size();
    if (data.size() > buffer_bytes_ - buffer_.size()) {
      LAVA_RETURN_IF_ERROR(Flush());
      // What would not fit in the empty buffer either goes straight to the file.
      if (data.size() >= buffer_bytes_) return Write(data);
    }
    buffer_.append(data);
    LAVA_DCHECK(buffer_.size() <= buffer_bytes_);
    return Status::OK();
  }

  Status Flush() override {
    LAVA_RETURN_IF_ERROR(Usable());
    if (buffer_.empty()) return Status::OK();
    LAVA_RETURN_IF_ERROR(Write(buffer_));
    buffer_.clear();
    return Status::OK();
  }

  Status Sync() override {
    LAVA_RETURN_IF_ERROR(Flush());
    int rc;
    do {
      rc = fdatasync(descriptor_);
    } while (rc != 0 && errno == EINTR);
    // The kernel may have dropped the dirty pages: a second sync would lie.
    if (rc != 0) return Fail("sync", errno);
    return Status::OK();
  }

  Status Close() override {
    if (descriptor_ < 0) return error_;
    Status flushed = error_.ok() ? Flush() : error_;
    const int descriptor = std::exchange(descriptor_, -1);
    // Linux frees the descriptor even when close is interrupted.
    if (close(descriptor) != 0 && errno != EINTR && flushed.ok()) flushed = Fail("close", errno);
    std::string().swap(buffer_);
    return flushed;
  }

  uint64_t size() const override { return size_; }

 private:
  Status Usable() const {
    if (!error_.ok()) return error_;
    if (descriptor_ < 0) return Status::Closed("write to " + path_ + ": it was closed");
    return Status::OK();
  }

  Status Write(Slice data) {
    while (!data.empty()) {
      const ssize_t written = write(descriptor_, data.data(), data.size());
      if (written < 0) {
        if (errno == EINTR) continue;
        return Fail("write to", errno);
      }
      data.remove_prefix(static_cast<size_t>(written));
    }
    return Status::OK();
  }

  Status Fail(std::string_view operation, int error) {
    error_ = PosixError(operation, path_, error);
    return error_;
  }

  const std::string path_;
  int descriptor_;
  const size_t buffer_bytes_;
  std::string buffer_;
  uint64_t size_ = 0;
  Status error_;  // the first; the file is useless after it
};

}  // namespace

Result<std::unique_ptr<AppendFile>> CreatePosixAppendFile(const std::string& path,
                                                          size_t buffer_bytes,
                                                          std::shared_ptr<DirectIo> direct) {
  LAVA_ASSIGN_OR_RETURN(const int descriptor,
                        OpenDescriptor(path, O_WRONLY | O_CREAT | O_TRUNC, "create"));
  const uint32_t alignment = direct != nullptr ? direct->TurnOn(descriptor) : 0;
  if (alignment != 0)
    return NewPosixDirectAppendFile(path, descriptor, buffer_bytes, alignment, std::move(direct));
  return std::unique_ptr<AppendFile>(
      std::make_unique<PosixAppendFile>(path, descriptor, buffer_bytes));
}

}  // namespace lava::fs
