// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/file_remover.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/guarded.h"
#include "base/mutex.h"
#include "db/counters.h"
#include "db/obsolete_files.h"
#include "lava/event_listener.h"
#include "lava/status.h"
#include "manifest/version.h"

namespace lava {
namespace {

bool HasFile(const Version& version, const std::string& name) {
  return std::any_of(version.levels.begin(), version.levels.end(),
                     [&name](const FileList& level) {
                       return std::any_of(level.begin(), level.end(),
                                          [&name](const KeyFileEntry& entry) {
                                            return entry.file->id.FileName() == name;
                                          });
                     }) ||
         std::any_of(version.value_files.begin(), version.value_files.end(),
                     [&name](const auto& item) { return item.first.ValueFileName() == name; });
}

}  // namespace

void FileRemover::RemoveObsolete() {
  ObsoleteFiles::Unused unused = tree_->versions.obsolete_files().TakeUnused(), held;
  if (unused.files.empty() && unused.log_segments.empty()) return;
  const auto keep = [this](auto* from, auto* to) {
    for (auto at = from->begin(); at != from->end();) {
      const auto candidate = at++;
      if (changelog_->Holds(candidate->first)) to->insert(from->extract(candidate));
    }
  };
  keep(&unused.files, &held.files);
  keep(&unused.log_segments, &held.log_segments);
  if (!unused.files.empty()) {
    MutexLock state(tree_->mutex());
    (void)Tried([this] {
      tree_->mutex()->AssertHeld();
      tree_->ReportJobs();
    });
  }
  tree_->versions.obsolete_files().GiveBack(std::move(held));
  const bool removed = Tried([&] {
    const auto remove = [this](auto* files) {
      for (; !files->empty(); files->erase(files->begin())) {
        LAVA_DCHECK(!HasFile(*tree_->versions.newest(), files->begin()->first));
        Remove(files->begin()->first);
      }
    };
    remove(&unused.files);
    remove(&unused.log_segments);
  });
  if (!removed) tree_->versions.obsolete_files().GiveBack(std::move(unused));
}

void FileRemover::TellRemoved(const std::string& name, const Status& status) {
  instance_->notifier->Queue(&EventListener::OnFileDeleted, [&] {
    FileDeletedInfo info;
    info.file = name;
    info.status = status;
    return info;
  });
}

void FileRemover::Remove(const std::string& name) {
  const Status status = instance_->files->Remove(instance_->path + "/" + name);
  TellRemoved(name, status);
  const bool failed = !status.ok() && !status.IsNotFound();
  if (failed) Counters::Add(&instance_->counters.background_errors, 1);
  faults_->Note(BackgroundFaults::Work::kRemoval, failed ? status : Status::OK());
}

void FileRemover::SetReplayedThrough(uint64_t last) {
  MutexLock lock(&mutex_);
  replayed_.SetLast(last);
}

void FileRemover::AddReplayed(const std::string& name) {
  MutexLock lock(&mutex_);
  replayed_.Add(name);
}

void FileRemover::RemoveReplayed(uint64_t flushed) {
  std::vector<std::string> unused;
  {
    MutexLock lock(&mutex_);
    unused = replayed_.TakeUnused(flushed);
  }
  for (const std::string& name : unused) Remove(name);
}

void FileRemover::DropReleased(const Version& version) {
  for (const ChangelogLog::Released& segment : changelog_->FindReleased()) {
    const std::string name = segment.id.ValueFileName();
    const bool of_tree =
        version.value_files.contains(segment.id) || tree_->versions.obsolete_files().Contains(name);
    if (segment.of_earlier_opening && !of_tree) AddReplayed(name);
    changelog_->Drop(segment);
  }
}

}  // namespace lava
