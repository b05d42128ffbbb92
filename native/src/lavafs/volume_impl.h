#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lavafs/image.h"
#include "lavafs/volume.h"

namespace lava::lavafs {

/// See Volume. Changes are made in memory under one mutex, which no write to the device holds, and
/// gathered; one thread at a time writes what has gathered to the journal, for all that wait.
class VolumeImpl : public Volume {
 public:
  VolumeImpl(std::unique_ptr<fs::BlockDevice> device, const MountOptions& options, Image image);
  /// What a mount writes before anything else.
  Status Begin(bool mend_superblocks);

  Status Close() override;
  Status MakeDirectory(Slice directory) override;
  Status RemoveDirectory(Slice directory) override;
  std::vector<std::string> ListDirectories() override;
  Result<std::vector<std::string>> List(Slice directory) override;
  Result<std::unique_ptr<VolumeFile>> Create(Slice directory, Slice name, size_t buffer_bytes,
                                             bool may_use_reserve) override;
  Result<std::unique_ptr<fs::RandomFile>> Open(Slice directory, Slice name) override;
  Result<FileStatus> Stat(Slice directory, Slice name) override;
  Status Rename(Slice directory, Slice name, Slice to_directory, Slice to_name) override;
  Status Link(Slice directory, Slice name, Slice to_directory, Slice to_name) override;
  Status Remove(Slice directory, Slice name) override;
  Status SyncMetadata() override;
  Status SyncAll() override;
  Status CompactJournal() override;
  Status TrimFreeSpace() override;
  VolumeStatistics Statistics() override;
  uint64_t UsedBytes() override;
  uint64_t FileBytesMax() override;
  Status Health() override;
  bool is_direct() const override { return device_->alignment() > 1; }
  uint64_t boot() const override { return options_.boot; }
  const Uuid& uuid() const override { return superblock_.uuid; }

 private:
  friend class AppendImpl;
  friend class RandomImpl;
  using Lock = std::unique_lock<std::mutex>;

  // What a commit promises of the changes before it.
  enum class Reach { kWritten, kDurable };

  // names.cc; all with the mutex held
  Status NeedsDirectory(Slice directory, Slice operation, uint32_t* number) const;
  Status NeedsFile(Slice directory, Slice name, Slice operation, uint32_t* directory_number,
                   uint32_t* inode) const;
  struct FilePath {
    Slice directory, name;
  };
  struct Places {
    uint32_t from = 0, to = 0, inode = 0;
  };
  // A file that is to have another name: that it is there, and that the name may be.
  Status NeedsPlaces(Slice operation, const FilePath& from, const FilePath& to,
                     Places* places) const;
  std::string PathOf(Slice directory, Slice name) const;

  // commit.cc; with the mutex held, if not said otherwise
  void Record(const Change& change);  // carries it out, and gathers it
  void Free(std::vector<ExtentRun> runs);
  void ReleaseFreed();
  Status Commit(Lock* lock, Reach reach);
  Status WriteJournal(Lock* lock, Reach reach);
  void StartCompactionIfDue(Lock* lock);
  void Fail(const Status& status);
  Status Usable() const;
  // By whoever set committing_, without the mutex.
  Status WriteTransactions(Slice changes, const std::vector<size_t>& ends, uint64_t durable,
                           bool ordered);
  Status JumpToNewExtent(uint64_t durable);

  // compaction.cc
  Status Compact(bool* begun);
  Status GoOnIn(uint32_t extent, Lock* lock);
  Status EncodeMetadata(uint64_t last_sequence, std::string* changes, std::vector<size_t>* ends);
  Status WriteCheckpoint(Slice changes, const std::vector<size_t>& ends, const JournalStart& tail,
                         JournalStart* start, std::vector<uint32_t>* extents);
  Status WriteSuperblocks();

  // space.cc; with the mutex held
  uint64_t JournalBytesDue() const;  // as many until it is compacted
  uint64_t Reserve(bool may_use_reserve) const;
  // So many extents for a file, or none and NoSpace; extents_liked if there is room for them.
  // Makes removals durable when space is short.
  Status Extend(Lock* lock, uint32_t inode, uint32_t extents, uint32_t extents_liked,
                bool may_use_reserve);
  Result<uint32_t> TakeJournalExtent();
  bool Grow(uint64_t extents);  // false: see grow_error_
  std::optional<uint32_t> NewInode();
  std::optional<uint32_t> NewDirectory();
  Status Full(const std::string& operation) const;

  const std::unique_ptr<fs::BlockDevice> device_;
  const MountOptions options_;
  std::mutex mutex_;
  std::condition_variable committed_;
  Superblock superblock_;
  Metadata metadata_;
  ExtentMap extents_;
  std::vector<uint32_t> journal_extents_;
  JournalWriter journal_;  // by whoever set committing_

  // Changes that no transaction has yet, encoded, and where each ends.
  std::string pending_;
  std::vector<size_t> pending_ends_;
  uint64_t recorded_ = 0, written_ = 0, durable_ = 0;  // changes
  uint64_t durable_sequence_ = 0;
  bool doubtful_ = false;  // a transaction in the journal would not count after a power cut
  bool committing_ = false, compacting_ = false, compaction_due_ = false, closed_ = false;
  Status failure_;
  Status grow_error_;  // why the device could not grow the last time
  // Writes of contents; those up to contents_synced_ are on the device.
  std::atomic<uint64_t> contents_written_{0};
  uint64_t contents_synced_ = 0;
  // Extents that are free once the changes up to `change` are as safe as power_safe asks for.
  struct Freed {
    uint64_t change;
    std::vector<ExtentRun> runs;
  };
  std::deque<Freed> freed_;
  uint64_t freed_extents_ = 0;
  uint64_t journal_written_bytes_ = 0, compacted_at_ = 0;  // the one as it was at the other
  uint64_t compactions_ = 0, checkpoint_bytes_ = 0;
};

}  // namespace lava::lavafs
