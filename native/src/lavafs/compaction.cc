// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "base/mutex.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "lavafs/change.h"
#include "lavafs/format.h"
#include "lavafs/image.h"
#include "lavafs/metadata.h"
#include "lavafs/volume_impl.h"

namespace lava::lavafs {

// Writes all metadata anew, as a checkpoint. Meanwhile the journal continues in an extent of its
// own. The checkpoint comes from replaying the journal up to that extent, as a mount does, so no
// writer waits for a copy of the metadata. Until the superblock names the checkpoint, the former
// journal counts; it leads to the same extent.
Status VolumeImpl::CompactJournal() {
  bool begun = false;
  Status done = Guarded("compact the journal of", device_->name(), [&] { return Compact(&begun); });
  if (!begun) return done;
  // An exception leaves the position in the journal unknown.
  MutexLock lock(&mutex_);
  committing_ = compacting_ = false;
  Fail(done);
  committed_.NotifyAll();
  return done;
}

// *begun: commits or compactions wait for this one. False again on return, but not if it throws.
Status VolumeImpl::Compact(bool* begun) {
  MutexLock lock(&mutex_);
  while (committing_ || compacting_) committed_.Wait(&mutex_);
  compaction_due_ = false;
  LAVA_RETURN_IF_ERROR(Usable());
  LAVA_ASSIGN_OR_RETURN(const uint32_t tail, TakeJournalExtent());
  committing_ = compacting_ = *begun = true;
  committer_.Begin();
  Status done = GoOnIn(tail);
  const JournalStart resume = journal_.position().start;
  const uint64_t last_sequence = journal_.sequence();
  committer_.End();
  committing_ = false;
  committed_.NotifyAll();
  if (done.ok()) {
    const std::vector<uint32_t> before(journal_extents_.begin(), journal_extents_.end() - 1);
    journal_extents_ = {tail};
    const uint64_t written = journal_use_.written_bytes;
    lock.Unlock();
    std::vector<uint32_t> extents;
    JournalStart start;
    std::string checkpoint;
    std::vector<size_t> ends;
    done = Guarded("write a checkpoint of", device_->name(), [&] {
      const Status encoded = EncodeMetadata(last_sequence, &checkpoint, &ends);
      return encoded.ok() ? WriteCheckpoint(checkpoint, ends, resume, &start, &extents) : encoded;
    });
    // Either the device or the memory is full.
    const bool is_full = done.IsNoSpace() || done.code() == Status::Code::kMemoryLimit;
    if (done.ok()) done = device_->Sync();
    if (done.ok()) {
      superblock_.journal = start;
      superblock_.generation++;
      done = WriteSuperblocks();
    }
    lock.Lock();
    const std::vector<uint32_t>& kept = done.ok() ? extents : before;
    const std::vector<uint32_t>& gone = done.ok() ? before : extents;
    journal_use_.compacted_at = written;
    journal_extents_.insert(journal_extents_.begin(), kept.begin(), kept.end());
    if (done.ok() || is_full) {
      for (const uint32_t extent : gone) extents_.Give({extent, 1});
    }
    if (done.ok()) {
      journal_use_.compactions++;
      journal_use_.checkpoint_bytes = checkpoint.size();
    } else if (!is_full) {
      Fail(done);
    }
  } else {
    Fail(done);
  }
  compacting_ = *begun = false;
  committed_.NotifyAll();
  return done;
}

// Encodes all metadata as changes; *ends gets the end of each.
Status VolumeImpl::EncodeMetadata(uint64_t last_sequence, std::string* changes,
                                  std::vector<size_t>* ends) {
  LAVA_ASSIGN_OR_RETURN(const Metadata metadata,
                        ReplayUpTo(device_.get(), superblock_, last_sequence));
  metadata.ForEachChange([&](const Change& change) {
    EncodeChange(change, changes);
    ends->push_back(changes->size());
  });
  return Status::OK();
}

// Writes the pending changes and, after them, a jump to a new extent.
Status VolumeImpl::GoOnIn(uint32_t extent) {
  LAVA_RETURN_IF_ERROR(WriteJournal(Reach::kWritten));
  const uint64_t durable = changes_.durable_sequence;
  Status done;
  {
    MutexUnlock unlock(&mutex_);
    done = journal_.Jump(extent, durable);
  }
  journal_use_.written_bytes = journal_.bytes_written();
  journal_extents_.push_back(extent);
  return done;
}

Status VolumeImpl::WriteCheckpoint(Slice changes, const std::vector<size_t>& ends,
                                   const JournalStart& tail, JournalStart* start,
                                   std::vector<uint32_t>* extents) {
  const auto take = [&]() -> Result<uint32_t> {
    MutexLock lock(&mutex_);
    LAVA_ASSIGN_OR_RETURN(const uint32_t extent, TakeJournalExtent());
    extents->push_back(extent);
    return extent;
  };
  LAVA_ASSIGN_OR_RETURN(const uint32_t first, take());
  *start = {.extent = first, .sequence = 1, .previous = superblock_.generation};
  JournalWriter writer(device_.get(),
                       {.uuid = superblock_.uuid,
                        .extent_bytes = superblock_.extent_bytes,
                        .mount = options_.mount,
                        .boot = options_.boot},
                       {.start = *start});
  const uint64_t payload_max = writer.payload_bytes_max();
  size_t begin = 0;
  for (size_t next = 0; next < ends.size();) {
    size_t end = begin;
    while (next < ends.size() && ends[next] - begin <= payload_max) end = ends[next++];
    if (!writer.Fits(end - begin)) {
      LAVA_ASSIGN_OR_RETURN(const uint32_t extent, take());
      LAVA_RETURN_IF_ERROR(writer.Jump(extent, 0));
    }
    LAVA_RETURN_IF_ERROR(writer.Write(changes.substr(begin, end - begin), 0, true));
    begin = end;
  }
  return writer.Resume(tail);
}

}  // namespace lava::lavafs
