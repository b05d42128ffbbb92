// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/run_in_background.h"
#include "fs/block_device.h"
#include "fs/file_system.h"
#include "lavafs/format.h"
#include "memory/memory_counter.h"

namespace lava::lavafs {

/// Options of Volume::Format(). Units: bytes.
struct FormatOptions {
  uint64_t capacity_bytes = 0;          // upper limit; the device may be smaller and grow
  uint32_t extent_bytes = 256 << 10;    // a power of two; a file takes at least one
  uint64_t initial_bytes = 2ull << 20;  // initial size of a device that can grow
};

/// Options of Volume::Mount(). Units: bytes.
struct MountOptions {
  /// Name of the capacity's setting, for messages; empty: messages name none.
  std::string capacity_setting = {};
  /// A device that can grow does so by a quarter of its size, and by at most this.
  uint64_t grow_bytes = 64ull << 20;
  /// Free space kept for the journal and for files that may use the reserve; at most an eighth of
  /// the capacity, and at most as much as is in use.
  uint64_t reserve_bytes = 0;
  /// TrimFreeSpace() gives free space above this back to the system.
  uint64_t idle_reserve_bytes = 256ull << 20;
  /// The journal is compacted after it has grown by this much since the last compaction, or by a
  /// sixteenth of a small device.
  uint64_t journal_bytes_max = 8ull << 20;
  /// Whether synced files must outlive a power cut. If not, freed space is used again at once.
  bool power_safe = true;
  /// Identifies the machine's current boot; 0: unknown. See ReadImage().
  uint64_t boot = 0;
  /// A random number for this mount.
  uint64_t mount = 0;
  /// Runs a job in the background; null: jobs run on the calling thread. All jobs must have run or
  /// been dropped before the volume is destroyed.
  RunInBackground run_in_background = {};
  /// A file whose buffer has at least this size gets a second one. One is filled while the other is
  /// written, if the device supports that.
  uint64_t second_buffer_from_bytes = 64 << 10;
  /// Charged with the buffers of files that are being written; null: nothing is charged.
  MemoryCounter* buffers = nullptr;
};

/// Figures of a volume. Units: bytes, counts.
struct VolumeStatistics {
  uint64_t capacity_bytes = 0;     // to which the device may grow
  uint64_t device_bytes = 0;       // current size
  uint64_t used_bytes = 0;         // of files and the journal, including to_be_freed_bytes
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
  /// The file may contain more than `size` bytes: it was synced without its size and never closed.
  bool open_ended = false;
  uint64_t extents_bytes = 0;
};

/// A file of a volume that grows at its end.
class VolumeFile : public fs::AppendFile {
 public:
  /// Like fdatasync. After a crash the file may contain more bytes than its size says
  /// (FileStatus::open_ended); the reader finds the end by checksums. Writes metadata only when the
  /// file got extents since the last sync.
  Status SyncData() override = 0;
};

/// A file system in one large file or device: directories of one level, files that only grow, and
/// all metadata in memory and in a journal (lavastore-pageserver 6). Completed calls survive a kill
/// of the process, except for bytes that AppendFile buffers and for empty new files. Synced data
/// survives a power cut.
/// Threads:    any. Calls wait for writes to the journal, never for its compaction.
/// Ownership:  must outlive its files. The device ensures that it is mounted only once at a time.
/// Errors:     NotFound, InvalidArgument (a name), IOError, Corruption, NoSpace with the volume's
///             figures. Once the journal could not be written or synced, all changes fail with that
///             error; reads continue.
class Volume {
 public:
  /// Makes an empty volume, whatever the device contains.
  static Status Format(fs::BlockDevice* device, const FormatOptions& options, const Uuid& uuid);
  static Result<std::unique_ptr<Volume>> Mount(std::unique_ptr<fs::BlockDevice> device,
                                               const MountOptions& options);
  virtual ~Volume() = default;
  /// Makes all changes durable. The volume can only be read afterwards.
  virtual Status Close() = 0;

  virtual Status MakeDirectory(Slice directory) = 0;    // OK if it exists
  virtual Status RemoveDirectory(Slice directory) = 0;  // NotFound, or Busy when it has files
  virtual std::vector<std::string> ListDirectories() = 0;
  virtual Result<std::vector<std::string>> List(Slice directory) = 0;

  /// Replaces an existing file of that name. may_use_reserve: see MountOptions::reserve_bytes.
  virtual Result<std::unique_ptr<VolumeFile>> Create(Slice directory, Slice name,
                                                     size_t buffer_bytes,
                                                     bool may_use_reserve = false) = 0;
  /// Reads the bytes flushed before this call. A removed file can be read as long as it is open.
  virtual Result<std::unique_ptr<fs::RandomFile>> Open(Slice directory, Slice name) = 0;
  virtual Result<FileStatus> Stat(Slice directory, Slice name) = 0;
  virtual Status Rename(Slice directory, Slice name, Slice to_directory, Slice to_name) = 0;
  /// Both names share the file. IOError when the new name is taken.
  virtual Status Link(Slice directory, Slice name, Slice to_directory, Slice to_name) = 0;
  virtual Status Remove(Slice directory, Slice name) = 0;
  /// Makes all changes of names, sizes and extents so far durable.
  virtual Status SyncMetadata() = 0;
  /// Like SyncMetadata(), and makes all flushed contents durable, whoever wrote them.
  virtual Status SyncAll() = 0;

  /// Writes the metadata anew and frees the former journal. Other calls continue meanwhile.
  virtual Status CompactJournal() = 0;
  /// Gives free space above the idle reserve back to the system.
  virtual Status TrimFreeSpace() = 0;
  virtual VolumeStatistics Statistics() = 0;
  /// Bytes of the extents in use, without those of removed files. Cheap.
  virtual uint64_t UsedBytes() = 0;
  /// Bytes that files may take before the volume should be reported as full: the capacity without
  /// the journal's part, the reserve, and a sixteenth for writes that are under way then.
  virtual uint64_t FileBytesMax() = 0;
  /// OK, or the reason why the volume takes no more changes.
  virtual Status Health() = 0;
  /// Whether reads and writes bypass the page cache.
  virtual bool is_direct() const = 0;
  virtual const Uuid& uuid() const = 0;
  virtual uint64_t boot() const = 0;  // MountOptions::boot
};

}  // namespace lava::lavafs
