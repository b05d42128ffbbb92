// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/sealed_memtables.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/check.h"
#include "db/read_view.h"

namespace lava {

SealedMemTables::Runs SealedMemTables::With(const std::shared_ptr<SealedRun>& run) const {
  Runs runs;
  runs.reserve(runs_.size() + 1);
  runs.push_back(run);
  runs.insert(runs.end(), runs_.begin(), runs_.end());
  return runs;
}

void SealedMemTables::Seal(Runs with_new) noexcept {
  LAVA_DCHECK(with_new.size() == runs_.size() + 1);
  LAVA_DCHECK(with_new.front()->sequence == 0);  // not sealed before
  LAVA_DCHECK(std::equal(runs_.begin(), runs_.end(), with_new.begin() + 1));
  with_new.front()->sequence = ++sealed_through_;
  runs_ = std::move(with_new);
  LAVA_DCHECK(CheckInvariants());
}

void SealedMemTables::EndSnapshot() {
  if (!runs_.empty()) runs_.front()->ends_snapshot = true;
}

std::shared_ptr<FlushGroup> SealedMemTables::NextToStart() {
  size_t covered = 0;
  for (const std::shared_ptr<FlushGroup>& group : groups_) {
    covered += group->runs.size();
    // A written group waits for older groups. The oldest group does not wait: it needs a retry if
    // installing it failed.
    const bool waits = group->done && group != groups_.front();
    if (!group->running && !waits) return group;
  }
  if (groups_.size() >= kGroupsMax || covered >= runs_.size()) return nullptr;
  auto group = std::make_shared<FlushGroup>();
  while (covered < runs_.size()) {
    const std::shared_ptr<SealedRun>& run = runs_[runs_.size() - 1 - covered];
    group->runs.insert(group->runs.begin(), run);
    ++covered;
    if (run->ends_snapshot) break;
  }
  LAVA_DCHECK(!group->runs.empty());
  groups_.push_back(group);
  LAVA_DCHECK(CheckInvariants());
  return group;
}

std::shared_ptr<FlushGroup> SealedMemTables::GroupAll() {
  LAVA_DCHECK(groups_.empty());
  auto group = std::make_shared<FlushGroup>();
  LAVA_DCHECK(!runs_.empty());
  group->runs = runs_;
  groups_.push_back(group);
  return group;
}

bool SealedMemTables::Contains(const FlushGroup* group) const {
  return std::any_of(groups_.begin(), groups_.end(),
                     [group](const auto& other) { return other.get() == group; });
}

bool SealedMemTables::Ended(FlushGroup* group, Runs* installed) {
  LAVA_DCHECK(group->running && running_ > 0);
  group->running = false;
  --running_;
  const bool queued = Contains(group);
  if (!queued) *installed = std::exchange(group->runs, {});
  return !queued;
}

std::shared_ptr<FlushGroup> SealedMemTables::OldestDone() const {
  return groups_.empty() || !groups_.front()->done ? nullptr : groups_.front();
}

std::shared_ptr<FlushGroup> SealedMemTables::OldestLogged() const {
  return groups_.empty() || !groups_.front()->logged ? nullptr : groups_.front();
}

SealedMemTables::Runs SealedMemTables::WithoutOldest() const {
  LAVA_DCHECK(!groups_.empty() && groups_.front()->runs.size() <= runs_.size());
  const auto end = runs_.end() - static_cast<ptrdiff_t>(groups_.front()->runs.size());
  return Runs(runs_.begin(), end);
}

void SealedMemTables::RemoveOldest(Runs left) noexcept {
  LAVA_DCHECK(!groups_.empty());
  const FlushGroup& group = *groups_.front();
  LAVA_DCHECK(left.size() + group.runs.size() == runs_.size());
  LAVA_DCHECK(group.runs.back() == runs_.back());
  LAVA_DCHECK(std::equal(left.begin(), left.end(), runs_.begin()));
  LAVA_DCHECK(group.runs.back()->sequence > installed_through_);
  installed_through_ = group.runs.front()->sequence;
  runs_ = std::move(left);
  groups_.pop_front();
  LAVA_DCHECK(CheckInvariants());
}

bool SealedMemTables::CheckInvariants() const {
  // The sum is smaller only after Clear().
  LAVA_DCHECK(installed_through_ + runs_.size() <= sealed_through_);
  for (size_t i = 0; i < runs_.size(); ++i) {
    LAVA_DCHECK(runs_[i]->sequence == sealed_through_ - i);
    LAVA_DCHECK(runs_[i]->memtable == nullptr || runs_[i]->memtable->sealed());
  }
  LAVA_DCHECK(groups_.size() <= kGroupsMax);
  size_t covered = 0;  // runs that are in groups: the oldest ones, in the same order
  uint32_t running = 0;
  for (const std::shared_ptr<FlushGroup>& group : groups_) {
    LAVA_DCHECK(!group->runs.empty());
    covered += group->runs.size();
    LAVA_DCHECK(covered <= runs_.size());
    LAVA_DCHECK(std::equal(group->runs.begin(), group->runs.end(),
                           runs_.end() - static_cast<ptrdiff_t>(covered)));
    LAVA_DCHECK(!group->logged || group == groups_.front());
    running += group->running ? 1 : 0;
  }
  LAVA_DCHECK(running <= running_);
  return true;
}

void SealedMemTables::Clear() {
  runs_.clear();
  groups_.clear();
}

}  // namespace lava
