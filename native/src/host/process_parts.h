// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/run_in_background.h"
#include "fs/file_system.h"
#include "host/space_quota.h"
#include "lava/host.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "lava/volume.h"
#include "memory/memory_counter.h"

// What the host has of libraries above it, by interfaces, so that host/ and db/ need neither LavaFS
// nor LavaLog.
namespace lava {

/// One instance's write-ahead log. Records have ascending numbers without gaps, their LSNs.
/// WalOpener opens it.
/// Threads:    Replay() and Append() from one thread at a time; Flushed() from one thread at a
///             time, also concurrently with these.
/// Durability: an appended record survives the end of the process; if the log is synced, it is on
///             the device.
class Wal {
 public:
  virtual ~Wal() = default;
  /// Calls apply() with each record after the flushed ones, oldest first.
  /// Errors: Corruption if a record is missing between two others; errors of apply().
  virtual Status Replay(const std::function<Status(Slice)>& apply) = 0;
  /// Errors: of the file system. The record is not acknowledged then, and the call may be repeated.
  virtual Status Append(Slice record) = 0;
  /// The number of the last record; during Replay(), of the last one that was applied. 0: none yet.
  virtual uint64_t last() const = 0;
  /// The changes of all records up to lsn are in files, and the manifest durably names these files.
  /// Errors: of the file system; a later call makes up for a failed one.
  virtual Status Flushed(uint64_t lsn) = 0;
};

/// The log of one instance.
struct WalLocation {
  fs::FileSystem* file_system = nullptr;  // must outlive the log
  std::shared_ptr<SharedVolume> keep;     // what file_system depends on; may be null
  std::string directory;                  // of the log
  std::string name;                       // the instance's path
};

/// The write-ahead logs of the process.
/// Threads:    any.
class WalOpener {
 public:
  virtual ~WalOpener() = default;
  /// synced: whether a record is on the device when Append() returns. flushed: the last record
  /// whose changes are in files, according to the manifest; none: the instance had no log so far. A
  /// log of this name is then left from an earlier instance in the same directory, and is deleted.
  /// Errors: Corruption if the instance had a log and it is missing.
  virtual Result<std::unique_ptr<Wal>> Open(const WalLocation& location, bool synced,
                                            std::optional<uint64_t> flushed) = 0;
  /// Deletes the log, if there is one.
  virtual Status Delete(const WalLocation& location) = 0;
};

/// The volumes that the process has mounted. Host (lava/host.h) has the contract.
/// Threads:    any.
class VolumeOpener {
 public:
  virtual ~VolumeOpener() = default;
  virtual Result<std::shared_ptr<SharedVolume>> Open(const std::string& directory,
                                                     const VolumeOptions& options,
                                                     std::vector<std::string>* left_behind) = 0;
  virtual Result<PinnedFiles> OpenPinned(const std::string& marker,
                                         const VolumeOptions& options) = 0;
  virtual Result<uint32_t> RemoveStale(const std::string& directory) = 0;
};

/// A volume as instances see it. All volumes of a VolumeOpener are such.
class LimitedVolume : public SharedVolume {
 public:
  /// The limit for all instances on the volume; none if the options set no capacity.
  virtual SpaceQuota* quota() = 0;
};

/// Makes the parts. Each is called once, and the parts live as long as the host. memory: charged
/// with the indexes of logs, and with the buffers of files. run: runs a job now or later, or drops
/// it. process: its statistics include the instances on volumes.
struct ProcessParts {
  std::unique_ptr<WalOpener> (*wals)(MemoryCounter* memory, RunInBackground run);
  std::unique_ptr<VolumeOpener> (*volumes)(MemoryCounter* memory, RunInBackground run,
                                           SpaceQuota* process);
};

}  // namespace lava
