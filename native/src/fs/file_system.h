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
/// Ownership:  the caller's; destruction without Close() drops unflushed bytes and closes.
/// Errors:     IOError or NoSpace, naming path and errno; after an error the file is useless: a
///             failed sync is never retried on the same file.
class AppendFile {
 public:
  virtual ~AppendFile() = default;
  virtual Status Append(Slice data) = 0;
  /// To the operating system: survives a process kill, not a power cut.
  virtual Status Flush() = 0;
  /// To the device: survives a power cut (the directory entry needs FileSystem::SyncDirectory).
  virtual Status Sync() = 0;
  /// The same, but a crash may leave more bytes behind those that were synced, of no meaning, so
  /// the reader must find the end by itself. Cheaper where a size is written apart (LavaFS); Sync()
  /// or Close() settles it.
  virtual Status SyncData() { return Sync(); }
  virtual Status Close() = 0;
  virtual uint64_t size() const = 0;  // bytes appended, flushed or not
};

/// A file's descriptor, for reads past RandomFile::Read().
struct SharedDescriptor {
  int descriptor = -1;     // -1: there is none
  uint32_t alignment = 0;  // of offsets, lengths and memory; 0: any
};

/// A file that is read at offsets.
/// Threads:    any thread.
class RandomFile {
 public:
  virtual ~RandomFile() = default;
  /// Reads exactly length bytes at offset into scratch.
  /// Errors: Corruption when the file ends before, naming path, offset and length; IOError.
  virtual Status Read(uint64_t offset, size_t length, char* scratch) const = 0;
  virtual uint64_t size() const = 0;
  virtual const std::string& path() const = 0;

  /// For ReadBatch: the descriptor stays open until EndShare(), which must follow if there is one.
  virtual SharedDescriptor Share() const { return {}; }
  virtual void EndShare() const {}
  /// Where a range of the file, which it has, begins in that descriptor; false: it is not in one
  /// piece there.
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

/// The only way to storage for everything above. Implementations: posix, LavaFS (lavafs); for tests
/// in memory, crashing, failing (native/testing).
/// Threads:    any thread.
/// Errors:     NotFound, IOError, NoSpace; messages name path, operation and errno.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  static FileSystem* Posix();

  /// Creates (truncates) a file that only its user can read, whatever the umask is. At most
  /// buffer_bytes are buffered. Where files are written directly, those with 64 KiB and more of it
  /// are: what is buffered less is flushed often, and would be written as whole blocks each time.
  virtual Result<std::unique_ptr<AppendFile>> Create(const std::string& path,
                                                     size_t buffer_bytes) = 0;
  /// The same for a file that helps to free space, so that it may take what is kept back for that.
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
  /// A second name of one file. If the file is this user's, others lose what rights they had.
  virtual Status Link(const std::string& from, const std::string& to) = 0;
  /// Names without their directory, files only, any order.
  virtual Result<std::vector<std::string>> List(const std::string& directory) = 0;
  /// With parents; what it makes is for its user alone (0700), whatever the umask is. OK when the
  /// directory is there; what rights others have to that is its maker's decision.
  virtual Status CreateDirectory(const std::string& path) = 0;
  /// The same, and the directory survives a power cut: its entry in the one above is on the device,
  /// also when the directory was there already, since whoever made it may have been killed before
  /// the sync.
  virtual Status CreateDurableDirectory(const std::string& path);
  /// Entries of a directory to the device, those of directories in it included.
  virtual Status SyncDirectory(const std::string& path) = 0;
  /// Makes durable what a file has, whoever wrote it: for what an earlier process left.
  /// asked: true from when the device was asked on. After an error with that, what the device holds
  /// is unknown for ever; without, as when the process has no descriptor left, nothing has happened
  /// and the call may be repeated.
  virtual Status SyncFile(const std::string& path, bool* asked) = 0;
  /// Busy when another holder has it, naming the directory.
  virtual Result<std::unique_ptr<DirectoryLock>> Lock(const std::string& directory) = 0;
  /// Files that go through the page cache though direct I/O was asked for.
  virtual uint64_t files_refused_direct() const { return 0; }

  /// A number for this start of what keeps unsynced writes, the machine: as long as it stays, what
  /// was flushed and what names were made are there, synced or not. 0: unknown.
  virtual uint64_t boot() const { return 0; }
};

}  // namespace lava::fs
