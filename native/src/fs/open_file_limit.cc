// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/open_file_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>

#include "base/mutex.h"

namespace lava::fs {
namespace {

constexpr uint64_t kFilesMax = 16384;
constexpr uint64_t kFilesMin = 16;

uint32_t DefaultFilesMax() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return static_cast<uint32_t>(kFilesMin);
  const uint64_t half = static_cast<uint64_t>(limit.rlim_cur) / 2;
  return static_cast<uint32_t>(std::clamp(half, kFilesMin, kFilesMax));
}

}  // namespace

OpenFileLimit* OpenFileLimit::Process() {
  static auto* const limit = new OpenFileLimit(DefaultFilesMax());
  return limit;
}

void OpenFileLimit::Add(EvictableFile* file) {
  MutexLock lock(&mutex_);
  const auto position = files_.insert(files_.end(), file);
  try {
    positions_[file] = position;
  } catch (const std::bad_alloc&) {
    files_.erase(position);
    throw;
  }
  if (files_.size() <= files_max_) return;
  uint32_t closed = 0;
  Sweep(static_cast<uint32_t>(files_.size()) - files_max_, /*force=*/false, &closed);
}

void OpenFileLimit::Remove(EvictableFile* file) {
  MutexLock lock(&mutex_);
  const auto position = positions_.find(file);
  if (position == positions_.end()) return;
  files_.erase(position->second);
  positions_.erase(position);
}

uint32_t OpenFileLimit::Evict(uint32_t count) {
  MutexLock lock(&mutex_);
  uint32_t closed = 0;
  Sweep(count, /*force=*/true, &closed);
  return closed;
}

uint32_t OpenFileLimit::open_files() const {
  MutexLock lock(&mutex_);
  return static_cast<uint32_t>(files_.size());
}

void OpenFileLimit::SetFilesMax(uint32_t files_max) {
  MutexLock lock(&mutex_);
  files_max_ = files_max;
  if (files_.size() <= files_max_) return;
  uint32_t closed = 0;
  Sweep(static_cast<uint32_t>(files_.size()) - files_max_, /*force=*/true, &closed);
}

void OpenFileLimit::Sweep(uint32_t wanted, bool force, uint32_t* closed) {
  // Two rounds, because the first may only clear second chances. The newest file is asked last: its
  // opener is about to read it.
  for (size_t asked = 0, asked_max = files_.size() * 2; asked < asked_max; ++asked) {
    if (*closed == wanted || files_.empty()) return;
    EvictableFile* file = files_.front();
    if (file->TryEvict(force)) {
      ++*closed;
      files_.pop_front();
      positions_.erase(file);
    } else {
      files_.splice(files_.end(), files_, files_.begin());
    }
  }
}

}  // namespace lava::fs
