// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/posix_append_file.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "fs/direct_io.h"
#include "fs/file_system.h"
#include "fs/posix_append_base.h"
#include "fs/posix_descriptor.h"
#include "fs/posix_direct_append_file.h"
#include "lava/slice.h"
#include "lava/status.h"

namespace lava::fs {
namespace {

class PosixAppendFile : public PosixAppendBase {
 public:
  PosixAppendFile(std::string path, int descriptor, size_t buffer_bytes)
      : PosixAppendBase(std::move(path), descriptor), buffer_bytes_(buffer_bytes) {}

  Status Append(Slice data) override {
    LAVA_RETURN_IF_ERROR(Usable());
    size_ += data.size();
    if (data.size() > buffer_bytes_ - buffer_.size()) {
      LAVA_RETURN_IF_ERROR(Flush());
      // Data that would not fit in the empty buffer either goes straight to the file.
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

 private:
  void FreeBuffer() override { std::string().swap(buffer_); }

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

  const size_t buffer_bytes_;
  std::string buffer_;
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
