// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/collection_runner.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "base/value_reference.h"
#include "collection/collection_job.h"
#include "db/collection_planner.h"
#include "db/counters.h"
#include "db/job_plans.h"
#include "db/read_view.h"
#include "job/job_context.h"
#include "lava/event_listener.h"
#include "lava/status.h"
#include "manifest/blob_locations.h"
#include "manifest/version.h"
#include "manifest/version_edit.h"
#include "read/ttl_filter.h"

namespace lava {
namespace {

struct Bounds {
  std::string lower, upper;
};

// Sorts the ranges, and merges ranges that overlap or touch.
void Unite(std::vector<Bounds>* ranges) {
  std::sort(ranges->begin(), ranges->end(),
            [](const Bounds& a, const Bounds& b) { return a.lower < b.lower; });
  std::vector<Bounds> united;
  for (Bounds& range : *ranges) {
    if (!united.empty() && range.lower <= united.back().upper) {
      united.back().upper = std::max(united.back().upper, range.upper);
    } else {
      united.push_back(std::move(range));
    }
  }
  LAVA_DCHECK(
      std::adjacent_find(united.begin(), united.end(), [](const Bounds& a, const Bounds& b) {
        return a.upper >= b.lower;
      }) == united.end());
  *ranges = std::move(united);
}

// The files are dropped because all of their values have expired. Marks their blob files as
// expired.
void ExpireBlobFilesOf(const std::vector<std::shared_ptr<ValueFileMeta>>& files,
                       VersionEdit* edit) {
  for (const std::shared_ptr<ValueFileMeta>& file : files) {
    for (const BlobReference& blob_file : file->blob_files)
      for (const auto& [table, share] : file->tables)
        edit->blob_files_expired.push_back({blob_file.blob_file, table, share.newest_ms});
  }
}

// Whether all values that a collection dropped as expired are still expired.
bool HasStillExpired(const CollectionInput& input, const CollectionOutput& output, int64_t now_ms) {
  const auto expired = [&](const auto& noted) {
    const auto table = input.tables.find(noted.first.second);
    return table != input.tables.end() &&
           HasExpired(&table->second, static_cast<uint64_t>(noted.second), now_ms);
  };
  return std::all_of(output.blob_files_expired.begin(), output.blob_files_expired.end(), expired) &&
         std::all_of(input.expired.begin(), input.expired.end(),
                     [&](const auto& file) { return HasAllExpired(*file, input.tables, now_ms); });
}

}  // namespace

void CollectionRunner::Describe(const CollectionTask& task, CollectionInfo* told) {
  told->cause = task.cause;
  told->input_files = static_cast<uint32_t>(task.input.files.size());
  told->expired_files = static_cast<uint32_t>(task.input.expired.size());
  told->garbage_bytes = task.garbage_bytes;
  for (const auto* files : {&task.input.files, &task.input.expired})
    for (const std::shared_ptr<ValueFileMeta>& file : *files) told->input_file_bytes += file->bytes;
}

Status CollectionRunner::Run(const CollectionTask& task, const NoteOutput& note,
                             CollectionInfo* told) {
  CollectionOutput output;
  {
    const CpuSpan cpu(&instance_->counters.collection_cpu_us);
    JobContext context = tree_->MakeJobContext(0);
    context.may_use_reserve = true;  // a collection frees more than it writes
    LAVA_RETURN_IF_ERROR(RunCollection(context, task.input, &output));
  }
  told->output_files = static_cast<uint32_t>(output.files.size());
  told->read_bytes = output.bytes_read;
  told->written_bytes = output.bytes_written;
  told->values_dead = output.values_dead;
  told->values_expired = output.values_expired;
  LAVA_RETURN_IF_ERROR(Install(task, output, note, &told->installed));
  if (!told->installed) return Status::OK();
  Counters::Add(&instance_->counters.collections, 1);
  Counters::Add(&instance_->counters.collection_bytes_read, output.bytes_read);
  for (const std::shared_ptr<ValueFileMeta>& file : task.input.files)
    Counters::Add(&instance_->counters.collection_input_bytes, file->bytes);
  Counters::Add(&instance_->counters.collection_bytes_written, output.bytes_written);
  Counters::Add(&instance_->counters.collection_values_dead, output.values_dead);
  Counters::Add(&instance_->counters.records_expired, output.values_expired);
  Counters::Add(&instance_->counters.value_files_expired, task.input.expired.size());
  return Status::OK();
}

// The outputs take over the inputs' locations of all blob files. The locations are read from the
// newest version, because blob files may have left the version since the job began. *installed is
// false if the clock was set back, so that dropped values have not expired; the outputs are then
// removed.
Status CollectionRunner::Install(const CollectionTask& task, const CollectionOutput& output,
                                 const NoteOutput& note, bool* installed) {
  MutexLock install(tree_->versions.install_mutex());
  const CpuSpan cpu(&instance_->counters.install_cpu_us);
  {
    MutexLock state(tree_->mutex());
    tree_->AdoptLeft();
    *installed = HasStillExpired(task.input, output, instance_->expiry_time.Now().older_ms);
    if (!*installed) {
      for (const auto& file : output.files)
        tree_->versions.obsolete_files().Add(file->id.ValueFileName(), file);
      return Status::OK();
    }
  }
  const Version& now = *tree_->versions.state().version;
  VersionEdit edit;
  for (const std::shared_ptr<ValueFileMeta>& file : task.input.expired)
    if (now.value_files.contains(file->id)) edit.values_removed.push_back(file->id);
  if (!edit.values_removed.empty()) ExpireBlobFilesOf(task.input.expired, &edit);
  for (const auto& [of, timestamp_ms] : output.blob_files_expired)
    edit.blob_files_expired.push_back({of.first, of.second, timestamp_ms});
  std::map<FileId, std::vector<Bounds>> locations;  // the inputs' locations, by blob file
  for (const std::shared_ptr<ValueFileMeta>& file : task.input.files) {
    if (!now.value_files.contains(file->id)) continue;
    edit.values_removed.push_back(file->id);
    for (const BlobReference& reference : file->blob_files) {
      const auto blob_file = now.blob_files.find(reference.blob_file);
      if (blob_file == now.blob_files.end()) continue;
      for (const BlobLocation& location : blob_file->second->locations)
        if (location.file == file)
          locations[reference.blob_file].push_back({location.lower, location.upper});
    }
  }
  for (auto& [blob_file, ranges] : locations) Unite(&ranges);
  for (const std::shared_ptr<ValueFileMeta>& file : output.files) {
    VersionEdit::AddedValueFile added{file, {}};
    for (const BlobReference& reference : file->blob_files) {
      for (const Bounds& range : locations[reference.blob_file]) {
        std::string lower = std::max(range.lower, file->lower);
        std::string upper = std::min(range.upper, file->upper);
        if (lower < upper)
          added.locations.push_back({reference.blob_file, std::move(lower), std::move(upper)});
      }
    }
    if (!added.locations.empty()) {
      edit.values_added.push_back(std::move(added));
    } else {  // all of its values have died in the meantime
      tree_->versions.obsolete_files().Add(file->id.ValueFileName(), file);
    }
  }
  if (edit.values_removed.empty()) return Status::OK();
  LAVA_DCHECK(edit.added.empty() && edit.removed.empty());  // collections do not change key files
  LAVA_DCHECK(std::set<FileId>(edit.values_removed.begin(), edit.values_removed.end()).size() ==
              edit.values_removed.size());
  LAVA_RETURN_IF_ERROR(tree_->Log(edit));
  // The notes must exist before a plan sees the outputs.
  const Version& logged = *tree_->versions.state().version;
  LAVA_DCHECK(std::none_of(edit.values_removed.begin(), edit.values_removed.end(),
                           [&](const FileId& id) { return logged.value_files.contains(id); }));
  for (const std::shared_ptr<ValueFileMeta>& file : output.files) {
    const auto entry = logged.value_files.find(file->id);
    if (entry != logged.value_files.end()) note(file->id, entry->second.garbage.referenced);
  }
  // Declared before the lock: the replaced version is destroyed without the mutex that writes need.
  const ViewRef replaced = tree_->view();
  MutexLock state(tree_->mutex());
  const CpuSpan publishing(&instance_->counters.publish_cpu_us);
  tree_->space.LearnFreed(task.input, output, instance_->clock->MonotonicMicros() - task.began_us,
                          tree_->job_counts().collections);
  tree_->Adopt();
  Counters::Add(&instance_->counters.versions_installed, 1);
  return Status::OK();
}

}  // namespace lava
