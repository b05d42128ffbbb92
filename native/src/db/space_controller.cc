// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/space_controller.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"
#include "collection/collection_job.h"
#include "compaction/compaction_job.h"
#include "db/environment.h"
#include "host/space_quota.h"
#include "lava/status.h"
#include "manifest/space.h"
#include "manifest/version.h"
#include "policy/space_limits.h"

namespace lava {

SpaceController::SpaceController(const SpaceLimits& limits, uint64_t slowed_bytes_per_second,
                                 std::string path, SpaceQuota* quota, Clock* clock)
    : limits_(limits),
      slowed_bytes_per_second_(slowed_bytes_per_second),
      path_(std::move(path)),
      quota_(quota),
      clock_(clock) {}

void SpaceController::Join(SpaceMember* member) { quota_->Join(&membership_, member); }

void SpaceController::Leave() { quota_->Leave(&membership_); }

SpaceState SpaceController::state() const {
  MutexLock lock(&mutex_);
  return state_;
}

void SpaceController::SetVersion(const Version& version) {
  MutexLock lock(&mutex_);
  const VersionSpace space = SpaceOf(version, state_.met);
  state_.use.file_bytes = space.key_file_bytes + space.value_file_bytes;
  state_.use.live_bytes = space.live_bytes;
  state_.hidden_bytes = space.hidden_key_bytes + space.hidden_value_bytes;
}

// Updates the figures that change without a new version.
void SpaceController::Count(const SpaceWork& work) {
  const bool counts_pins = limits_.high_bytes > 0 || quota_->limited();
  state_.use.pinned_bytes = counts_pins ? work.pinned_bytes : 0;
  state_.use.copied_bytes = copied_bytes_;
}

SpaceReport SpaceController::MakeReport(const SpaceWork& work) const {
  SpaceReport report;
  report.use = state_.use;
  report.busy = work.busy;
  if (work.collecting) report.freed_bytes_per_second = FreedBytesPerSecond();
  if (state_.use.pinned_bytes > 0) report.oldest_snapshot = work.oldest_snapshot;
  report.failure = work.failure;
  return report;
}

void SpaceController::Update(const SpaceWork& work) {
  MutexLock lock(&mutex_);
  Count(work);
  state_.own = JudgeSpace(state_.use, limits_);
  state_.process = quota_->Update(&membership_, MakeReport(work));
}

SpaceVerdict SpaceController::Report(const SpaceWork& work) {
  MutexLock lock(&mutex_);
  Count(work);
  state_.process = quota_->Update(&membership_, MakeReport(work));
  return state_.process;
}

void SpaceController::Answer(const SpaceWork& work, const SpaceVerdict& looked_by) {
  MutexLock lock(&mutex_);
  Count(work);
  state_.process = quota_->Answer(&membership_, MakeReport(work), looked_by);
}

bool SpaceController::IsVerdictOld() const {
  MutexLock lock(&mutex_);
  return quota_->epoch() != state_.process.epoch;
}

SpaceController::WriteAnswer SpaceController::AnswerWrite() const {
  MutexLock lock(&mutex_);
  if (state_.process.writes.stop) return WriteAnswer::kProcessFull;
  if (state_.own.stop) return WriteAnswer::kInstanceFull;
  return clock_->MonotonicMicros() >= slowed_until_us_ ? WriteAnswer::kGoOn : WriteAnswer::kSlowed;
}

uint64_t SpaceController::slowed_until_us() const {
  MutexLock lock(&mutex_);
  return slowed_until_us_;
}

void SpaceController::Pay(uint64_t bytes) {
  MutexLock lock(&mutex_);
  uint64_t rate = SlowedBytesPerSecond(state_.own, slowed_bytes_per_second_, FreedBytesPerSecond());
  const uint64_t now_us = clock_->MonotonicMicros();
  if (state_.process.writes.slow > 0) {
    const uint64_t share = quota_->BytesPerSecond(&membership_, slowed_bytes_per_second_, now_us);
    if (rate == 0 || (share > 0 && share < rate)) rate = share;
  }
  if (rate == 0) return;
  slowed_until_us_ = std::max(slowed_until_us_, now_us) + bytes * 1'000'000 / rate;
}

Status SpaceController::AwaitProcess(uint64_t* round, uint64_t waited_us) {
  if (*round == 0) *round = quota_->NextRound();
  return quota_->Await(&membership_, *round, waited_us, kPinnedWaitUs);
}

SpaceController::Remedy SpaceController::FindRemedy(uint64_t waited_us) {
  MutexLock lock(&mutex_);
  if (!state_.own.bytes) {
    SpaceLimits without_ratio = limits_;
    without_ratio.high_percent = 0;
    state_.own = JudgeSpace(state_.use, without_ratio);
    return Remedy::kIgnoreRatio;
  }
  // A limit in bytes also binds live data. Only pinned files can still be released.
  if (state_.use.file_bytes >= limits_.high_bytes) return Remedy::kNone;
  return waited_us < kPinnedWaitUs ? Remedy::kAwaitSnapshots : Remedy::kGiveUpSnapshot;
}

Status SpaceController::Full() const {
  const SpaceUse use = state().use;
  return Status::NoSpace(
      "write to " + path_ + ": the files take " + std::to_string(use.file_bytes) +
      " bytes and those that only snapshots keep " + std::to_string(use.pinned_bytes) +
      ", the limit is " + std::to_string(limits_.high_bytes) + " and about " +
      std::to_string(use.live_bytes) +
      " bytes are in use, so nothing more can be given back: raise the limit, or keep less state");
}

// Skips L0, because its current records are newer than the compacted ones.
void SpaceController::LearnMet(const CompactionInput& input, const CompactionOutput& output) {
  LAVA_DCHECK(!input.inputs.empty());
  const uint32_t level = input.inputs.front().level;
  LAVA_DCHECK(level < kLevelCountMax);
  if (level == 0 || input.output_level != level + 1) return;
  uint64_t upper = 0, all = 0, left = output.records_expired;
  for (const CompactionInput::Level& from : input.inputs) {
    for (const KeyFileEntry& entry : from.entries) {
      if (entry.clipped()) return;  // the entry shows fewer records than its file has
      all += entry.file->records;
      if (from.level == level) upper += entry.file->records;
    }
  }
  for (const std::shared_ptr<FileMeta>& file : output.files) left += file->records;
  if (upper == 0) return;
  const double met =
      std::min(1.0, static_cast<double>(all - std::min(all, left)) / static_cast<double>(upper));
  MutexLock lock(&mutex_);
  double& known = state_.met.part[level];
  known = met_known_[level] ? (3 * known + met) / 4 : met;
  LAVA_DCHECK(known >= 0 && known <= 1);
  met_known_[level] = true;
}

void SpaceController::LearnFreed(const CollectionInput& input, const CollectionOutput& output,
                                 uint64_t took_us, uint32_t collections) {
  uint64_t freed = 0, kept = 0;
  for (const auto* files : {&input.files, &input.expired})
    for (const std::shared_ptr<ValueFileMeta>& file : *files) freed += file->raw_bytes;
  for (const std::shared_ptr<ValueFileMeta>& file : output.files) kept += file->raw_bytes;
  MutexLock lock(&mutex_);
  // Assumes that all concurrent collections are as fast as this one.
  freed_bytes_ = freed_bytes_ * 3 / 4 + (freed - std::min(freed, kept)) * collections;
  freed_us_ = freed_us_ * 3 / 4 + std::max<uint64_t>(1, took_us);
}

uint64_t SpaceController::FreedBytesPerSecond() const {
  if (freed_us_ == 0) return 0;
  return static_cast<uint64_t>(static_cast<double>(freed_bytes_) * 1e6 /
                               static_cast<double>(freed_us_));
}

}  // namespace lava
