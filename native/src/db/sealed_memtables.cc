#include "db/sealed_memtables.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

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
  with_new.front()->sequence = ++sealed_through_;
  runs_ = std::move(with_new);
}

void SealedMemTables::EndSnapshot() {
  if (!runs_.empty()) runs_.front()->ends_snapshot = true;
}

std::shared_ptr<FlushGroup> SealedMemTables::NextToStart() {
  size_t covered = 0;
  for (const std::shared_ptr<FlushGroup>& group : groups_) {
    covered += group->runs.size();
    // A group that is written waits for older groups, unless installing it failed.
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
  groups_.push_back(group);
  return group;
}

std::shared_ptr<FlushGroup> SealedMemTables::GroupAll() {
  LAVA_DCHECK(groups_.empty());
  auto group = std::make_shared<FlushGroup>();
  group->runs = runs_;
  groups_.push_back(group);
  return group;
}

bool SealedMemTables::Ended(FlushGroup* group) {
  group->running = false;
  --running_;
  const bool queued = std::any_of(groups_.begin(), groups_.end(),
                                  [group](const auto& other) { return other.get() == group; });
  if (!queued) group->runs.clear();
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
  const FlushGroup& group = *groups_.front();
  LAVA_DCHECK(left.size() + group.runs.size() == runs_.size());
  LAVA_DCHECK(group.runs.back() == runs_.back());
  installed_through_ = group.runs.front()->sequence;
  runs_ = std::move(left);
  groups_.pop_front();
}

void SealedMemTables::Clear() {
  runs_.clear();
  groups_.clear();
}

}  // namespace lava
