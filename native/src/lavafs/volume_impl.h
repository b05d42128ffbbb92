// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "lavafs/image.h"
#include "lavafs/volume.h"

namespace lava::lavafs {

/// See Volume. Changes are applied in memory and gathered under one mutex, which is not held during
/// writes to the device. One thread at a time writes the gathered changes to the journal, for all
/// threads that wait.
/// Threads:    any, except Begin(), which is called before other threads use the volume.
/// Ownership:  owns the device. Its files borrow it.
class VolumeImpl : public Volume {
 public:
  VolumeImpl(std::unique_ptr<fs::BlockDevice> device, const MountOptions& options, Image image);
  /// Writes what a mount must write before any other call.
  Status Begin(bool mend_superblocks) LAVA_EXCLUDES(mutex_);

  Status Close() override LAVA_EXCLUDES(mutex_);
  Status MakeDirectory(Slice directory) override LAVA_EXCLUDES(mutex_);
  Status RemoveDirectory(Slice directory) override LAVA_EXCLUDES(mutex_);
  std::vector<std::string> ListDirectories() override LAVA_EXCLUDES(mutex_);
  Result<std::vector<std::string>> List(Slice directory) override LAVA_EXCLUDES(mutex_);
  Result<std::unique_ptr<VolumeFile>> Create(Slice directory, Slice name, size_t buffer_bytes,
                                             bool may_use_reserve) override LAVA_EXCLUDES(mutex_);
  Result<std::unique_ptr<fs::RandomFile>> Open(Slice directory, Slice name) override
      LAVA_EXCLUDES(mutex_);
  Result<FileStatus> Stat(Slice directory, Slice name) override LAVA_EXCLUDES(mutex_);
  Status Rename(Slice directory, Slice name, Slice to_directory, Slice to_name) override
      LAVA_EXCLUDES(mutex_);
  Status Link(Slice directory, Slice name, Slice to_directory, Slice to_name) override
      LAVA_EXCLUDES(mutex_);
  Status Remove(Slice directory, Slice name) override LAVA_EXCLUDES(mutex_);
  Status SyncMetadata() override LAVA_EXCLUDES(mutex_);
  Status SyncAll() override LAVA_EXCLUDES(mutex_);
  Status CompactJournal() override LAVA_EXCLUDES(mutex_);
  Status TrimFreeSpace() override LAVA_EXCLUDES(mutex_);
  VolumeStatistics Statistics() override LAVA_EXCLUDES(mutex_);
  uint64_t UsedBytes() override LAVA_EXCLUDES(mutex_);
  uint64_t FileBytesMax() override LAVA_EXCLUDES(mutex_);
  Status Health() override LAVA_EXCLUDES(mutex_);
  bool is_direct() const override { return device_->alignment() > 1; }
  uint64_t boot() const override { return options_.boot; }
  const Uuid& uuid() const override { return superblock_.uuid; }

 private:
  friend class AppendImpl;
  friend class RandomImpl;

  // The guarantee of a commit for all changes before it.
  enum class Reach { kWritten, kDurable };

  // The role of the thread that set committing_. It exists for the compiler only: nothing is
  // locked.
  struct LAVA_CAPABILITY("role") Committer {
    void Begin() LAVA_ACQUIRE() {}
    void End() LAVA_RELEASE() {}
    void AssertHeld() const LAVA_ASSERT_CAPABILITY(this) {}
  };

  Status FindDirectory(Slice directory, Slice operation, uint32_t* number) const
      LAVA_REQUIRES(mutex_);
  Status FindFile(Slice directory, Slice name, Slice operation, uint32_t* directory_number,
                  uint32_t* inode) const LAVA_REQUIRES(mutex_);
  struct FilePath {
    Slice directory, name;
  };
  struct Resolved {
    uint32_t from = 0, to = 0;  // numbers of the directories
    uint32_t inode = 0;         // of the file
  };
  // Checks for a file's new name: the file must exist, and the name must be valid.
  Status Resolve(Slice operation, const FilePath& from, const FilePath& to,
                 Resolved* resolved) const LAVA_REQUIRES(mutex_);
  std::string PathOf(Slice directory, Slice name) const;

  // commit.cc; functions that write to the device release the mutex meanwhile
  void Record(const Change& change) LAVA_REQUIRES(mutex_);  // applies and gathers it
  void Free(std::vector<ExtentRange> ranges) LAVA_REQUIRES(mutex_);
  void ReleaseFreed() LAVA_REQUIRES(mutex_);
  Status Commit(Reach reach) LAVA_REQUIRES(mutex_);
  Status WriteJournal(Reach reach) LAVA_REQUIRES(mutex_, committer_);
  void StartCompactionIfDue() LAVA_REQUIRES(mutex_);
  void Fail(const Status& status) LAVA_REQUIRES(mutex_);
  Status Usable() const LAVA_REQUIRES(mutex_);
  Status WriteTransactions(Slice changes, const std::vector<size_t>& ends, uint64_t durable,
                           bool ordered) LAVA_REQUIRES(committer_) LAVA_EXCLUDES(mutex_);
  Status JumpToNewExtent(uint64_t durable) LAVA_REQUIRES(committer_) LAVA_EXCLUDES(mutex_);

  // compaction.cc
  Status Compact(bool* begun) LAVA_EXCLUDES(mutex_);
  Status GoOnIn(uint32_t extent) LAVA_REQUIRES(mutex_, committer_);
  Status EncodeMetadata(uint64_t last_sequence, std::string* changes, std::vector<size_t>* ends);
  Status WriteCheckpoint(Slice changes, const std::vector<size_t>& ends, const JournalStart& tail,
                         JournalStart* start, std::vector<uint32_t>* extents) LAVA_EXCLUDES(mutex_);
  Status WriteSuperblocks();

  // space.cc
  uint64_t JournalBytesDue() const LAVA_REQUIRES(mutex_);  // journal bytes between compactions
  uint64_t Reserve(bool may_use_reserve) const LAVA_REQUIRES(mutex_);
  // Adds extents to a file, or none and returns NoSpace; extents_liked if there is space for them.
  // Makes removals durable when space is short.
  Status Extend(uint32_t inode, uint32_t extents, uint32_t extents_liked, bool may_use_reserve)
      LAVA_REQUIRES(mutex_);
  Result<uint32_t> TakeJournalExtent() LAVA_REQUIRES(mutex_);
  bool Grow(uint64_t extents) LAVA_REQUIRES(mutex_);  // false: see grow_error_
  std::optional<uint32_t> NewInode() LAVA_REQUIRES(mutex_);
  std::optional<uint32_t> NewDirectory() LAVA_REQUIRES(mutex_);
  Status Full(const std::string& operation) const LAVA_REQUIRES(mutex_);

  const std::unique_ptr<fs::BlockDevice> device_;
  const MountOptions options_;
  Mutex mutex_;
  CondVar committed_;
  Committer committer_;
  // Constant except for journal and generation, which belong to the thread that set compacting_.
  Superblock superblock_;
  Metadata metadata_ LAVA_GUARDED_BY(mutex_);
  ExtentMap extents_ LAVA_GUARDED_BY(mutex_);
  std::vector<uint32_t> journal_extents_ LAVA_GUARDED_BY(mutex_);
  JournalWriter journal_ LAVA_GUARDED_BY(committer_);

  struct Changes {
    // Encoded changes that are in no transaction yet, and the end of each.
    std::string pending = {};
    std::vector<size_t> pending_ends = {};
    // Counts of changes; durable_sequence is that of a transaction.
    uint64_t recorded = 0, written = 0, durable = 0, durable_sequence = 0;
  };
  Changes changes_ LAVA_GUARDED_BY(mutex_);
  // The journal contains a transaction that would not count after a power cut.
  bool doubtful_ LAVA_GUARDED_BY(mutex_) = false;
  bool committing_ LAVA_GUARDED_BY(mutex_) = false;
  bool compacting_ LAVA_GUARDED_BY(mutex_) = false;
  bool compaction_due_ LAVA_GUARDED_BY(mutex_) = false;
  bool closed_ LAVA_GUARDED_BY(mutex_) = false;
  Status failure_ LAVA_GUARDED_BY(mutex_);
  Status grow_error_ LAVA_GUARDED_BY(mutex_);  // why the device could not grow last time
  // Counts writes of contents; those up to contents_synced_ are on the device.
  std::atomic<uint64_t> contents_written_{0};
  uint64_t contents_synced_ LAVA_GUARDED_BY(mutex_) = 0;
  // Extents that become free once the changes up to `change` are durable (without power_safe:
  // written).
  struct Freed {
    uint64_t change;
    std::vector<ExtentRange> ranges;
  };
  std::deque<Freed> freed_ LAVA_GUARDED_BY(mutex_);
  uint64_t freed_extents_ LAVA_GUARDED_BY(mutex_) = 0;
  struct JournalUse {
    uint64_t written_bytes = 0;
    uint64_t compacted_at = 0;  // journal bytes written by then
    uint64_t compactions = 0, checkpoint_bytes = 0;
  };
  JournalUse journal_use_ LAVA_GUARDED_BY(mutex_);
};

}  // namespace lava::lavafs
