// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "host/space_quota.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "lava/status.h"
#include "policy/space_limits.h"
#include "policy/space_shares.h"

namespace lava {
namespace {

constexpr uint64_t kWritesForUs = 1'000'000;  // how long a slowed instance counts as a writer
constexpr uint64_t kCountEachUs = 100'000;

uint64_t GarbageOf(const SpaceUse& use) {
  return use.file_bytes - std::min(use.file_bytes, use.live_bytes);
}

uint64_t TakenBy(const SpaceUse& use) { return use.file_bytes + use.pinned_bytes; }

// Unsigned arithmetic: with sign ~0, what was added before is subtracted.
void Add(const SpaceUse& use, uint64_t sign, SpaceUse* total) {
  total->file_bytes += sign * use.file_bytes;
  total->pinned_bytes += sign * use.pinned_bytes;
  total->copied_bytes += sign * use.copied_bytes;
  total->live_bytes += sign * use.live_bytes;
}

}  // namespace

void SpaceQuota::SetLimit(uint64_t high_bytes, uint64_t low_bytes) {
  MutexLock lock(&mutex_);
  if (limits_.high_bytes == high_bytes && limits_.low_bytes == low_bytes) return;
  limits_.high_bytes = high_bytes;
  limits_.low_bytes = low_bytes;
  limited_ = high_bytes > 0;
  Judge();
  // Files that only snapshots keep were not counted without a limit, and verdicts are outdated.
  for (Membership* membership : memberships_) {
    membership->spent_step = 0;
    if (membership->asked) continue;
    membership->asked = true;
    membership->member->RequestSpace();
  }
}

void SpaceQuota::LimitTo(VolumeLimit volume, SpaceQuota* process) {
  const uint64_t high_bytes = volume.file_bytes_max;
  {
    MutexLock lock(&mutex_);
    volume_ = std::move(volume);
    process_ = process;
  }
  SetLimit(high_bytes, 0);
}

// In a volume all content counts, even if no instance owns it: local copies, and the unused ends of
// files' last extents.
SpaceUse SpaceQuota::TotalNow() const {
  SpaceUse total = total_;
  if (!volume_) return total;
  const uint64_t used = volume_->used_bytes();
  const uint64_t known = total.file_bytes + total.copied_bytes;
  total.pinned_bytes = std::max(total.pinned_bytes, used - std::min(used, known));
  return total;
}

void SpaceQuota::Join(Membership* membership, SpaceMember* member) {
  MutexLock lock(&mutex_);
  membership->member = member;
  memberships_.push_back(membership);
}

void SpaceQuota::Leave(Membership* membership) {
  MutexLock lock(&mutex_);
  if (membership->member == nullptr) return;
  membership->member = nullptr;
  memberships_.remove(membership);
  counted_at_us_ = 0;  // it may have counted as a writer
  AddToTotal(membership->report.use, ~0ull);
  Judge();
}

void SpaceQuota::AddToTotal(const SpaceUse& use, uint64_t sign) {
  Add(use, sign, &total_);
  if (process_ != nullptr) process_->AddOnVolumes(use, sign);
}

void SpaceQuota::AddOnVolumes(const SpaceUse& use, uint64_t sign) {
  MutexLock lock(&mutex_);
  Add(use, sign, &on_volumes_);
}

SpaceVerdict SpaceQuota::Update(Membership* membership, const SpaceReport& report) {
  MutexLock lock(&mutex_);
  Put(membership, report);
  Judge();
  return VerdictOf(*membership);
}

SpaceVerdict SpaceQuota::Answer(Membership* membership, const SpaceReport& report,
                                const SpaceVerdict& looked_by) {
  MutexLock lock(&mutex_);
  Put(membership, report);
  membership->asked = membership->giving_up = false;
  if (!report.busy && looked_by.collects) membership->spent_step = looked_by.step;
  membership->answered = round_;
  Judge();
  return VerdictOf(*membership);
}

void SpaceQuota::Put(Membership* membership, const SpaceReport& report) {
  if (membership->member == nullptr) return;
  const SpaceUse& before = membership->report.use;
  if (report.busy || before.file_bytes != report.use.file_bytes ||
      before.live_bytes != report.use.live_bytes)
    membership->spent_step = 0;
  AddToTotal(before, ~0ull);
  AddToTotal(report.use, 1);
  membership->report = report;
}

void SpaceQuota::Judge() {
  if (limits_.high_bytes == 0 && pressure_.fullness == 0) return;
  const bool was_full = pressure_.stop;
  pressure_ = JudgeSpace(TotalNow(), limits_);
  step_ = SpaceStep(pressure_);
  pressing_ = pressure_.slow > 0;
  epoch_.fetch_add(1, std::memory_order_relaxed);
  ChooseCollectors();
  if (was_full && !pressure_.stop)
    for (Membership* membership : memberships_) membership->member->SpaceFreed();
}

void SpaceQuota::ChooseCollectors() {
  garbage_most_ = 0;
  for (Membership* membership : memberships_) membership->collects = false;
  if (step_ == 0) return;
  std::vector<Membership*> memberships(memberships_.begin(), memberships_.end());
  std::vector<SpaceShare> shares;
  for (const Membership* membership : memberships) {
    const SpaceUse& use = membership->report.use;
    shares.push_back({.file_bytes = use.file_bytes,
                      .garbage_bytes = GarbageOf(use),
                      .spent_step = membership->spent_step});
  }
  for (const uint32_t i : PickCollectors(shares, step_)) {
    garbage_most_ = std::max(garbage_most_, shares[i].garbage_bytes);
    memberships[i]->collects = true;
    if (memberships[i]->asked || memberships[i]->report.busy) continue;
    memberships[i]->asked = true;
    memberships[i]->member->RequestSpace();
  }
}

SpaceVerdict SpaceQuota::VerdictOf(const Membership& membership) const {
  SpaceVerdict verdict{.writes = pressure_,
                       .work = {},
                       .collects = membership.collects,
                       .retry = membership.answered < round_,
                       .step = step_,
                       .epoch = epoch_.load(std::memory_order_relaxed)};
  if (membership.collects)
    verdict.work = PressureOfShare(pressure_, GarbageOf(membership.report.use), garbage_most_);
  return verdict;
}

uint64_t SpaceQuota::NextRound() {
  MutexLock lock(&mutex_);
  return ++round_;
}

// Whether nothing more can be expected of an instance that was asked in the round or later.
bool SpaceQuota::HasLooked(const Membership& membership, uint64_t round) const {
  if (membership.report.busy) return false;
  const bool has_any = GarbageOf(membership.report.use) > 0;
  if (!has_any && membership.report.use.pinned_bytes == 0) return true;
  return membership.answered >= round && (!has_any || membership.spent_step >= kSpaceStepFull);
}

Status SpaceQuota::Await(const Membership* membership, uint64_t round, uint64_t waited_us,
                         uint64_t pinned_wait_us) {
  MutexLock lock(&mutex_);
  if (!pressure_.stop) return Status::OK();
  bool all_looked = true;
  for (Membership* other : memberships_) {
    if (HasLooked(*other, round)) continue;
    all_looked = false;
    // It may have found nothing before this write came, or its readers may have released files.
    if (other->answered < round && !other->report.busy) {
      other->spent_step = std::min(other->spent_step, kSpaceStepFull - 1);
      if (GarbageOf(other->report.use) > 0 || other->asked) continue;
      other->asked = true;
      other->member->RequestSpace();
    }
  }
  if (!all_looked) {
    ChooseCollectors();
    return Status::OK();
  }
  // Other content may fill a volume, against which waiting does not help.
  const bool pinned = total_.pinned_bytes > 0;
  if (pinned && total_.file_bytes + total_.copied_bytes < limits_.high_bytes) {
    if (waited_us < pinned_wait_us || GiveUpOldest()) return Status::OK();
  }
  return Full(*membership);
}

// One at a time, because one may be enough.
bool SpaceQuota::GiveUpOldest() {
  Membership* oldest = nullptr;
  for (Membership* membership : memberships_) {
    if (membership->giving_up) return true;
    if (membership->report.use.pinned_bytes == 0 ||
        membership->report.oldest_snapshot == SpaceReport::kNoSnapshot)
      continue;
    if (oldest == nullptr || membership->report.oldest_snapshot < oldest->report.oldest_snapshot)
      oldest = membership;
  }
  if (oldest == nullptr) return false;
  oldest->giving_up = true;
  oldest->member->RequestGiveUp(oldest->report.oldest_snapshot);
  return true;
}

Status SpaceQuota::Full(const Membership& membership) const {
  const Membership* most = &membership;
  std::string failure;
  for (const Membership* other : memberships_) {
    if (TakenBy(other->report.use) > TakenBy(most->report.use)) most = other;
    if (failure.empty() && !other->report.failure.empty())
      failure = "; in " + other->member->space_name() + ": " + other->report.failure;
  }
  const std::string name =
      membership.member == nullptr ? "" : " to " + membership.member->space_name();
  const std::string most_name = most->member == nullptr ? "" : most->member->space_name();
  return Status::NoSpace(
      "write" + name + ": the files of the process's " + std::to_string(memberships_.size()) +
      " instances take " + std::to_string(total_.file_bytes) +
      " bytes and those that only snapshots and local copies keep " +
      std::to_string(TotalNow().pinned_bytes) + ", " +
      (volume_ ? "the capacity of volume " + volume_->path : "the process's limit") + " is " +
      std::to_string(limits_.high_bytes) + " and about " + std::to_string(total_.live_bytes) +
      " bytes are in use, so nothing more can be given back; this instance takes " +
      std::to_string(TakenBy(membership.report.use)) + " of them, most takes " + most_name +
      " with " + std::to_string(TakenBy(most->report.use)) + ": " + Remedy() + failure);
}

// The rule of docs/configuration.md: twice the live bytes plus the volume's own needs.
std::string SpaceQuota::Remedy() const {
  constexpr uint64_t kVolumesOwnBytes = 64ull << 20;
  if (!volume_) return "raise the process's limit of space, or keep less state";
  const uint64_t least = std::max(2 * total_.live_bytes + kVolumesOwnBytes,
                                  volume_->capacity_bytes + volume_->capacity_bytes / 4);
  return "raise " + volume_->capacity_setting + ", which is " +
         std::to_string(volume_->capacity_bytes) + " bytes, to at least " + std::to_string(least) +
         ", or keep less state";
}

uint64_t SpaceQuota::BytesPerSecond(Membership* membership, uint64_t bytes_per_second_max,
                                    uint64_t now_us) {
  MutexLock lock(&mutex_);
  if (membership->paid_us + kWritesForUs <= now_us) ++writers_;
  membership->paid_us = std::max(now_us, uint64_t{1});
  uint64_t freed = 0;
  for (const Membership* other : memberships_) freed += other->report.freed_bytes_per_second;
  if (now_us < counted_at_us_ || now_us - counted_at_us_ >= kCountEachUs) {
    counted_at_us_ = now_us;
    writers_ = 0;
    for (const Membership* other : memberships_)
      if (other->paid_us > 0 && other->paid_us + kWritesForUs > now_us) ++writers_;
  }
  return SlowedShare(pressure_, bytes_per_second_max, freed, writers_);
}

SpaceQuota::Statistics SpaceQuota::statistics() const {
  MutexLock lock(&mutex_);
  return {.used_bytes = TakenBy(total_) + TakenBy(on_volumes_),
          .live_bytes = total_.live_bytes + on_volumes_.live_bytes,
          .limit_bytes = limits_.high_bytes};
}

}  // namespace lava
