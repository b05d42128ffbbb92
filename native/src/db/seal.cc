// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"
#include "db/counters.h"
#include "db/read_view.h"
#include "db/writer.h"
#include "host/process_parts.h"
#include "lava/event_listener.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "memory/memory_counter.h"
#include "memtable/memtable.h"

// The part of Writer that seals the active memtable. Flushes write sealed memtables to files.
namespace lava {

void Writer::SealLocked(FlushCause cause) {
  {
    MutexLock state(tree_->mutex());
    SealBothLocked(cause);
  }
  flushes_->Schedule();
}

Status Writer::FlushHere() {
  {
    MutexLock write(&mutex_);
    MutexLock state(tree_->mutex());
    SealBothLocked(FlushCause::kReplay);
  }
  return flushes_->FlushAllHere();
}

// Schedules no flush.
void Writer::SealBothLocked(FlushCause cause) {
  // A memtable whose records have all died is also sealed, so that its part of the log can be
  // trimmed.
  const bool logged = wal_->HasUnsealed();
  const bool nothing = active_->empty() && dropped_in_active_.empty() && segments_.empty();
  if (instance_->closed.load() || (nothing && !logged)) return;
  LAVA_DCHECK(!active_->sealed() && tree_->view()->active == active_);
  // Allocates all memory before anything changes.
  auto run = std::make_shared<SealedRun>();
  std::shared_ptr<MemTable> next =
      MemTable::Create(instance_->budget.counter(MemoryPurpose::kMemtables));
  TreeState::PreparedSeal prepared = tree_->PrepareSeal(run, std::move(next));
  run->separated_puts = separation_tuner_->TakeSeparatedPuts();
  active_->Seal();
  Counters::Add(&instance_->counters.memtable_killed_bytes, active_->killed_bytes());
  run->memtable = std::move(active_);
  run->segments = segments_.Seal();
  changelog_->EndSegment();
  run->cause = cause;
  run->wal_last = wal_->Seal();
  run->dropped_tables = std::exchange(dropped_in_active_, {});
  active_ = prepared.next;
  active_bytes_ = 0;
  tree_->Seal(std::move(prepared));
  // TreeState and Writer always have the same active memtable.
  LAVA_DCHECK(tree_->view()->active == active_);
  LAVA_DCHECK(segments_.empty() && !wal_->HasUnsealed());
}

Status Writer::Seal(FlushCause cause, uint64_t* sealed_through) {
  MutexLock lock(&mutex_);
  if (instance_->closed.load()) return Status::Closed("the instance was closed");
  SealLocked(cause);
  MutexLock state(tree_->mutex());
  *sealed_through = tree_->sealed().sealed_through();
  return Status::OK();
}

Status Writer::SealForSnapshot(
    const std::function<void(ViewRef, std::map<uint64_t, TableRegistration>)>& take) {
  MutexLock lock(&mutex_);
  if (instance_->closed.load()) return Status::Closed("the instance was closed");
  // While mutex_ is held, no record is written and no table is dropped: see TableRegistry.
  std::map<uint64_t, TableRegistration> tables = tables_->Registrations();
  // Sealing and taking the view are one step. A flush in between could write the sealed run to a
  // file, and the snapshot would then not count the run's bytes.
  MutexLock state(tree_->mutex());
  SealBothLocked(FlushCause::kSnapshot);
  take(tree_->SnapshotView(), std::move(tables));
  return Status::OK();
}

void Writer::Begin() {
  MutexLock lock(&mutex_);
  LAVA_DCHECK(active_ == nullptr && segments_.empty());
  active_ = MemTable::Create(instance_->budget.counter(MemoryPurpose::kMemtables));
  MutexLock state(tree_->mutex());
  tree_->Begin(active_);
}

// Needs mutex_: otherwise a writer or a snapshot that has not noticed the closing could lose the
// view during its work, or publish another view later.
void Writer::HideView() {
  MutexLock lock(&mutex_);
  MutexLock state(tree_->mutex());
  tree_->HideView();
}

std::unique_ptr<Wal> Writer::Close() {
  MutexLock lock(&mutex_);
  segments_.Seal();
  changelog_->Clear();
  active_.reset();
  active_bytes_ = 0;
  return wal_->Close();
}

}  // namespace lava
