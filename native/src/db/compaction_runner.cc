// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/compaction_runner.h"

#include <cstdint>
#include <memory>

#include "base/check.h"
#include "base/mutex.h"
#include "compaction/compaction_job.h"
#include "db/counters.h"
#include "db/job_plans.h"
#include "db/read_view.h"
#include "job/job_context.h"
#include "lava/event_listener.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "manifest/version_edit.h"
#include "policy/ttl_clock.h"

namespace lava {

void CompactionRunner::Describe(const CompactionTask& task, CompactionInfo* told) {
  LAVA_DCHECK(!task.input.inputs.empty());
  told->cause = task.cause;
  told->trivial_move = task.trivial_move;
  told->input_level = task.input.inputs.front().level;
  told->output_level = task.input.output_level;
  for (const CompactionInput::Level& level : task.input.inputs) {
    told->input_files += static_cast<uint32_t>(level.entries.size());
    for (const KeyFileEntry& entry : level.entries) told->input_file_bytes += entry.file->bytes;
  }
  told->merged_value_files = static_cast<uint32_t>(task.input.merged_values.size());
}

Status CompactionRunner::Run(const CompactionTask& task, CompactionInfo* told) {
  if (task.trivial_move) {
    LAVA_RETURN_IF_ERROR(Install(task, {}, &told->installed));
    Counters::Add(&instance_->counters.trivial_moves, 1);
    return Status::OK();
  }
  CompactionOutput output;
  {
    const CpuSpan cpu(&instance_->counters.compaction_cpu_us);
    JobContext context = tree_->MakeJobContext(task.input.output_level);
    context.may_use_reserve = true;  // on a full disk, compactions expose garbage to collections
    LAVA_RETURN_IF_ERROR(RunCompaction(context, task.input, &output));
  }
  told->output_files = static_cast<uint32_t>(output.files.size());
  told->output_value_files = static_cast<uint32_t>(output.value_files.size());
  told->read_bytes = output.bytes_read;
  told->written_bytes = output.bytes_written;
  told->written_value_bytes = output.value_bytes_written;
  told->records_expired = output.records_expired;
  LAVA_RETURN_IF_ERROR(Install(task, output, &told->installed));
  if (!told->installed) return Status::OK();
  Counters::Add(&instance_->counters.compactions, 1);
  Counters::Add(&instance_->counters.compaction_bytes_read, output.bytes_read);
  Counters::Add(&instance_->counters.compaction_bytes_written, output.bytes_written);
  Counters::Add(&instance_->counters.records_expired, output.records_expired);
  Counters::Add(&instance_->counters.value_bytes_written, output.value_bytes_written);
  Counters::Add(&instance_->counters.merged_value_bytes, output.merged_value_bytes);
  return Status::OK();
}

// *installed is false if the clock was set back, so that dropped records have not expired. The
// output's files are then removed.
Status CompactionRunner::Install(const CompactionTask& task, const CompactionOutput& output,
                                 bool* installed) {
  LAVA_DCHECK(!task.trivial_move || (output.files.empty() && output.value_files.empty()));
  VersionEdit edit;
  for (const CompactionInput::Level& level : task.input.inputs) {
    for (const KeyFileEntry& entry : level.entries) {
      edit.Remove(level.level, entry);
      if (task.trivial_move) edit.Add(task.input.output_level, entry);
    }
  }
  for (const std::shared_ptr<FileMeta>& file : output.files)
    edit.Add(task.input.output_level, {file, file->lower, file->upper});
  // A trivial move adds the entries that it removes to another level.
  LAVA_DCHECK(!task.trivial_move || edit.added.size() == edit.removed.size());
  LAVA_DCHECK(!edit.removed.empty());
  for (const std::shared_ptr<ValueFileMeta>& file : output.value_files) edit.AddNewValueFile(file);
  MutexLock install(tree_->versions.install_mutex());
  const CpuSpan cpu(&instance_->counters.install_cpu_us);
  {
    MutexLock state(tree_->mutex());
    tree_->AdoptLeft();
    *installed = MayStillDrop(output.dropped, task.input.drop_time, instance_->expiry_time.Now());
    if (!*installed) {
      for (const auto& file : output.files)
        tree_->versions.obsolete_files().Add(file->id.FileName(), file);
      for (const auto& file : output.value_files)
        tree_->versions.obsolete_files().Add(file->id.ValueFileName(), file);
      return Status::OK();
    }
  }
  LAVA_RETURN_IF_ERROR(tree_->Log(edit));
  // Declared before the lock: the replaced version is destroyed without the mutex that writes need.
  const ViewRef replaced = tree_->view();
  MutexLock state(tree_->mutex());
  const CpuSpan publishing(&instance_->counters.publish_cpu_us);
  if (!task.trivial_move) tree_->space.LearnMet(task.input, output);
  tree_->Adopt();
  Counters::Add(&instance_->counters.versions_installed, 1);
  return Status::OK();
}

}  // namespace lava
