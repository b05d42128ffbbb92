#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fs/block_device.h"
#include "fs/file_system.h"
#include "lavafs/format.h"
#include "memory/memory_counter.h"

namespace lava::lavafs {

struct FormatOptions {
  uint64_t capacity_bytes = 0;          // at most so many; the device may be smaller, and grow
  uint32_t extent_bytes = 256 << 10;    // a power of two; a file takes at least one
  uint64_t initial_bytes = 2ull << 20;  // of a device that grows
};

struct MountOptions {
  /// What messages call the setting of the capacity; empty: messages name none.
  std::string capacity_setting = {};
  /// A device that grows does so by a quarter of its size, and at most by this.
  uint64_t grow_bytes = 64ull << 20;
  /// Free space that only files which may use it get, and the journal; at most an eighth of the
  /// capacity, and at most as much as is in use.
  uint64_t reserve_bytes = 0;
  /// Free space above this is given back to the system by TrimFreeSpace().
  uint64_t idle_reserve_bytes = 256ull << 20;
  /// The journal is compacted when it has grown by as much since the last time, or by a sixteenth
  /// of a small device.
  uint64_t journal_bytes_max = 8ull << 20;
  /// Whether synced files must outlive a power cut. If not, space is used again at once.
  bool power_safe = true;
  /// This start of the machine; 0: unknown. See ReadImage().
  uint64_t boot = 0;
  /// Random, another one for each mount.
  uint64_t mount = 0;
  /// Runs a job in the background; null: where it comes up. Jobs must have run, or been dropped,
  /// before the volume goes.
  std::function<void(std::function<void()>)> run_in_background = {};
  /// A file whose buffer has at least so many bytes gets a second one, and fills it while the first
  /// is written, if the device can.
  uint64_t second_buffer_from_bytes = 64 << 10;
  /// Charged with the buffers of files that are written; null: nobody is.
  MemoryCounter* buffers = nullptr;
};

struct VolumeStatistics {
  uint64_t capacity_bytes = 0;     // that it may grow to
  uint64_t device_bytes = 0;       // that it has grown to
  uint64_t used_bytes = 0;         // files' extents, the journal's, and what is to be freed
  uint64_t free_bytes = 0;         // of the device
  uint64_t to_be_freed_bytes = 0;  // of removed files, once their removal is durable
  uint64_t largest_free_run_bytes = 0;
  uint64_t reserve_bytes = 0;
  uint64_t journal_bytes = 0;
  uint64_t journal_written_bytes = 0;
  uint64_t journal_compactions = 0;
  uint64_t files = 0;
  uint64_t metadata_memory_bytes = 0;
};

struct FileStatus {
  uint64_t size = 0;
  /// Contents may go on behind size: the file was synced without its size and never closed.
  bool open_ended = false;
  uint64_t extents_bytes = 0;
};

/// A file of a volume that grows at its end.
class VolumeFile : public fs::AppendFile {
 public:
  /// As fdatasync: contents are on the device, but after a crash the file's size is what the last
  /// Flush() or Sync() made it, FileStatus::open_ended, and the reader finds the end by checksums.
  /// Writes metadata only when the file got extents since the last sync.
  Status SyncData() override = 0;
};

/// A file system in one large file or device: directories of one level, files that only grow, all
/// metadata in memory and in a journal (lavastore-pageserver 6). What a caller saw done is there
/// after the process was killed, except what AppendFile buffers and empty new files; what was
/// synced, after a power cut.
/// Threads:    any. Calls wait for writes to the journal, never for its compaction.
/// Ownership:  must outlive its files. One mount of a device at a time; the device sees to that.
/// Errors:     NotFound, InvalidArgument (a name), IOError, Corruption, NoSpace with the volume's
///             figures. After the journal could not be written or synced all changes fail with
///             that error; reads go on.
class Volume {
 public:
  /// Makes an empty volume, whatever was there.
  static Status Format(fs::BlockDevice* device, const FormatOptions& options, const Uuid& uuid);
  static Result<std::unique_ptr<Volume>> Mount(std::unique_ptr<fs::BlockDevice> device,
                                               const MountOptions& options);
  virtual ~Volume() = default;
  /// Makes all changes durable. The volume can only be read afterwards.
  virtual Status Close() = 0;

  virtual Status MakeDirectory(Slice directory) = 0;    // OK when it is there
  virtual Status RemoveDirectory(Slice directory) = 0;  // NotFound, or Busy when it has files
  virtual std::vector<std::string> ListDirectories() = 0;
  virtual Result<std::vector<std::string>> List(Slice directory) = 0;

  /// Replaces a file of that name. may_use_reserve: see MountOptions::reserve_bytes.
  virtual Result<std::unique_ptr<VolumeFile>> Create(Slice directory, Slice name,
                                                     size_t buffer_bytes,
                                                     bool may_use_reserve = false) = 0;
  /// Reads what has been flushed by now; a removed file can be read as long as it is open.
  virtual Result<std::unique_ptr<fs::RandomFile>> Open(Slice directory, Slice name) = 0;
  virtual Result<FileStatus> Stat(Slice directory, Slice name) = 0;
  virtual Status Rename(Slice directory, Slice name, Slice to_directory, Slice to_name) = 0;
  /// Both names share the file. IOError when the new one is taken.
  virtual Status Link(Slice directory, Slice name, Slice to_directory, Slice to_name) = 0;
  virtual Status Remove(Slice directory, Slice name) = 0;
  /// Makes all changes of names, sizes and extents so far durable.
  virtual Status SyncMetadata() = 0;
  /// The same and all contents that were flushed, whoever wrote them.
  virtual Status SyncAll() = 0;

  /// Writes the metadata anew and frees the journal that led to it. Others go on meanwhile.
  virtual Status CompactJournal() = 0;
  /// Gives free space above the idle reserve back to the system.
  virtual Status TrimFreeSpace() = 0;
  virtual VolumeStatistics Statistics() = 0;
  /// Of the extents that are not free, cheaply; those of removed files count no more.
  virtual uint64_t UsedBytes() = 0;
  /// How much files may take before the volume should be told full: the capacity without the
  /// journal's part, the reserve, and a sixteenth for what is under way then.
  virtual uint64_t FileBytesMax() = 0;
  /// OK, or why it takes no more changes.
  virtual Status Health() = 0;
  /// Whether it is read and written past the page cache.
  virtual bool is_direct() const = 0;
  virtual const Uuid& uuid() const = 0;
  virtual uint64_t boot() const = 0;  // MountOptions::boot
};

}  // namespace lava::lavafs
