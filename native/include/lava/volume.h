// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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
  /// The maximum size, at least 32 MiB; 0: the size of the underlying disk. With a maximum,
  /// instances compact, collect and are slowed before the volume is full, as under a space limit.
  uint64_t capacity_bytes = 0;
  /// The name of the capacity setting in messages.
  std::string capacity_setting = "VolumeOptions::capacity_bytes";
  /// Bypasses the page cache unless the system refuses; see VolumeFigures::direct_io.
  bool direct_io = true;
  /// Whether synced data must survive a power cut. If not, it survives only the end of the process,
  /// and the space of removed files is reused at once.
  bool power_safe = false;
  /// The volume grows in steps of a quarter of its size, and at most of grow_bytes.
  uint64_t grow_bytes = 64ull << 20;
  /// Free space for the exclusive use of compactions, collections, manifests and the volume's
  /// journal, so that garbage can be removed from a full volume. At most an eighth of the capacity,
  /// and at most the space in use.
  uint64_t reserve_bytes = 64ull << 20;
  /// When a directory is removed, free space above this limit is returned to the disk.
  uint64_t idle_reserve_bytes = 256ull << 20;
};

/// Counters of a volume. Units: bytes, counts.
struct VolumeFigures {
  uint64_t capacity_bytes = 0;  // maximum size
  uint64_t device_bytes = 0;    // current size
  uint64_t used_bytes = 0;      // files, the journal, and space about to be freed
  uint64_t free_bytes = 0;      // of device_bytes
  uint64_t largest_free_run_bytes = 0;
  uint64_t files = 0, pins = 0;
  uint64_t journal_written_bytes = 0, journal_compactions = 0;
  uint64_t metadata_memory_bytes = 0;
  bool direct_io = false;  // requested, and not refused
};

/// A file of a volume, for reads at any offset.
/// Threads:    any.
/// Ownership:  the volume must outlive the file.
class VolumeInput {
 public:
  virtual ~VolumeInput() = default;
  virtual uint64_t size() const = 0;
  /// Reads exactly length bytes. Errors: Corruption when the file ends earlier; IOError.
  virtual Status Read(uint64_t offset, size_t length, char* to) = 0;
};

/// A new file of a volume.
/// Threads:    one.
/// Ownership:  the volume must outlive the file. Destruction without Close() drops buffered data.
/// Durability: neither Append() nor Close() syncs the file. A closed file survives the end of the
///             process only once it is pinned: see SharedVolume::Pin(). With
///             VolumeOptions::power_safe a pinned file also survives a power cut.
/// Errors:     IOError or NoSpace. After an error the file is useless.
class VolumeOutput {
 public:
  virtual ~VolumeOutput() = default;
  virtual Status Append(Slice data) = 0;
  virtual Status Close() = 0;
};

/// One large file in a directory of the machine that contains the files of all instances of the
/// process in this directory (LavaFS; docs/lavafs-format.md). A volume has directories of one
/// level, whose names may contain slashes.
/// Threads:    any.
/// Ownership:  shared; each DB that uses the volume holds a reference. Dropping the last reference
///             unmounts the volume and removes its file, unless files are pinned in it. The volume
///             of a killed process is found by the next process that opens the directory: its
///             pinned files are kept, the others removed.
/// Errors:     NotFound, InvalidArgument (a name), IOError, Corruption, NoSpace with the volume's
///             figures. After a failed metadata write all changes of this volume fail with that
///             error, and the next open of the directory gets another volume.
class SharedVolume {
 public:
  virtual ~SharedVolume() = default;

  virtual const std::string& path() const = 0;  // of the volume's file
  virtual fs::FileSystem* file_system() = 0;
  virtual VolumeFigures figures() = 0;

  virtual Result<std::unique_ptr<VolumeInput>> OpenFile(Slice directory, Slice name) = 0;
  /// Creates the file, and the directory if necessary. IOError if the file exists.
  virtual Result<std::unique_ptr<VolumeOutput>> CreateFile(Slice directory, Slice name) = 0;
  /// Gives the file a second name; both names share it. Creates the second directory if necessary.
  /// IOError if the second name exists.
  virtual Status LinkFile(Slice directory, Slice name, Slice to_directory, Slice to_name) = 0;
  virtual Status RemoveFile(Slice directory, Slice name) = 0;  // NotFound
  virtual Result<std::vector<std::string>> ListFiles(Slice directory) = 0;
  /// Removes the directory and its files. OK if the directory does not exist.
  virtual Status RemoveDirectory(Slice directory) = 0;

  /// Keeps these files of a directory as long as the file `marker` exists. This call creates the
  /// marker, outside the volume; deleting it drops the pin. See Host::OpenPinned().
  /// Errors:     also IOError when the marker exists already.
  virtual Status Pin(const std::string& marker, Slice directory,
                     std::span<const std::string> names) = 0;
  /// Drops pins whose markers are gone. Cheap; call it from time to time.
  virtual Status DropStalePins() = 0;
};

/// Pinned files, in a directory of a volume.
struct PinnedFiles {
  std::shared_ptr<SharedVolume> volume;
  std::string directory;
};

}  // namespace lava
