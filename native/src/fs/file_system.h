// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lava/slice.h"
#include "lava/status.h"

namespace lava::fs {

/// A file that grows at its end. Writes are buffered.
/// Threads:    one thread at a time.
/// Ownership:  the caller's; destruction without Close() drops unflushed bytes and closes the file.
/// Errors:     IOError or NoSpace, naming path and errno. After an error the file is useless: a
///             failed sync is never retried on the same file.
class AppendFile {
 public:
  virtual ~AppendFile() = default;
  virtual Status Append(Slice data) = 0;
  /// Hands the bytes to the operating system: they survive a process kill, not a power cut.
  virtual Status Flush() = 0;
  /// Writes to the device: the bytes survive a power cut (the directory entry needs
  /// FileSystem::SyncDirectory).
  virtual Status Sync() = 0;
  /// Like Sync(), but a crash may leave meaningless bytes after the synced ones, so readers must
  /// find the end themselves. Cheaper where a file's size is written separately (LavaFS). A later
  /// Sync() or Close() records the exact size.
  virtual Status SyncData() { return Sync(); }
  virtual Status Close() = 0;
  virtual uint64_t size() const = 0;  // bytes appended, flushed or not
};

/// A file's descriptor, for reads that bypass RandomFile::Read().
struct SharedDescriptor {
  int descriptor = -1;     // -1: there is none
  uint32_t alignment = 0;  // of offsets, lengths and memory; 0: none needed
};

/// A file that is read at offsets.
/// Threads:    any thread.
/// Ownership:  the caller's; no read may be running on destruction.
class RandomFile {
 public:
  virtual ~RandomFile() = default;
  /// Reads exactly length bytes at offset into scratch.
  /// Errors: Corruption when the file ends before that, naming path, offset and length; IOError.
  virtual Status Read(uint64_t offset, size_t length, char* scratch) const = 0;
  virtual uint64_t size() const = 0;
  virtual const std::string& path() const = 0;

  /// For ReadBatch: the descriptor stays open until EndShare(), which must follow unless there
  /// is none.
  virtual SharedDescriptor Share() const { return {}; }
  virtual void EndShare() const {}
  /// Sets *at to the offset in the shared descriptor at which a range begins; the range must lie
  /// within the file. False: the range is not contiguous there.
  virtual bool Locate(uint64_t offset, [[maybe_unused]] size_t length, uint64_t* at) const {
    *at = offset;
    return true;
  }
};

/// Holds a directory for one process; released on destruction.
class DirectoryLock {
 public:
  virtual ~DirectoryLock() = default;
};

/// The only way to storage for everything above. Implementations: posix and LavaFS (lavafs); for
/// tests also in memory, with crashes and with faults (native/testing).
/// Threads:    any thread.
/// Errors:     NotFound, IOError, NoSpace; messages name path, operation and errno.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  static FileSystem* Posix();

  /// Creates or truncates a file that only its user can read, whatever the umask. At most
  /// buffer_bytes are buffered. With direct writes, only files with a buffer of at least 64 KiB
  /// bypass the page cache: smaller buffers are flushed often, and each flush would write whole
  /// blocks.
  virtual Result<std::unique_ptr<AppendFile>> Create(const std::string& path,
                                                     size_t buffer_bytes) = 0;
  /// Like Create(), for a file that helps to free space: it may use space reserved for that
  /// purpose.
  virtual Result<std::unique_ptr<AppendFile>> CreateFromReserve(const std::string& path,
                                                                size_t buffer_bytes) {
    return Create(path, buffer_bytes);
  }
  virtual Result<std::unique_ptr<RandomFile>> OpenRandom(const std::string& path) = 0;
  virtual Result<std::string> ReadWhole(const std::string& path, uint64_t bytes_max) = 0;
  virtual Result<uint64_t> FileSize(const std::string& path) = 0;
  virtual Result<bool> Exists(const std::string& path) = 0;
  /// Atomic replacement.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  virtual Status Remove(const std::string& path) = 0;  // NotFound when absent
  /// Gives a file a second name. If the file belongs to this user, all others lose their rights to
  /// it.
  virtual Status Link(const std::string& from, const std::string& to) = 0;
  /// Names of the regular files, without the directory, in any order.
  virtual Result<std::vector<std::string>> List(const std::string& directory) = 0;
  /// Also creates missing parents. Created directories are for their user alone (0700), whatever
  /// the umask. OK when the directory exists already; its rights then stay as they are.
  virtual Status CreateDirectory(const std::string& path) = 0;
  /// Like CreateDirectory(), and the directory survives a power cut: its entry in the parent is on
  /// the device. That holds for an existing directory, too, because its creator may have been
  /// killed before the sync.
  virtual Status CreateDurableDirectory(const std::string& path);
  /// Writes a directory's entries, of files and of subdirectories, to the device.
  virtual Status SyncDirectory(const std::string& path) = 0;
  /// Makes a file's bytes durable, whoever wrote them: for files left by an earlier process. *asked
  /// becomes true once the device has been asked. If an error follows, the device's content is
  /// unknown for good. With an error and *asked false (no free descriptor, for example), nothing
  /// has happened and the call may be repeated.
  virtual Status SyncFile(const std::string& path, bool* asked) = 0;
  /// Busy when the directory has another holder; the message names the directory.
  virtual Result<std::unique_ptr<DirectoryLock>> Lock(const std::string& directory) = 0;
  /// Files that go through the page cache although direct I/O was requested.
  virtual uint64_t files_refused_direct() const { return 0; }

  /// Identifies the current boot of the machine, which keeps unsynced writes. While the number
  /// stays the same, flushed bytes and created names exist, synced or not. 0: unknown.
  virtual uint64_t boot() const { return 0; }
};

}  // namespace lava::fs
