// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/posix_block_device.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "fs/block_device.h"
#include "fs/direct_io.h"
#include "fs/file_system.h"
#include "fs/posix_descriptor.h"
#include "fs/posix_error.h"
#include "fs/uring.h"
#include "lava/slice.h"
#include "lava/status.h"

namespace lava::fs {
namespace {

// The id of the process that holds a file's lock, from /proc/locks; 0: unknown.
int64_t HolderOf(const struct stat& st) {
  Result<int> locks = OpenDescriptor("/proc/locks", O_RDONLY, "open");
  if (!locks.ok()) return 0;
  std::string text(1 << 20, '\0');
  const Result<size_t> read = ReadAt(*locks, "/proc/locks", 0, text.size(), text.data());
  (void)close(*locks);
  if (!read.ok()) return 0;
  text.resize(*read);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    int pid = 0;
    unsigned device_major = 0, device_minor = 0;
    unsigned long inode = 0;
    // The kernel writes numbers that fit.
    // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion)
    const int fields = std::sscanf(line.c_str(), "%*d: FLOCK ADVISORY WRITE %d %x:%x:%lu", &pid,
                                   &device_major, &device_minor, &inode);
    const bool is_it = fields == 4 && inode == st.st_ino && device_major == major(st.st_dev) &&
                       device_minor == minor(st.st_dev);
    if (is_it) return pid;
  }
  return 0;
}

class PosixBlockDevice;

/// A write whose call is in a ring.
class RingWrite final : public BegunWrite {
 public:
  RingWrite(PosixBlockDevice* device, std::unique_ptr<Uring> ring, const UringCall& call)
      : device_(device), ring_(std::move(ring)), call_(call) {}
  // The ring must not be reused while this write is in it.
  ~RingWrite() override {
    if (is_begun_) (void)Finish();
  }
  bool Begin() { return is_begun_ = ring_->Begin(&call_); }
  Status Finish() override;
  bool is_lost() const override { return lost_; }

 private:
  PosixBlockDevice* const device_;
  const std::unique_ptr<Uring> ring_;
  UringCall call_;
  bool is_begun_ = false, lost_ = false;
};

class PosixBlockDevice : public BlockDevice {
 public:
  PosixBlockDevice(std::string path, int descriptor, const BlockDeviceOptions& options,
                   bool is_file)
      : path_(std::move(path)), descriptor_(descriptor), is_file_(is_file), direct_(options.calls) {
    if (options.direct) alignment_ = direct_.TurnOn(descriptor_);
  }
  ~PosixBlockDevice() override { (void)close(descriptor_); }

  Status Read(uint64_t offset, size_t length, char* to) override {
    size_t done = 0;
    while (done < length) {
      const ssize_t got = direct_.calls().read(descriptor_, to + done, length - done,
                                               static_cast<off_t>(offset + done));
      if (got < 0) {
        if (errno == EINTR || Refused(errno)) continue;
        return Failed("read", length, offset);
      }
      const size_t before = done;
      done = Whole(done + static_cast<size_t>(got), length, before);
      if (done == before) break;  // the end, or less than a block before it
    }
    if (done == length) return Status::OK();
    return Status::Corruption("read " + std::to_string(length) + " bytes at offset " +
                              std::to_string(offset) + " of " + path_ + ": it ends before");
  }

  // Only for direct I/O: a write to the page cache returns at once anyway.
  std::unique_ptr<BegunWrite> BeginWrite(uint64_t offset, Slice data) override {
    if (alignment() <= 1 || data.size() > kRingBytesMax) return nullptr;
    std::unique_ptr<Uring> ring = Uring::Take();
    if (ring == nullptr) return nullptr;
    auto write =
        std::make_unique<RingWrite>(this, std::move(ring),
                                    UringCall{.descriptor = descriptor_,
                                              .offset = offset,
                                              .length = static_cast<uint32_t>(data.size()),
                                              // The kernel's writes take memory that is not const.
                                              .memory = const_cast<char*>(data.data())});
    if (!write->Begin()) return nullptr;
    return write;
  }

  Status Write(uint64_t offset, Slice data) override { return WriteFrom(0, offset, data); }

  // Continues a write of which `done` bytes have been written.
  Status WriteFrom(size_t done, uint64_t offset, Slice data) {
    done = Whole(done, data.size(), 0);
    while (done < data.size()) {
      const ssize_t put = direct_.calls().write(descriptor_, data.data() + done, data.size() - done,
                                                static_cast<off_t>(offset + done));
      if (put < 0) {
        if (errno == EINTR || Refused(errno)) continue;
        return Failed("write", data.size(), offset);
      }
      const size_t before = done;
      done = Whole(done + static_cast<size_t>(put), data.size(), before);
      if (done == before) {
        errno = EIO;  // part of a block, which no device writes
        return Failed("write", data.size(), offset);
      }
    }
    return Status::OK();
  }

  Status Sync() override {
    int rc;
    do {
      rc = fdatasync(descriptor_);
    } while (rc != 0 && errno == EINTR);
    return rc == 0 ? Status::OK() : PosixError("sync", path_, errno);
  }

  uint64_t size() const override {
    struct stat st {};
    uint64_t bytes = 0;
    if (is_file_) {
      return fstat(descriptor_, &st) == 0 ? static_cast<uint64_t>(st.st_size) : 0;
    }
    return ioctl(descriptor_, BLKGETSIZE64, &bytes) == 0 ? bytes : 0;
  }

  Status Grow(uint64_t bytes) override {
    if (!is_file_) return Status::NotSupported("grow " + path_ + ": it is a device");
    MutexLock lock(&growing_);
    const uint64_t now = size();
    if (bytes <= now) return Status::OK();
    int rc;
    // Allocates the space, so that a write within the volume never finds the disk full.
    do {
      rc = fallocate(descriptor_, 0, static_cast<off_t>(now), static_cast<off_t>(bytes - now));
    } while (rc != 0 && errno == EINTR);
    if (rc != 0 && errno == EOPNOTSUPP) rc = ftruncate(descriptor_, static_cast<off_t>(bytes));
    return rc == 0 ? Status::OK() : PosixError("grow", path_, errno);
  }

  Status Discard(uint64_t offset, uint64_t length) override {
    int rc;
    if (is_file_) {
      rc = fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                     static_cast<off_t>(offset), static_cast<off_t>(length));
    } else {
      uint64_t range[2] = {offset, length};
      rc = ioctl(descriptor_, BLKDISCARD, range);
    }
    // Devices and file systems that cannot give space back keep it.
    if (rc == 0 || errno == EOPNOTSUPP) return Status::OK();
    return PosixError("give back space of", path_, errno);
  }

  uint32_t alignment() const override { return alignment_.load(std::memory_order_relaxed); }
  SharedDescriptor Share() const override { return {descriptor_, alignment()}; }
  const std::string& name() const override { return path_; }

 private:
  // A block that was transferred in part is requested again; without direct I/O any part counts.
  size_t Whole(size_t done, size_t length, size_t before) const {
    const uint32_t block = alignment();
    if (done == length || block <= 1) return done;
    return std::max<size_t>(RoundDown(done, block), before);
  }
  // Some file systems reject direct I/O only at a read or write. A second rejection is an error.
  bool Refused(int error) {
    if (error != EINVAL || alignment_.exchange(1) <= 1) return false;
    direct_.TurnOff(descriptor_);
    return true;
  }
  Status Failed(const char* what, size_t length, uint64_t offset) const {
    return PosixError(std::string(what) + " " + std::to_string(length) + " bytes at offset " +
                          std::to_string(offset) + " of",
                      path_, errno);
  }

  static constexpr size_t kRingBytesMax = 1 << 30;

  const std::string path_;
  const int descriptor_;
  const bool is_file_;
  DirectIo direct_;
  std::atomic<uint32_t> alignment_{1};
  Mutex growing_;  // held while the file grows from size()
};

Status RingWrite::Finish() {
  is_begun_ = false;
  if (ring_->Finish(&call_) == Uring::Outcome::kLost) {
    lost_ = true;
    return Status::IOError("write " + std::to_string(call_.length) + " bytes at offset " +
                           std::to_string(call_.offset) + " of " + device_->name() +
                           ": io_uring does not answer any more");
  }
  // A short or failed write is completed by plain writes, whose error says what is wrong.
  return device_->WriteFrom(call_.result > 0 ? static_cast<size_t>(call_.result) : 0, call_.offset,
                            {call_.memory, call_.length});
}

Status LockFor(const std::string& path, int descriptor, const struct stat& st) {
  int rc;
  do {
    rc = flock(descriptor, LOCK_EX | LOCK_NB);
  } while (rc != 0 && errno == EINTR);
  if (rc == 0) return Status::OK();
  if (errno != EWOULDBLOCK) return PosixError("lock", path, errno);
  const int64_t holder = HolderOf(st);
  const std::string by = holder == getpid() ? "this process"
                         : holder > 0       ? "process " + std::to_string(holder)
                                            : "another process";
  return Status::Busy("lock " + path + ": in use by " + by + "; end that, or use another volume");
}

}  // namespace

Result<std::unique_ptr<BlockDevice>> OpenBlockDevice(const std::string& path,
                                                     const BlockDeviceOptions& options) {
  const int mode = options.read_only ? O_RDONLY : O_RDWR;
  LAVA_ASSIGN_OR_RETURN(const int descriptor,
                        OpenDescriptor(path, mode | (options.create ? O_CREAT : 0), "open"));
  struct stat st {};
  Status done;
  if (fstat(descriptor, &st) != 0) done = PosixError("open", path, errno);
  if (done.ok() && !S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode)) {
    done = Status::InvalidArgument("open " + path + ": neither a file nor a block device");
  }
  if (done.ok() && !options.read_only) done = LockFor(path, descriptor, st);
  // The former holder may have removed the file meanwhile. A lock on a removed file excludes
  // nobody.
  if (done.ok() && fstat(descriptor, &st) == 0 && st.st_nlink == 0) {
    done = Status::NotFound("open " + path + ": it was removed just now");
  }
  if (!done.ok()) {
    (void)close(descriptor);
    return done;
  }
  return std::unique_ptr<BlockDevice>(
      std::make_unique<PosixBlockDevice>(path, descriptor, options, S_ISREG(st.st_mode)));
}

}  // namespace lava::fs
