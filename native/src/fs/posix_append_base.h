// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "fs/file_system.h"
#include "fs/posix_error.h"

namespace lava::fs {

/// The common part of all append files on a descriptor: sync, close, and the first error, which
/// makes the file useless.
/// Threads:    as AppendFile.
/// Ownership:  owns the descriptor, which Close() or destruction closes.
/// Errors:     as AppendFile.
class PosixAppendBase : public AppendFile {
 public:
  ~PosixAppendBase() override {
    if (descriptor_ >= 0) (void)close(descriptor_);
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
    FreeBuffer();
    return flushed;
  }

  uint64_t size() const override { return size_; }

 protected:
  PosixAppendBase(std::string path, int descriptor)
      : path_(std::move(path)), descriptor_(descriptor) {}

  /// Called after the file was closed.
  virtual void FreeBuffer() = 0;

  Status Usable() const {
    if (!error_.ok()) return error_;
    if (descriptor_ < 0) return Status::Closed("write to " + path_ + ": it was closed");
    return Status::OK();
  }
  Status Fail(std::string_view operation, int error) {
    error_ = PosixError(operation, path_, error);
    return error_;
  }

  const std::string path_;
  int descriptor_;
  uint64_t size_ = 0;

 private:
  Status error_;  // the first one; the file is useless after it
};

}  // namespace lava::fs
