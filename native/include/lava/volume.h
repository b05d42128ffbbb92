#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lava/slice.h"
#include "lava/status.h"

namespace lava {

namespace fs {
class FileSystem;
}

/// Options of a volume. Threads: a value. Units: bytes.
struct VolumeOptions {
  /// What it may grow to, at least 32 MiB; 0: the size of the disk below. With one, instances
  /// compact and collect before the volume is full, and are slowed, as under a limit of space.
  uint64_t capacity_bytes = 0;
  /// What messages call the setting of the capacity.
  std::string capacity_setting = "VolumeOptions::capacity_bytes";
  /// Past the page cache, where the system does not refuse; VolumeFigures::direct_io tells.
  bool direct_io = true;
  /// Whether what is synced must outlive a power cut; if not, it outlives the process only, and
  /// space of removed files is used again at once.
  bool power_safe = false;
  /// The volume grows in steps of a quarter of its size, and at most of this.
  uint64_t grow_bytes = 64ull << 20;
  /// Free space that only compactions, collections, manifests and the volume's journal get, so that
  /// garbage of a full volume can be removed; at most an eighth of the capacity, and at most as
  /// much as is in use.
  uint64_t reserve_bytes = 64ull << 20;
  /// Free space above this goes back to the disk when a directory is removed.
  uint64_t idle_reserve_bytes = 256ull << 20;
};

/// Counters of a volume. Units: bytes, counts.
struct VolumeFigures {
  uint64_t capacity_bytes = 0;  // that it may grow to
  uint64_t device_bytes = 0;    // that it has grown to
  uint64_t used_bytes = 0;      // files, its journal, and what is about to be freed
  uint64_t free_bytes = 0;      // of device_bytes
  uint64_t largest_free_run_bytes = 0;
  uint64_t files = 0, pins = 0;
  uint64_t journal_written_bytes = 0, journal_compactions = 0;
  uint64_t metadata_memory_bytes = 0;
  bool direct_io = false;  // asked for, and not refused
};

/// A file of a volume that is read at offsets. Threads: any. Ownership: the volume must outlive it.
class VolumeInput {
 public:
  virtual ~VolumeInput() = default;
  virtual uint64_t size() const = 0;
  /// Exactly length bytes. Errors: Corruption when the file ends before; IOError.
  virtual Status Read(uint64_t offset, size_t length, char* to) = 0;
};

/// A new file of a volume. Threads: one. Ownership: the volume must outlive it; destruction without
/// Close() drops what is buffered.
class VolumeOutput {
 public:
  virtual ~VolumeOutput() = default;
  virtual Status Append(Slice data) = 0;
  virtual Status Close() = 0;
};

/// One large file in a directory of the machine with the files of all instances of the process that
/// use the directory (LavaFS; docs/lavafs-format.md). It has directories of one level, whose names
/// may hold slashes.
/// Threads:    any.
/// Ownership:  shared; each DB that uses it holds a reference. With the last one the volume is
///             unmounted, and its file removed unless files are pinned in it. What a killed process
///             left behind is found by whoever opens the directory next: its pins stay, the rest is
///             removed.
/// Errors:     NotFound, InvalidArgument (a name), IOError, Corruption, NoSpace with the volume's
///             figures. After a failure of its metadata all changes of this volume fail with that
///             error, and who opens the directory next gets another volume.
class SharedVolume {
 public:
  virtual ~SharedVolume() = default;

  virtual const std::string& path() const = 0;  // of the volume's file
  virtual fs::FileSystem* file_system() = 0;
  virtual VolumeFigures figures() = 0;

  virtual Result<std::unique_ptr<VolumeInput>> OpenFile(Slice directory, Slice name) = 0;
  /// Makes the directory, too. IOError when the file is there.
  virtual Result<std::unique_ptr<VolumeOutput>> CreateFile(Slice directory, Slice name) = 0;
  /// Both names share the file; makes the directory of the second. IOError when that is taken.
  virtual Status LinkFile(Slice directory, Slice name, Slice to_directory, Slice to_name) = 0;
  virtual Status RemoveFile(Slice directory, Slice name) = 0;  // NotFound
  virtual Result<std::vector<std::string>> ListFiles(Slice directory) = 0;
  /// With its files; OK when it is not there.
  virtual Status RemoveDirectory(Slice directory) = 0;

  /// Keeps these files of a directory for as long as `marker` is there, a file outside the volume
  /// that this writes: whoever owns its directory drops the pin by deleting it. See
  /// Host::OpenPinned().
  /// Errors:     also IOError when the marker is there already.
  virtual Status Pin(const std::string& marker, Slice directory,
                     std::span<const std::string> names) = 0;
  /// Drops pins whose markers are gone. Cheap; call it now and then.
  virtual Status DropStalePins() = 0;
};

/// Files that were pinned: in a directory of a volume.
struct PinnedFiles {
  std::shared_ptr<SharedVolume> volume;
  std::string directory;
};

}  // namespace lava
