// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "fs/direct_io.h"
#include "lava/status.h"
#include "lavafs/change.h"
#include "lavafs/image.h"
#include "lavafs/volume_impl.h"

namespace lava::lavafs {
namespace {

// For a running compaction: the extent in which the journal continues, and partly filled ones.
constexpr uint64_t kJournalExtents = 4;
// Compacting the journal of an empty volume more often would gain nothing.
constexpr uint64_t kJournalBytesMin = 256 << 10;
// A device grows by at least this much, otherwise by a quarter of its size.
constexpr uint64_t kGrowBytesMin = 1 << 20;

}  // namespace

// At most about a sixteenth of the device, so that a small volume does not reserve megabytes for
// its journal.
uint64_t VolumeImpl::JournalBytesDue() const {
  const uint64_t device_bytes = uint64_t{extents_.count()} * superblock_.extent_bytes;
  const uint64_t share = std::max(device_bytes / 16, kJournalBytesMin);
  return std::max({std::min({options_.journal_bytes_max, superblock_.capacity_bytes / 16, share}),
                   2 * journal_use_.checkpoint_bytes});
}

// Extents that a file must leave free: the journal's growth until it is compacted, so that a full
// volume can still be emptied, and the configured reserve.
uint64_t VolumeImpl::Reserve(bool may_use_reserve) const {
  const uint64_t extent_bytes = superblock_.extent_bytes;
  // Metadata takes more bytes in memory than in a checkpoint. Two checkpoints exist for a moment.
  const uint64_t bytes = JournalBytesDue() + 2 * metadata_.bytes();
  const uint64_t journal = std::min<uint64_t>(kJournalExtents + bytes / extent_bytes + 1,
                                              superblock_.capacity_bytes / extent_bytes / 3);
  // A job that frees space never writes more than is in use.
  const uint64_t used_bytes =
      uint64_t{extents_.count() - extents_.free_count()} * superblock_.extent_bytes;
  const uint64_t kept_back =
      std::min({options_.reserve_bytes, superblock_.capacity_bytes / 8, used_bytes});
  return may_use_reserve ? journal : journal + kept_back / extent_bytes;
}

uint64_t VolumeImpl::FileBytesMax() {
  MutexLock lock(&mutex_);
  const uint64_t capacity = superblock_.capacity_bytes;
  const uint64_t journal = std::min(options_.journal_bytes_max, capacity / 16) +
                           (kJournalExtents + 1) * superblock_.extent_bytes;
  const uint64_t kept_back = std::min(options_.reserve_bytes, capacity / 8);
  // Memtables that were sealed before the limit was reached must still be written.
  const uint64_t under_way = capacity / 16;
  return capacity - std::min(capacity, journal + kept_back + under_way);
}

Status VolumeImpl::Full(const std::string& operation) const {
  const uint64_t extent_bytes = superblock_.extent_bytes;
  return Status::NoSpace(
      operation + ": volume " + device_->name() + " is full: it has " +
      std::to_string(extents_.count() * extent_bytes) + " bytes and may grow to " +
      std::to_string(superblock_.capacity_bytes) + ", " +
      std::to_string(extents_.free_count() * extent_bytes) + " are free, " +
      std::to_string(Reserve(false) * extent_bytes) + " of them kept back, and it has " +
      std::to_string(metadata_.files()) + " files of at most " +
      std::to_string(NumbersMax(extents_.count() * extent_bytes)) + "; remove files, or " +
      (options_.capacity_setting.empty()
           ? "give it more capacity"
           : "raise " + options_.capacity_setting + ", which is " +
                 std::to_string(superblock_.capacity_bytes) + " bytes, to at least " +
                 std::to_string(superblock_.capacity_bytes + superblock_.capacity_bytes / 4)) +
      (grow_error_.ok() ? "" : "; it could not grow: " + grow_error_.ToString()));
}

bool VolumeImpl::Grow(uint64_t extents) {
  const uint64_t extent_bytes = superblock_.extent_bytes;
  const uint64_t now = extents_.count() * extent_bytes;
  const uint64_t step = std::min(options_.grow_bytes, std::max(now / 4, kGrowBytesMin));
  const uint64_t wanted =
      std::min(now + std::max(fs::RoundUp(step, extent_bytes), extents * extent_bytes),
               superblock_.capacity_bytes);
  // The smallest growth that helps is better than none.
  const uint64_t least = std::min(now + extents * extent_bytes, superblock_.capacity_bytes);
  if (wanted <= now) return false;
  grow_error_ = device_->Grow(wanted);
  if (!grow_error_.ok()) grow_error_ = device_->Grow(least);
  if (!grow_error_.ok()) return false;
  extents_.Extend(
      static_cast<uint32_t>(std::min(device_->size(), superblock_.capacity_bytes) / extent_bytes));
  metadata_.SetMax(NumbersMax(extents_.count() * extent_bytes));
  return extents_.count() * extent_bytes > now;
}

// The maximum number of files grows with the device.
std::optional<uint32_t> VolumeImpl::NewInode() {
  std::optional<uint32_t> number = metadata_.FreeInode();
  while (!number.has_value() && Grow(1)) number = metadata_.FreeInode();
  return number;
}

std::optional<uint32_t> VolumeImpl::NewDirectory() {
  std::optional<uint32_t> number = metadata_.FreeDirectory();
  while (!number.has_value() && Grow(1)) number = metadata_.FreeDirectory();
  return number;
}

Status VolumeImpl::Extend(uint32_t inode, uint32_t extents, uint32_t extents_liked,
                          bool may_use_reserve) {
  while (true) {
    LAVA_RETURN_IF_ERROR(Usable());
    const uint64_t wanted = extents + Reserve(may_use_reserve);
    if (extents_.free_count() >= wanted) break;
    // Space of removed files is used before the device grows, because its blocks have been written.
    const uint64_t device_bytes = uint64_t{extents_.count()} * superblock_.extent_bytes;
    const bool much_to_free =
        freed_extents_ * superblock_.extent_bytes >=
        std::min(options_.grow_bytes, std::max(device_bytes / 4, kGrowBytesMin));
    const bool grew = !much_to_free && Grow(wanted - extents_.free_count());
    if (grew) continue;
    const uint64_t to_free = freed_extents_;
    if (to_free > 0) {
      LAVA_RETURN_IF_ERROR(Commit(options_.power_safe ? Reach::kDurable : Reach::kWritten));
      if (freed_extents_ < to_free) continue;
    }
    if (!much_to_free || !Grow(wanted - std::min<uint64_t>(wanted, extents_.free_count()))) {
      return Full("append to a file");
    }
  }
  const uint64_t spare = extents_.free_count() - Reserve(may_use_reserve);
  if (spare >= extents_liked) extents = std::max(extents, extents_liked);
  const std::vector<ExtentRange> has = metadata_.RangesOf(inode);
  const uint32_t after = has.empty() ? 0 : has.back().first + has.back().count;
  std::vector<ExtentRange> ranges = extents_.Allocate(extents, after);
  for (size_t from = 0; from < ranges.size(); from += kRangesMax) {
    const size_t to = std::min(ranges.size(), from + kRangesMax);
    Record({.type = Change::Type::kExtents,
            .inode = inode,
            .ranges = std::vector<ExtentRange>(ranges.begin() + from, ranges.begin() + to)});
  }
  return Status::OK();
}

Result<uint32_t> VolumeImpl::TakeJournalExtent() {
  if (extents_.free_count() == 0 && !Grow(1)) return Full("write the journal");
  return extents_.Allocate(1, 0).front().first;
}

Status VolumeImpl::TrimFreeSpace() {
  std::vector<ExtentRange> trimmed;
  {
    MutexLock lock(&mutex_);
    LAVA_RETURN_IF_ERROR(Usable());
    const uint64_t keep = options_.idle_reserve_bytes / superblock_.extent_bytes;
    uint64_t free = extents_.free_count();
    std::vector<ExtentRange> ranges = extents_.FreeRanges();
    // From the end of the device, which files use last. Marked as used, so no file can get them
    // meanwhile.
    for (; !ranges.empty() && free > keep; ranges.pop_back()) {
      ExtentRange range = ranges.back();
      const auto count = static_cast<uint32_t>(std::min<uint64_t>(range.count, free - keep));
      range = {range.first + range.count - count, count};
      LAVA_CHECK(extents_.Take(range));
      trimmed.push_back(range);
      free -= count;
    }
  }
  Status done;
  for (const ExtentRange& range : trimmed) {
    if (done.ok()) {
      done = device_->Discard(uint64_t{range.first} * superblock_.extent_bytes,
                              uint64_t{range.count} * superblock_.extent_bytes);
    }
    MutexLock lock(&mutex_);
    extents_.Give(range);
  }
  return done;
}

}  // namespace lava::lavafs
