// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/posix_random_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"
#include "base/thread_annotations.h"
#include "fs/direct_io.h"
#include "fs/file_system.h"
#include "fs/open_file_limit.h"
#include "fs/posix_descriptor.h"
#include "fs/posix_error.h"
#include "lava/status.h"

namespace lava::fs {
namespace {

// The file's state in one word, so that reading takes no lock. The high half is the descriptor plus
// one (0: closed), the low half counts the readers that use it. Only a state without readers may
// become closed, by compare and swap, and only the winner calls close.
constexpr uint64_t kOneReader = 1;
constexpr uint64_t Opened(int descriptor) { return (static_cast<uint64_t>(descriptor) + 1) << 32; }
constexpr bool IsOpen(uint64_t state) { return state >> 32 != 0; }
constexpr int DescriptorOf(uint64_t state) { return static_cast<int>((state >> 32) - 1); }
constexpr uint32_t ReadersOf(uint64_t state) { return static_cast<uint32_t>(state); }

class PosixRandomFile : public RandomFile, public EvictableFile {
 public:
  PosixRandomFile(std::string path, OpenFileLimit* limit, std::shared_ptr<DirectIo> direct,
                  int descriptor, const struct stat& st)
      : path_(std::move(path)),
        limit_(limit),
        direct_(std::move(direct)),
        device_(st.st_dev),
        inode_(st.st_ino),
        size_(static_cast<uint64_t>(st.st_size)),
        state_(Opened(descriptor)),
        alignment_(direct_ != nullptr ? direct_->TurnOn(descriptor) : 0) {
    limit_->Add(this);
  }

  ~PosixRandomFile() override {
    limit_->Remove(this);
    const uint64_t state = state_.load();
    LAVA_CHECK(ReadersOf(state) == 0);
    if (IsOpen(state)) (void)close(DescriptorOf(state));
  }

  Status Read(uint64_t offset, size_t length, char* scratch) const override {
    if (length > size_ || offset > size_ - length) return TooShort(offset, length, size_);
    LAVA_ASSIGN_OR_RETURN(const int descriptor, Acquire());
    Result<size_t> got = ReadFrom(descriptor, offset, length, scratch);
    Release();
    if (!got.ok()) return std::move(got).status();
    if (*got != length) return TooShort(offset, length, offset + *got);
    return Status::OK();
  }

  uint64_t size() const override { return size_; }
  const std::string& path() const override { return path_; }

  SharedDescriptor Share() const override {
    const Result<int> descriptor = Acquire();
    if (!descriptor.ok()) return {};
    return {*descriptor, alignment_.load(std::memory_order_relaxed)};
  }
  void EndShare() const override { Release(); }

  bool TryEvict(bool force) override {
    if (used_.exchange(false, std::memory_order_relaxed) && !force) return false;
    uint64_t state = state_.load();
    if (!IsOpen(state) || ReadersOf(state) != 0) return false;
    if (!state_.compare_exchange_strong(state, 0)) return false;
    (void)close(DescriptorOf(state));
    return true;
  }

 private:
  Status TooShort(uint64_t offset, size_t length, uint64_t end) const {
    return Status::Corruption("read " + std::to_string(length) + " bytes at offset " +
                              std::to_string(offset) + " of " + path_ + ": the file ends at " +
                              std::to_string(end));
  }

  Result<size_t> ReadFrom(int descriptor, uint64_t offset, size_t length, char* to) const {
    const uint32_t alignment = alignment_.load(std::memory_order_relaxed);
    if (alignment != 0) {
      bool refused = false;
      Result<size_t> got =
          direct_->Read(descriptor, path_, offset, length, alignment, to, &refused);
      if (!refused) return got;
      // alignment_ becomes 0 only after direct I/O is off, because readers that see 0 read
      // unaligned. The file cannot be reopened meanwhile, since this reader is not released.
      MutexLock lock(&reopen_mutex_);
      if (alignment_.load() != 0) direct_->TurnOff(descriptor);
      alignment_.store(0);
    }
    return ReadAt(descriptor, path_, offset, length, to);
  }

  Result<int> Acquire() const {
    const uint64_t state = state_.fetch_add(kOneReader);
    if (IsOpen(state)) {
      if (!used_.load(std::memory_order_relaxed)) used_.store(true, std::memory_order_relaxed);
      return DescriptorOf(state);
    }
    state_.fetch_sub(kOneReader);
    return Reopen();
  }

  void Release() const { state_.fetch_sub(kOneReader); }

  Result<int> Reopen() const LAVA_EXCLUDES(reopen_mutex_) {
    MutexLock lock(&reopen_mutex_);
    uint64_t state = state_.fetch_add(kOneReader);
    if (IsOpen(state)) return DescriptorOf(state);  // another reader was faster
    Result<int> descriptor = OpenSame();
    if (!descriptor.ok()) {
      Release();
      return descriptor;
    }
    // Keeps the readers' count, which includes this one, so the file cannot be evicted before the
    // read.
    state_.fetch_add(Opened(*descriptor));
    used_.store(true, std::memory_order_relaxed);
    limit_->Add(const_cast<PosixRandomFile*>(this));
    return descriptor;
  }

  // Opens the same file as at first; an error if another file has taken over its name.
  Result<int> OpenSame() const LAVA_REQUIRES(reopen_mutex_) {
    LAVA_ASSIGN_OR_RETURN(const int descriptor, OpenDescriptor(path_, O_RDONLY, "open again"));
    struct stat st {};
    if (fstat(descriptor, &st) != 0) {
      const int error = errno;
      (void)close(descriptor);
      return PosixError("look at", path_, error);
    }
    if (st.st_dev != device_ || st.st_ino != inode_) {
      (void)close(descriptor);
      return Status::IOError("open again " + path_ + ": another file has its name");
    }
    if (alignment_.load() != 0) alignment_.store(direct_->TurnOn(descriptor));
    return descriptor;
  }

  const std::string path_;
  OpenFileLimit* const limit_;
  const std::shared_ptr<DirectIo> direct_;
  const dev_t device_;
  const ino_t inode_;
  const uint64_t size_;
  mutable std::atomic<uint64_t> state_;
  mutable std::atomic<uint32_t> alignment_;  // of direct reads; 0: through the page cache
  mutable std::atomic<bool> used_{true};
  mutable Mutex reopen_mutex_;  // held to reopen, or to turn direct reads off
};

}  // namespace

Result<std::unique_ptr<RandomFile>> OpenPosixRandomFile(const std::string& path,
                                                        OpenFileLimit* limit,
                                                        std::shared_ptr<DirectIo> direct) {
  LAVA_ASSIGN_OR_RETURN(const int descriptor, OpenDescriptor(path, O_RDONLY, "open"));
  struct stat st {};
  if (fstat(descriptor, &st) != 0) {
    const int error = errno;
    (void)close(descriptor);
    return PosixError("look at", path, error);
  }
  if (!S_ISREG(st.st_mode)) {
    (void)close(descriptor);
    return Status::IOError("open " + path + ": it is not a file");
  }
  return std::unique_ptr<RandomFile>(
      std::make_unique<PosixRandomFile>(path, limit, std::move(direct), descriptor, st));
}

}  // namespace lava::fs
