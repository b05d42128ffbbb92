// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/guarded.h"
#include "base/mutex.h"
#include "db/close_guard.h"
#include "db/db_impl.h"
#include "db/read_view.h"
#include "db/snapshot_impl.h"
#include "host/space_quota.h"
#include "lava/db.h"
#include "lava/event_listener.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "manifest/version_edit.h"

namespace lava {
namespace {

uint64_t ArenaBytesOf(const ReadView& view) {
  uint64_t bytes = 0;
  for (const std::shared_ptr<SealedRun>& run : view.sealed) bytes += run->memtable->arena_bytes();
  return bytes;
}

bool HasNone(const ReadView& view, const std::vector<std::shared_ptr<SealedRun>>& runs) {
  return std::none_of(view.sealed.begin(), view.sealed.end(), [&runs](const auto& run) {
    return std::find(runs.begin(), runs.end(), run) != runs.end();
  });
}

// Whether the view has the runs of a flush. Flushes are published oldest run first, and a view has
// all runs of a flush or none of them.
bool EndsWith(const ReadView& view, const std::vector<std::shared_ptr<SealedRun>>& runs) {
  LAVA_DCHECK(!runs.empty());
  if (view.sealed.empty() || view.sealed.back() != runs.back()) {
    LAVA_DCHECK(HasNone(view, runs));
    return false;
  }
  LAVA_CHECK(view.sealed.size() >= runs.size());
  LAVA_DCHECK(std::equal(runs.rbegin(), runs.rend(), view.sealed.rbegin()));
  return true;
}

// The view with the files of the edit in place of its oldest runs.
ViewRef WithoutRuns(const ReadView& before, size_t runs, const VersionEdit& edit) {
  LAVA_DCHECK(edit.removed.empty() && edit.values_removed.empty());
  auto view = std::make_unique<ReadView>();
  view->sealed.assign(before.sealed.begin(), before.sealed.end() - static_cast<ptrdiff_t>(runs));
  view->version = before.version;
  view->totals = before.totals;
  if (!edit.added.empty()) {
    auto version = std::make_shared<Version>(*before.version);
    const Status applied = ApplyToVersion(edit, version.get());
    LAVA_CHECK(applied.ok());  // an edit that adds new files to L0 fits any version
    view->version = std::move(version);
  }
  return ViewRef(view.release());
}

uint64_t FileBytesOf(const VersionSums& sums) {
  uint64_t bytes = sums.value_file_bytes;
  for (const VersionSums::Level& level : sums.levels) bytes += level.file_bytes;
  return bytes;
}

uint64_t NewBytesOf(const VersionEdit& edit) {
  uint64_t bytes = 0;
  for (const VersionEdit::AddedFile& added : edit.added) bytes += added.entry.file->bytes;
  for (const VersionEdit::AddedValueFile& added : edit.values_added) bytes += added.file->bytes;
  return bytes;
}

}  // namespace

void SnapshotRegistry::Add(SnapshotImpl* snapshot) {
  MutexLock lock(&mutex_);
  LAVA_DCHECK(snapshot->number_ == 0);  // not added before
  snapshot->number_ = quota_->NextSnapshot();
  LAVA_DCHECK(snapshots_.empty() || snapshots_.rbegin()->first < snapshot->number_);
  snapshots_[snapshot->number_] = snapshot;
  notifier_->Queue(&EventListener::OnSnapshotTaken, [snapshot] { return snapshot->Info(); });
}

void SnapshotRegistry::TellEnd(const SnapshotImpl& snapshot, SnapshotEnd end) const {
  notifier_->Queue(&EventListener::OnSnapshotReleased, [&snapshot, end] {
    SnapshotInfo info = snapshot.Info();
    info.end = end;
    const auto held = std::chrono::steady_clock::now() - snapshot.taken_;
    info.held_us =
        static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(held).count());
    return info;
  });
}

void SnapshotRegistry::Remove(SnapshotImpl* snapshot) {
  MutexLock lock(&mutex_);
  if (snapshots_.erase(snapshot->number_) > 0) TellEnd(*snapshot, SnapshotEnd::kReleased);
}

size_t SnapshotRegistry::size() const {
  MutexLock lock(&mutex_);
  return snapshots_.size();
}

uint64_t SnapshotRegistry::oldest() const {
  MutexLock lock(&mutex_);
  return snapshots_.empty() ? SpaceReport::kNoSnapshot : snapshots_.begin()->first;
}

FlushedViews SnapshotRegistry::PrepareFlushed(const std::vector<std::shared_ptr<SealedRun>>& runs,
                                              const VersionEdit& edit) const {
  FlushedViews views;
  {
    MutexLock lock(&mutex_);
    for (const auto& [number, snapshot] : snapshots_) {
      ViewRef view = snapshot->view_.Get();
      if (EndsWith(*view, runs)) views[number].before = std::move(view);
    }
  }
  for (auto& [number, view] : views) view.after = WithoutRuns(*view.before, runs.size(), edit);
  return views;
}

void SnapshotRegistry::RunsFlushed(const std::vector<std::shared_ptr<SealedRun>>& runs,
                                   const VersionEdit& edit, FlushedViews* views) {
  const uint64_t file_bytes = NewBytesOf(edit);
  std::vector<std::pair<SnapshotImpl*, const FlushedView*>> flushed;
  MutexLock lock(&mutex_);
  for (const auto& [number, snapshot] : snapshots_) {
    const ViewRef before = snapshot->view_.Get();
    if (!EndsWith(*before, runs)) continue;
    FlushedView& view = (*views)[number];
    if (!view.before) view = {ViewRef(before), WithoutRuns(*before, runs.size(), edit)};
    // Only the flush of the view's oldest runs, which is this one, replaces the view.
    LAVA_DCHECK(&*view.before == &*before);
    flushed.emplace_back(snapshot, &view);
  }
  // The code below allocates no memory.
  for (const auto& [snapshot, view] : flushed) {
    snapshot->file_bytes_ += file_bytes;
    snapshot->view_.Set(view->after);
  }
}

std::string SnapshotRegistry::Clear() {
  constexpr size_t kDescribedMax = 8;
  MutexLock lock(&mutex_);
  std::string text;
  if (!snapshots_.empty()) text = "snapshots open: " + std::to_string(snapshots_.size()) + "\n";
  const auto now = std::chrono::steady_clock::now();
  size_t described = 0;
  for (const auto& [number, snapshot] : snapshots_) {
    if (described++ < kDescribedMax) {
      const auto age =
          std::chrono::duration_cast<std::chrono::milliseconds>(now - snapshot->taken_);
      text += "  taken " + std::to_string(age.count()) + " ms ago\n";
      text += snapshot->taken_at_.ToString();
    }
    snapshot->view_.Set(ViewRef());
  }
  if (described > kDescribedMax)
    text += "  and " + std::to_string(described - kDescribedMax) + " taken later\n";
  for (const auto& [number, snapshot] : snapshots_) TellEnd(*snapshot, SnapshotEnd::kClosed);
  snapshots_.clear();
  return text;
}

bool SnapshotRegistry::GiveUpOldest() {
  MutexLock lock(&mutex_);
  if (snapshots_.empty()) return false;
  SnapshotImpl* snapshot = snapshots_.begin()->second;
  snapshots_.erase(snapshots_.begin());
  snapshot->given_up_ = true;
  snapshot->view_.Set(ViewRef());
  TellEnd(*snapshot, SnapshotEnd::kGivenUp);
  return true;
}

SnapshotImpl::SnapshotImpl(DBImpl* db, std::shared_ptr<CloseGuard> close_guard,
                           std::shared_ptr<SnapshotRegistry> registry, ViewRef view,
                           std::map<uint64_t, TableRegistration> tables, uint64_t failures_seen)
    : db_(db),
      close_guard_(std::move(close_guard)),
      registry_(std::move(registry)),
      flush_is_due_(!view->sealed.empty()),
      sealed_bytes_(ArenaBytesOf(*view)),
      version_bytes_(FileBytesOf(view->version->sums)),
      tables_(std::move(tables)),
      failures_seen_(failures_seen) {
  view_.Set(std::move(view));
  registry_->Add(this);
}

SnapshotImpl::~SnapshotImpl() {
  // If memory is refused, a later write or checkpoint schedules the flush.
  (void)Tried([this] { FlushWhatItSealed(); });
  registry_->Remove(this);
  view_.Set(ViewRef());
  if (CloseGuard::Use use(close_guard_.get()); use) db_->remover()->RemoveObsolete();
  registry_->notifier()->Deliver();
}

SnapshotInfo SnapshotImpl::Info() const {
  SnapshotInfo info;
  info.snapshot = number_;
  info.memtable_bytes = sealed_bytes_;
  info.file_bytes = version_bytes_;
  return info;
}

void SnapshotImpl::FlushWhatItSealed() const {
  if (!flush_is_due_.load(std::memory_order_relaxed) || !flush_is_due_.exchange(false)) return;
  CloseGuard::Use use(close_guard_.get());
  if (use) db_->flushes()->Schedule();
}

Result<ViewRef> SnapshotImpl::View() const {
  FlushWhatItSealed();
  ViewRef view = view_.Get();
  if (view) return view;
  if (!given_up_) return Status::Closed("the instance of this snapshot was closed");
  return Status::NoSpace(
      "the snapshot was given up, since writes waited too long for the space of the files that it "
      "alone kept: raise the limit of space, or make checkpoints faster");
}

Status SnapshotImpl::WaitFlushed(uint32_t timeout_ms) {
  CloseGuard::Use use(close_guard_.get());
  if (!use) return Status::Closed("the instance of this snapshot was closed");
  FlushWhatItSealed();
  const Status status = db_->flushes()->WaitUntil(
      [this] {
        const ViewRef view = view_.Get();
        return !view || view->sealed.empty();
      },
      timeout_ms, &failures_seen_);
  db_->remover()->RemoveObsolete();
  registry_->notifier()->Deliver();
  LAVA_RETURN_IF_ERROR(status);
  return View().status();
}

Status SnapshotImpl::Files(std::vector<File>* files, std::string* metadata) {
  CloseGuard::Use use(close_guard_.get());
  if (!use) return Status::Closed("the instance of this snapshot was closed");
  LAVA_ASSIGN_OR_RETURN(const ViewRef view, View());
  if (!view->sealed.empty())
    return Status::Busy("the snapshot has runs that are not in files yet: call WaitFlushed first");
  LAVA_RETURN_IF_ERROR(db_->DamageIn(*view->version));
  *files = FilesOf(*view->version);
  db_->MarkMissing(files);
  db_->tree()->GoesIntoCheckpoint(*view->version);
  ManifestState state;
  state.version = view->version;
  state.tables = tables_;
  state.partition_bytes = db_->partition_bytes();
  *metadata = EncodeMetadata(state);
  return Status::OK();
}

Status DBImpl::DamageIn(const Version& version) const {
  return components_.faults.DamageOf(version).WithContext("checkpoint of " +
                                                          components_.instance.path);
}

Result<std::shared_ptr<Snapshot>> DBImpl::TakeSnapshot() {
  std::shared_ptr<Snapshot> taken;
  const Status status = components_.writer.SealForSnapshot([&](ViewRef view, auto tables) {
    taken = std::make_shared<SnapshotImpl>(this, components_.instance.close_guard,
                                           components_.snapshots, std::move(view),
                                           std::move(tables), components_.faults.flush_failures());
  });
  components_.instance.notifier->Deliver();
  LAVA_RETURN_IF_ERROR(status);
  return taken;
}

}  // namespace lava
