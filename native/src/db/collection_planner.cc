// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/collection_planner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/file_id.h"
#include "db/job_plans.h"
#include "db/running_jobs.h"
#include "lava/event_listener.h"
#include "lava/options.h"
#include "manifest/version.h"
#include "policy/collection_effort.h"
#include "policy/collection_picker.h"
#include "policy/value_rules.h"
#include "read/ttl_filter.h"

namespace lava {
namespace {

// The time at which all values in the file will have expired. No value if some of them never
// expire.
std::optional<int64_t> ExpiryOf(const ValueFileMeta& file,
                                const std::map<uint64_t, TableOptions>& tables) {
  std::optional<int64_t> expiry_ms;
  for (const auto& [id, share] : file.tables) {
    const auto table = tables.find(id);
    int64_t ms = 0;
    if (table == tables.end() || share.newest_ms == TableShare::kNeverExpires ||
        !Expires(table->second) ||
        __builtin_add_overflow(share.newest_ms, table->second.ttl_ms, &ms))
      return std::nullopt;
    expiry_ms = std::max(expiry_ms.value_or(ms), ms);
  }
  return expiry_ms;
}

// The time to live of each table with expiry.
std::map<uint64_t, int64_t> TtlsOf(const std::map<uint64_t, TableOptions>& tables) {
  std::map<uint64_t, int64_t> ttls;
  for (const auto& [id, table] : tables)
    if (Expires(table)) ttls[id] = table.ttl_ms;
  return ttls;
}

}  // namespace

bool HasAllExpired(const ValueFileMeta& file, const std::map<uint64_t, TableOptions>& tables,
                   int64_t now_ms) {
  const std::optional<int64_t> expiry_ms = ExpiryOf(file, tables);
  return expiry_ms && *expiry_ms <= now_ms;
}

bool CollectionFindings::StillHold(const CollectionEffort& effort, int64_t now_ms) const {
  const auto is_below = [](double percent, uint32_t threshold) {
    constexpr double kRounding = 1e-6;
    return percent <= 0 || percent + kRounding < threshold;
  };
  return now_ms < first_expiry_ms && is_below(garbage_percent, effort.garbage_percent) &&
         is_below(checkpoint_percent, effort.checkpoint_percent);
}

// The arguments of a plan, and figures derived from them.
struct CollectionPlanner::Look {
  const PlanInputs& inputs;
  const int64_t now_ms;
  const std::set<const ValueFileMeta*> busy;
  const CollectionEffort effort;
};

void CollectionPlanner::NoteOutput(const FileId& file, uint64_t referenced_bytes) {
  baselines_[file] = {.referenced_bytes = referenced_bytes};
}

std::shared_ptr<CollectionTask> CollectionPlanner::Plan(
    const PlanInputs& inputs, const RunningJobs& jobs, int64_t now_ms,
    std::unique_ptr<CollectionFindings> findings) {
  LAVA_DCHECK(inputs.version != nullptr);
  findings_.reset();
  if (inputs.version->value_files.empty() || options_.collection_garbage_percent > 100)
    return nullptr;
  const Look look{.inputs = inputs,
                  .now_ms = now_ms,
                  .busy = jobs.BusyValueFiles(),
                  .effort = EffortOf(options_, inputs, jobs.compactions() > 0)};
  if (findings != nullptr && FindsNothing(look, findings.get())) {
    findings_ = std::move(findings);
    return nullptr;
  }
  findings.reset();
  return LookAtAll(look);
}

// Whether nothing is to be collected, according to the findings of the last plan and the files that
// have changed since. Updates the findings. Returns false for policies that are only set for
// comparison.
bool CollectionPlanner::FindsNothing(const Look& look, CollectionFindings* findings) {
  const PlanInputs& inputs = look.inputs;
  if (findings->policy != inputs.value_policy || findings->ttls != TtlsOf(inputs.tables) ||
      (inputs.value_policy != ValuePolicy::kAutomatic &&
       inputs.value_policy != ValuePolicy::kCollect))
    return false;
  const auto& value_files = inputs.version->value_files;
  const std::set<FileId> unjudged = std::exchange(findings->unjudged, {});
  CollectableFile file;
  value_files.ForEachUnshared(findings->value_files, [&](const auto& item) {
    (void)Judge(look, item.second, &file, findings);
  });
  for (const FileId& id : unjudged) {
    const auto entry = value_files.find(id);
    if (entry != value_files.end()) (void)Judge(look, entry->second, &file, findings);
  }
  LAVA_DCHECK(findings_ == nullptr);  // *findings is the only one
  findings->value_files = value_files;
  return findings->StillHold(look.effort, look.now_ms);
}

// Returns whether the file can be dropped because all of its values have expired. Otherwise sets
// *file for the policy.
bool CollectionPlanner::Judge(const Look& look, const Version::ValueFileEntry& entry,
                              CollectableFile* file, CollectionFindings* findings) {
  ++files_looked_at_;
  const ValueFileMeta& meta = *entry.file;
  const bool is_busy = look.busy.contains(entry.file.get());
  const std::optional<int64_t> expiry_ms = ExpiryOf(meta, look.inputs.tables);
  const bool expired = expiry_ms && *expiry_ms <= look.now_ms;
  file->raw_bytes = meta.raw_bytes;
  file->garbage = entry.garbage.estimate;
  file->busy =
      is_busy || expired || missing_files_.Contains(meta.id) || look.inputs.Avoids(meta.id);
  file->hot = meta.hot;
  file->in_checkpoint = look.inputs.IsInCheckpoint(meta.id);
  const auto baseline = baselines_.find(meta.id);
  if (baseline != baselines_.end()) {
    const uint64_t before = baseline->second.referenced_bytes;
    baseline->second.seen = true;
    file->garbage = std::min(file->garbage, before - std::min(before, entry.garbage.referenced));
  }
  if (!is_busy && expiry_ms)
    findings->first_expiry_ms = std::min(findings->first_expiry_ms, *expiry_ms);
  if (file->busy) {
    findings->unjudged.insert(meta.id);
  } else if (file->garbage > 0) {
    double& highest =
        file->in_checkpoint ? findings->checkpoint_percent : findings->garbage_percent;
    highest = std::max(highest, static_cast<double>(file->garbage) * 100 /
                                    static_cast<double>(std::max<uint64_t>(1, file->raw_bytes)));
  }
  return expired && !is_busy;
}

std::shared_ptr<CollectionTask> CollectionPlanner::LookAtAll(const Look& look) {
  const PlanInputs& inputs = look.inputs;
  const auto& value_files = inputs.version->value_files;
  // An output that no plan has seen may be in the next version, so its baseline stays.
  std::erase_if(baselines_, [&value_files](const auto& baseline) {
    return baseline.second.seen && !value_files.contains(baseline.first);
  });
  auto task = std::make_shared<CollectionTask>();
  task->input.version = inputs.version;
  auto findings = std::make_unique<CollectionFindings>();
  std::vector<CollectableFile> files;
  std::vector<const std::shared_ptr<ValueFileMeta>*> metas;  // borrowed, without counted copies
  files.reserve(value_files.size());
  metas.reserve(value_files.size());
  for (const auto& [id, entry] : value_files) {
    metas.push_back(&entry.file);
    if (!Judge(look, entry, &files.emplace_back(), findings.get())) continue;
    LAVA_DCHECK(!look.busy.contains(entry.file.get()) && files.back().busy);
    task->input.expired.push_back(entry.file);
    task->garbage_bytes += entry.file->raw_bytes;
  }
  const bool is_short = look.effort.last_resort || inputs.pressure.slow > 0;
  const std::vector<size_t> picked =
      RulesOf(inputs.value_policy)
          .PickCollection(files, {.garbage_percent = look.effort.garbage_percent,
                                  .checkpoint_percent = look.effort.checkpoint_percent,
                                  .live_bytes_max = options_.value_file_bytes,
                                  .last_resort = is_short});
  if (picked.empty() && task->input.expired.empty()) {
    findings->value_files = value_files;
    findings->policy = inputs.value_policy;
    findings->ttls = TtlsOf(inputs.tables);
    findings_ = std::move(findings);
    return nullptr;
  }
  if (picked.empty()) {
    task->cause = CollectionCause::kExpired;
  } else if (is_short || inputs.disk_full) {
    task->cause = CollectionCause::kSpace;
  }
  LAVA_DCHECK(files.size() == metas.size());
  for (const size_t i : picked) {
    LAVA_DCHECK(i < files.size() && !files[i].busy);
    const std::shared_ptr<ValueFileMeta>& meta = *metas[i];
    LAVA_DCHECK(!look.busy.contains(meta.get()));
    task->input.files.push_back(meta);
    task->garbage_bytes += files[i].garbage;
    const uint64_t raw = std::max<uint64_t>(1, files[i].raw_bytes);
    const double live = static_cast<double>(raw - std::min(raw, files[i].garbage));
    task->copied_bytes +=
        static_cast<uint64_t>(static_cast<double>(meta->bytes) * live / static_cast<double>(raw));
  }
  return task;
}

}  // namespace lava
