// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/guarded.h"
#include "base/mutex.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "lavafs/change.h"
#include "lavafs/volume_impl.h"

namespace lava::lavafs {
void VolumeImpl::Record(const Change& change) {
  using Type = Change::Type;
  std::vector<ExtentRange> freed;
  const bool of_contents = change.type == Type::kExtents || change.type == Type::kSize;
  // For the journal a file ends with its last name, even if it is still being written.
  const bool in_memory_only = of_contents && metadata_.inode(change.inode).links == 0;
  try {
    const Status done = metadata_.Apply(change, &freed);
    LAVA_CHECK(done.ok());
    if (in_memory_only) return;
    EncodeChange(change, &changes_.pending);
    changes_.pending_ends.push_back(changes_.pending.size());
  } catch (const std::bad_alloc&) {
    Fail(NoMemory("change", device_->name()));  // a part of the change may have been made
    throw;
  }
  changes_.recorded++;
  Free(std::move(freed));
}

void VolumeImpl::Free(std::vector<ExtentRange> ranges) {
  if (ranges.empty()) return;
  for (const ExtentRange& range : ranges) freed_extents_ += range.count;
  freed_.push_back({.change = changes_.recorded, .ranges = std::move(ranges)});
  ReleaseFreed();  // a file that was open when it was removed may be safe to free
}

// A removed file's extents must not be reused while a crash may still bring the file back.
void VolumeImpl::ReleaseFreed() {
  const uint64_t safe = options_.power_safe ? changes_.durable : changes_.written;
  for (; !freed_.empty() && freed_.front().change <= safe; freed_.pop_front()) {
    for (const ExtentRange& range : freed_.front().ranges) {
      extents_.Give(range);
      freed_extents_ -= range.count;
    }
  }
}

Status VolumeImpl::Commit(Reach reach) {
  const uint64_t wanted = changes_.recorded;
  while ((reach == Reach::kDurable ? changes_.durable : changes_.written) < wanted) {
    if (!failure_.ok()) return failure_;
    if (committing_) {
      committed_.Wait(&mutex_);
      continue;
    }
    committing_ = true;
    committer_.Begin();
    const Status done = Guarded("write the journal of", device_->name(), [&] {
      mutex_.AssertHeld();
      committer_.AssertHeld();
      return WriteJournal(reach);
    });
    committer_.End();
    committing_ = false;
    if (!done.ok()) Fail(done);
    ReleaseFreed();
    committed_.NotifyAll();
  }
  StartCompactionIfDue();
  return Status::OK();
}

void VolumeImpl::Fail(const Status& status) {
  if (!failure_.ok()) return;
  failure_ = status.WithContext("volume " + device_->name() +
                                " takes no more changes, close it and mount it again");
}

Status VolumeImpl::WriteJournal(Reach reach) {
  const std::string changes = std::exchange(changes_.pending, {});
  const std::vector<size_t> ends = std::exchange(changes_.pending_ends, {});
  const uint64_t upto = changes_.recorded;
  const uint64_t contents = contents_written_.load();
  const bool dirty = contents != contents_synced_;
  const bool durably = reach == Reach::kDurable, doubtful = doubtful_;
  uint64_t durable = changes_.durable_sequence;
  // Contents are synced first, so that no size is found without them. Doubtful transactions count
  // only once a later transaction says that they were synced.
  const bool synced = durably && (dirty || doubtful);
  const bool ordered = synced || !dirty;
  const bool writes = !changes.empty() || (durably && doubtful);
  Status done;
  {
    MutexUnlock unlock(&mutex_);
    if (synced) {
      done = device_->Sync();
      durable = journal_.sequence();
    }
    if (done.ok() && writes) done = WriteTransactions(changes, ends, durable, ordered);
    if (done.ok() && durably) done = device_->Sync();
  }
  journal_use_.written_bytes = journal_.bytes_written();
  LAVA_RETURN_IF_ERROR(done);
  changes_.written = upto;
  doubtful_ = (doubtful_ && !durably) || (writes && !ordered);
  if (durably) {
    changes_.durable = upto;
    changes_.durable_sequence = journal_.sequence();
    contents_synced_ = std::max(contents_synced_, contents);
  }
  return Status::OK();
}

Status VolumeImpl::WriteTransactions(Slice changes, const std::vector<size_t>& ends,
                                     uint64_t durable, bool ordered) {
  const uint64_t payload_max = journal_.payload_bytes_max();
  size_t begin = 0, next = 0;
  do {
    size_t end = begin;
    while (next < ends.size() && ends[next] - begin <= payload_max) end = ends[next++];
    LAVA_CHECK(end > begin || changes.empty());
    if (!journal_.Fits(end - begin)) LAVA_RETURN_IF_ERROR(JumpToNewExtent(durable));
    LAVA_RETURN_IF_ERROR(journal_.Write(changes.substr(begin, end - begin), durable, ordered));
    begin = end;
  } while (begin < changes.size());
  return Status::OK();
}

Status VolumeImpl::JumpToNewExtent(uint64_t durable) {
  uint32_t extent = 0;
  {
    MutexLock lock(&mutex_);
    LAVA_ASSIGN_OR_RETURN(extent, TakeJournalExtent());
    journal_extents_.push_back(extent);
  }
  return journal_.Jump(extent, durable);
}

void VolumeImpl::StartCompactionIfDue() {
  if (compacting_ || compaction_due_ || closed_ || !failure_.ok()) return;
  if (journal_use_.written_bytes - journal_use_.compacted_at < JournalBytesDue()) return;
  compaction_due_ = true;
  bool asked = false;
  {
    MutexUnlock unlock(&mutex_);
    // An error is either the volume's, which the next change reports, or a lack of space, after
    // which the next change tries again.
    const auto compact = [this] { (void)CompactJournal(); };
    asked = Tried([&] {
      if (options_.run_in_background) {
        options_.run_in_background(compact);
      } else {
        compact();
      }
    });
  }
  if (!asked) compaction_due_ = false;  // the next change asks again
}

}  // namespace lava::lavafs
