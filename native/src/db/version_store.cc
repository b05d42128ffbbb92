// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/version_store.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "base/check.h"
#include "base/guarded.h"
#include "base/mutex.h"
#include "db/counters.h"
#include "lava/status.h"
#include "manifest/manifest.h"
#include "manifest/version.h"
#include "manifest/version_edit.h"
#include "os/random.h"

namespace lava {
namespace {

// Whether none of the files that the last edit removed is still in the version.
bool HaveLeft(const Version& version) {
  return std::none_of(version.left.begin(), version.left.end(), [&](const Version::LeftFile& left) {
    if (left.is_value_file) return version.value_files.contains(left.id);
    return std::any_of(version.levels.begin(), version.levels.end(), [&](const FileList& level) {
      return std::any_of(level.begin(), level.end(),
                         [&](const KeyFileEntry& entry) { return entry.file->id == left.id; });
    });
  });
}

}  // namespace

Status VersionStore::Recover() {
  LAVA_DCHECK(manifest_ == nullptr);
  LAVA_ASSIGN_OR_RETURN(manifest_, Manifest::Recover({.file_system = options_.file_system,
                                                      .directory = options_.directory,
                                                      .sync = options_.sync}));
  return Status::OK();
}

void VersionStore::StartFresh() {
  LAVA_DCHECK(manifest_ == nullptr);
  manifest_ = Manifest::Fresh({.file_system = options_.file_system,
                               .directory = options_.directory,
                               .sync = options_.sync});
}

void VersionStore::DrawOrigin(VersionEdit* first) {
  LAVA_DCHECK(first->origins.empty() && !first->next_file_number);
  const os::Random128 random = os::RandomBits128();
  origin_ = {random.high, random.low};
  first->origins.push_back(origin_);
  first->next_file_number = 1;
}

Status VersionStore::Begin(const VersionEdit& first) {
  LAVA_DCHECK(manifest_ != nullptr);
  LAVA_RETURN_IF_ERROR(manifest_->LogAndApply(first));
  SetNewest();
  return Status::OK();
}

Status VersionStore::Log(const VersionEdit& edit) {
  LAVA_DCHECK(manifest_ != nullptr);
  const bool adds_files = !edit.added.empty() || !edit.values_added.empty();
  Status status;
  if (options_.sync && adds_files) {
    status = options_.file_system->SyncDirectory(options_.directory);
  }
  const std::shared_ptr<const Version> before = manifest_->state().version;
  if (status.ok()) status = manifest_->LogAndApply(edit);
  if (!status.ok()) {
    Fail(manifest_->failed_sync());
    // If memory for their names is refused, the files stay until the instance is opened again. The
    // caller gets the status in any case.
    (void)Tried([&] { obsolete_files_.AddFailed(edit); });
    return status;
  }
  SetNewest();
  // The manifest has the edit, so the code below must not fail: otherwise the caller would log the
  // edit again. If memory for their names is refused, files of failed edits stay until the instance
  // is opened again.
  (void)Tried([&] { obsolete_files_.EditIsSafe(edit); });
  Counters::Add(&counters_->files_installed, edit.added.size() + edit.removed.size() +
                                                 edit.values_added.size() +
                                                 edit.values_removed.size());
  const Version& now = *manifest_->state().version;
  LAVA_DCHECK(&now == before.get() || HaveLeft(now));
  if (&now == before.get()) return status;
  // If memory for their names is refused, these files stay until the instance is opened again.
  (void)Tried([&] {
    for (const Version::LeftFile& left : now.left) obsolete_files_.Add(left.name(), left.file);
  });
  return status;
}

void VersionStore::SetNewest() {
  MutexLock lock(&mutex_);
  LAVA_DCHECK(manifest_->state().version != nullptr);
  newest_ = manifest_->state().version;
}

void VersionStore::Fail(const Status& failed_sync) {
  if (failed_sync.ok()) return;
  MutexLock lock(&mutex_);
  LAVA_DCHECK(status_.ok() || status_.code() == failed_sync.code());
  status_ = failed_sync;
  failed_.store(true, std::memory_order_relaxed);
}

std::shared_ptr<const Version> VersionStore::newest() const {
  MutexLock lock(&mutex_);
  return newest_;
}

Status VersionStore::status() const {
  MutexLock lock(&mutex_);
  return status_;
}

void VersionStore::Close() {
  // A late search for unused files must find none: another instance may have the directory by then.
  obsolete_files_.Clear();
  manifest_.reset();
  std::shared_ptr<const Version> newest = std::make_shared<Version>();
  MutexLock lock(&mutex_);
  newest_.swap(newest);
}

}  // namespace lava
