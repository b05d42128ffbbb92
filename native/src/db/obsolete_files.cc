// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/obsolete_files.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/guarded.h"
#include "base/mutex.h"
#include "manifest/version.h"
#include "manifest/version_edit.h"
#include "value_log/value_log_segment.h"

namespace lava {
namespace {

ObsoleteFiles::File FileOf(const std::shared_ptr<StoredFile>& file) {
  return {file, file == nullptr ? 0 : file->bytes};
}

}  // namespace

void ObsoleteFiles::Add(const std::string& name, const std::weak_ptr<StoredFile>& file) {
  Files files;
  files.emplace(name, FileOf(file.lock()));
  MutexLock lock(&mutex_);
  AddAll(&files);
}

void ObsoleteFiles::AddAll(Files* files) noexcept {
  while (!files->empty()) {
    const uint64_t bytes = files->begin()->second.bytes;
    if (files_.insert(files->extract(files->begin())).inserted) pinned_bytes_ += bytes;
  }
}

void ObsoleteFiles::AddFailed(const VersionEdit& edit) {
  Files failed;
  for (const VersionEdit::AddedFile& added : edit.added)
    failed.emplace(added.entry.file->id.FileName(), FileOf(added.entry.file));
  for (const VersionEdit::AddedValueFile& added : edit.values_added)
    failed.emplace(added.file->id.ValueFileName(), FileOf(added.file));
  MutexLock lock(&mutex_);
  any_failed_ = true;
  failed_.merge(failed);
}

void ObsoleteFiles::EditIsSafe(const VersionEdit& edit) {
  MutexLock lock(&mutex_);
  if (!any_failed_) return;
  AddAll(&failed_);
  for (const VersionEdit::AddedFile& added : edit.added) Erase(added.entry.file->id.FileName());
  for (const VersionEdit::AddedValueFile& added : edit.values_added)
    Erase(added.file->id.ValueFileName());
  LAVA_DCHECK(failed_.empty() && CheckSum());
}

bool ObsoleteFiles::CheckSum() const {
  uint64_t bytes = 0;
  for (const auto& [name, file] : files_) bytes += file.bytes;
  LAVA_DCHECK(bytes == pinned_bytes_);
  return true;
}

void ObsoleteFiles::Erase(const std::string& name) {
  const auto found = files_.find(name);
  if (found == files_.end()) return;
  pinned_bytes_ -= found->second.bytes;
  files_.erase(found);
}

void ObsoleteFiles::AddLogSegment(const std::shared_ptr<const ValueLogSegment>& segment,
                                  bool became_file) {
  LAVA_DCHECK(segment != nullptr);
  MutexLock lock(&mutex_);
  (became_file ? kept_segments_ : dead_segments_)[segment->id().ValueFileName()] = segment;
}

ObsoleteFiles::Unused ObsoleteFiles::TakeUnused() noexcept {
  Unused unused;
  {
    MutexLock lock(&mutex_);
    // A view from before a flush reads a log segment as such, even after the segment became a value
    // file.
    std::erase_if(kept_segments_, [](const auto& segment) { return segment.second.expired(); });
    for (auto at = dead_segments_.begin(); at != dead_segments_.end();) {
      const auto candidate = at++;
      if (candidate->second.expired() && !kept_segments_.contains(candidate->first))
        unused.log_segments.insert(dead_segments_.extract(candidate));
    }
  }
  (void)Tried([&] {
    std::string from;
    while (TakeStep(&from, &unused.files)) {
    }
  });
  return unused;
}

bool ObsoleteFiles::TakeStep(std::string* from, Files* unused) {
  MutexLock lock(&mutex_);
  auto at = files_.lower_bound(*from);
  for (size_t looked_at = 0; looked_at < kStep && at != files_.end(); ++looked_at) {
    const auto candidate = at++;
    // expired() is called once: between two calls the file could expire, and would then get lost.
    if (!candidate->second.file.expired() || kept_segments_.contains(candidate->first)) continue;
    pinned_bytes_ -= candidate->second.bytes;
    unused->insert(files_.extract(candidate));
  }
  LAVA_DCHECK(at != files_.end() || CheckSum());
  if (at == files_.end()) return false;
  *from = at->first;
  return true;
}

void ObsoleteFiles::GiveBack(Unused unused) noexcept {
  MutexLock lock(&mutex_);
  AddAll(&unused.files);
  dead_segments_.merge(unused.log_segments);
}

bool ObsoleteFiles::Contains(const std::string& name) const {
  MutexLock lock(&mutex_);
  return files_.contains(name);
}

uint64_t ObsoleteFiles::pinned_bytes() const {
  MutexLock lock(&mutex_);
  return pinned_bytes_;
}

void ObsoleteFiles::Clear() {
  MutexLock lock(&mutex_);
  files_.clear();
  failed_.clear();
  dead_segments_.clear();
  kept_segments_.clear();
  pinned_bytes_ = 0;
}

}  // namespace lava
