// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/running_jobs.h"

#include <memory>
#include <new>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/file_id.h"
#include "db/job_plans.h"
#include "lava/slice.h"
#include "manifest/version.h"

namespace lava {

void RunningJobs::Insert(const std::shared_ptr<CompactionTask>& task) {
  LAVA_DCHECK(task != nullptr);
  LAVA_DCHECK(compactions_.contains(task) || AreIdle(task->input.merged_values));
  if (!compactions_.insert(task).second) return;
  ++counts_->compactions;
  LAVA_DCHECK(counts_->compactions == compactions_.size());
  try {
    for (const CompactionInput::Level& level : task->input.inputs) {
      for (const KeyFileEntry& entry : level.entries) {
        const bool was_idle = busy_entries_.emplace(entry.file->id, entry.lower).second;
        LAVA_DCHECK(was_idle);
      }
    }
  } catch (const std::bad_alloc&) {
    Remove(task);
    throw;
  }
}

void RunningJobs::Insert(const std::shared_ptr<CollectionTask>& task) {
  LAVA_DCHECK(task != nullptr);
  LAVA_DCHECK(collections_.contains(task) ||
              (AreIdle(task->input.files) && AreIdle(task->input.expired)));
  if (!collections_.insert(task).second) return;
  ++counts_->collections;
  LAVA_DCHECK(counts_->collections == collections_.size());
}

void RunningJobs::Remove(const std::shared_ptr<CompactionTask>& task) {
  if (compactions_.erase(task) == 0) return;
  --counts_->compactions;
  LAVA_DCHECK(counts_->compactions == compactions_.size());
  for (const CompactionInput::Level& level : task->input.inputs) {
    for (const KeyFileEntry& entry : level.entries) {
      const auto found = busy_entries_.find(std::pair<FileId, Slice>(entry.file->id, entry.lower));
      if (found != busy_entries_.end()) busy_entries_.erase(found);
    }
  }
}

void RunningJobs::Remove(const std::shared_ptr<CollectionTask>& task) {
  if (collections_.erase(task) == 0) return;
  --counts_->collections;
  LAVA_DCHECK(counts_->collections == collections_.size());
}

void RunningJobs::Clear() {
  while (!compactions_.empty()) Remove(std::shared_ptr(*compactions_.begin()));
  while (!collections_.empty()) Remove(std::shared_ptr(*collections_.begin()));
  LAVA_DCHECK(busy_entries_.empty());
}

bool RunningJobs::IsBusy(const KeyFileEntry& entry) const {
  return busy_entries_.contains(std::pair<FileId, Slice>(entry.file->id, entry.lower));
}

std::set<const ValueFileMeta*> RunningJobs::BusyValueFiles() const {
  std::set<const ValueFileMeta*> busy;
  for (const std::shared_ptr<CollectionTask>& task : collections_)
    for (const auto* files : {&task->input.files, &task->input.expired})
      for (const std::shared_ptr<ValueFileMeta>& file : *files) busy.insert(file.get());
  for (const std::shared_ptr<CompactionTask>& task : compactions_)
    busy.insert(task->input.merged_values.begin(), task->input.merged_values.end());
  return busy;
}

}  // namespace lava
