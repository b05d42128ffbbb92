// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "db/job_plans.h"

namespace lava {

/// The numbers of an instance's background jobs.
/// Threads:    any may read. RunningJobs changes all counts but in_flight, which TreeState changes.
struct JobCounts {
  std::atomic<uint32_t> compactions{0}, collections{0};  // queued or running
  /// Jobs that are queued or running, and ended jobs whose successors are not planned yet. Includes
  /// flushes.
  std::atomic<uint32_t> in_flight{0};
};

/// The compactions and collections of an instance that are queued or running, and their busy files.
/// No file is an input of two jobs.
/// Threads:    guarded by the owner's mutex, as the owner's annotation says.
/// Ownership:  keeps each task and its files until Remove() or Clear(). Borrows the counts.
/// Errors:     Insert() throws std::bad_alloc and then has changed nothing.
class RunningJobs {
 public:
  explicit RunningJobs(JobCounts* counts) : counts_(counts) {}

  void Insert(const std::shared_ptr<CompactionTask>& task);
  void Insert(const std::shared_ptr<CollectionTask>& task);
  /// Does nothing if the task is unknown.
  void Remove(const std::shared_ptr<CompactionTask>& task);
  void Remove(const std::shared_ptr<CollectionTask>& task);
  /// Drops all tasks. None of them may run any more.
  void Clear();

  size_t compactions() const { return compactions_.size(); }
  size_t collections() const { return collections_.size(); }
  /// Whether a compaction uses this entry of a version.
  bool IsBusy(const KeyFileEntry& entry) const;
  /// The value files that a job collects, drops or merges.
  std::set<const ValueFileMeta*> BusyValueFiles() const;

 private:
  // The file and the lower bound of an entry: a file may have several entries.
  using EntryKey = std::pair<FileId, std::string>;
  struct EntryOrder {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return a.first != b.first ? a.first < b.first : Slice(a.second) < Slice(b.second);
    }
  };

  // Whether no job uses any of these value files.
  template <typename Files>
  bool AreIdle(const Files& files) const {
    const std::set<const ValueFileMeta*> busy = BusyValueFiles();
    return std::none_of(files.begin(), files.end(),
                        [&busy](const auto& file) { return busy.contains(&*file); });
  }

  JobCounts* const counts_;
  std::set<std::shared_ptr<CompactionTask>> compactions_;
  std::set<std::shared_ptr<CollectionTask>> collections_;
  std::set<EntryKey, EntryOrder> busy_entries_;
};

}  // namespace lava
