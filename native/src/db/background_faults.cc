// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/background_faults.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/mutex.h"
#include "compaction/compaction_job.h"
#include "db/background_events.h"
#include "db/counters.h"
#include "db/table_registry.h"
#include "lava/db.h"
#include "lava/status.h"
#include "manifest/version.h"

namespace lava {
namespace {

using Work = BackgroundEvents::Work;

static_assert(static_cast<size_t>(Work::kFlush) == 0 &&
              static_cast<size_t>(Work::kCompaction) == 1 &&
              static_cast<size_t>(Work::kCollection) == 2);

// A message lists at most this many names of tables.
constexpr size_t kNamesMax = 16;

constexpr std::string_view kAdvice =
    "; the file cannot be repaired here: restore from the last checkpoint, and look at the disk";

std::string Quoted(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kNamesMax); ++i)
    text += (i == 0 ? "'" : ", '") + names[i] + "'";
  if (names.size() > kNamesMax) text += " and others";
  return text;
}

// shares: a map by table id.
template <typename Shares>
std::vector<std::string> NamesOf(const Shares& shares, const TableRegistry& tables) {
  std::vector<uint64_t> ids;
  ids.reserve(shares.size());
  for (const auto& share : shares) ids.push_back(share.first);
  return tables.NamesOf(ids);
}

// Whether one level of a version has an entry of the key file. Level 0 is not sorted by key, so all
// of its entries are compared. They are few, because writes stall before there are many.
bool IsInLevel(const DamagedFile& file, const Version& version, uint32_t level) {
  const FileList& entries = version.levels[level];
  if (level == 0)
    return std::any_of(entries.begin(), entries.end(),
                       [&file](const KeyFileEntry& entry) { return entry.file->id == file.id; });
  return std::any_of(file.lowers.begin(), file.lowers.end(), [&](const std::string& lower) {
    const auto at =
        entries.PartitionPoint([&lower](const KeyFileEntry& entry) { return entry.lower < lower; });
    return at != entries.end() && at->file->id == file.id;
  });
}

bool IsIn(const DamagedFile& file, const Version& version) {
  if (!file.is_key_file) return version.value_files.contains(file.id);
  for (uint32_t level = 0; level < kLevelCountMax; ++level)
    if (IsInLevel(file, version, level)) return true;
  return false;
}

}  // namespace

std::optional<DamagedFile> FindDamaged(const Version& version, const TableRegistry& tables,
                                       std::string_view message) {
  const auto is_named = [message](const std::string& file) {
    return message.find(file) != std::string_view::npos;
  };
  std::optional<DamagedFile> found;
  for (const FileList& level : version.levels) {
    for (const KeyFileEntry& entry : level) {
      const FileMeta& file = *entry.file;
      if (!found) {
        std::string name = file.id.FileName();
        if (!is_named(name)) continue;
        found = DamagedFile{file.id, true, std::move(name), NamesOf(file.tables, tables), {}};
      }
      if (file.id == found->id) found->lowers.push_back(entry.lower);
    }
  }
  if (found) return found;
  for (const auto& [id, entry] : version.value_files) {
    std::string name = id.ValueFileName();
    if (is_named(name))
      return DamagedFile{id, false, std::move(name), NamesOf(entry.file->tables, tables), {}};
  }
  return std::nullopt;
}

void BackgroundFaults::Failed(Work work, const Status& status, uint64_t began_us,
                              const DamageSearch& search, const Version& current) noexcept {
  Counters::Add(errors_, 1);
  MutexLock lock(&mutex_);
  if (work == Work::kFlush) ++flush_failures_;
  Backoff& backoff = BackoffOf(work);
  if (!Tried([&] { backoff.status = status; })) backoff.status = Status(status.code(), {});
  backoff.wait_us = std::clamp(backoff.wait_us * 2, retry_us_min_, retry_us_max_);
  backoff.began_us = began_us;
  backoff.retry_at_us = clock_->MonotonicMicros() + backoff.wait_us;
  // If memory is refused, the failure is reported when it happens again.
  (void)Tried([&] {
    mutex_.AssertHeld();
    Report(work, status, search, current);
  });
}

void BackgroundFaults::Report(Work work, const Status& status, const DamageSearch& search,
                              const Version& current) {
  if (!search.finished) return;
  if (search.found && IsIn(*search.found, current))
    return ReportDamage(work, status, *search.found);
  events_.Failed(work, status, clock_->WallMillis());
}

void BackgroundFaults::ReportDamage(Work work, const Status& status, const DamagedFile& file) {
  Status told = status;
  if (!file.tables.empty())
    told = Status::Corruption(std::string(status.message()) + "; it holds state of " +
                              Quoted(file.tables));
  if (damaged_.emplace(file.id, Damage{file, told}).second)
    events_.Damaged(file.name, told, file.tables, clock_->WallMillis());
  avoided_.insert(file.id);
  // Other files are compacted and collected as before.
  BackoffOf(work) = Backoff();
}

void BackgroundFaults::Worked(Work work) noexcept {
  MutexLock lock(&mutex_);
  BackoffOf(work) = Backoff();
  (void)Tried([&] {
    mutex_.AssertHeld();
    events_.Worked(work);
  });
}

void BackgroundFaults::Note(Work work, const Status& status) noexcept {
  MutexLock lock(&mutex_);
  (void)Tried([&] {
    mutex_.AssertHeld();
    if (status.ok()) return events_.Worked(work);
    events_.Failed(work, status, clock_->WallMillis());
  });
}

void BackgroundFaults::AvoidInputs(const CompactionInput& inputs, const DamageSearch& search,
                                   const Version& current) noexcept {
  if (!search.found || search.found->is_key_file || !IsIn(*search.found, current)) return;
  const auto is_found = [&search](const ValueFileMeta* file) {
    return file->id == search.found->id;
  };
  if (std::any_of(inputs.merged_values.begin(), inputs.merged_values.end(), is_found)) return;
  MutexLock lock(&mutex_);
  (void)Tried([&] {
    mutex_.AssertHeld();
    for (const CompactionInput::Level& level : inputs.inputs)
      for (const KeyFileEntry& entry : level.entries) avoided_.insert(entry.file->id);
  });
}

// A damaged value file leaves the versions once all of its values have died.
void BackgroundFaults::VersionIs(const Version& current) noexcept {
  MutexLock lock(&mutex_);
  if (avoided_.empty()) return;
  (void)Tried([&] {
    mutex_.AssertHeld();
    if (FirstDamage(current) == nullptr && events_.Corruption().ok()) avoided_.clear();
  });
}

Status BackgroundFaults::StatusOf(Work work) const {
  MutexLock lock(&mutex_);
  return BackoffOf(work).status;
}

bool BackgroundFaults::MayStart(Work work) const {
  MutexLock lock(&mutex_);
  const Backoff& backoff = BackoffOf(work);
  return backoff.status.ok() || clock_->MonotonicMicros() >= backoff.retry_at_us;
}

std::optional<Work> BackgroundFaults::FirstFailing() const {
  for (const Work work : {Work::kFlush, Work::kCompaction, Work::kCollection})
    if (!BackoffOf(work).status.ok()) return work;
  return std::nullopt;
}

Status BackgroundFaults::FirstFailure() const {
  MutexLock lock(&mutex_);
  const std::optional<Work> failing = FirstFailing();
  return failing ? BackoffOf(*failing).status : Status::OK();
}

bool BackgroundFaults::is_disk_full() const {
  MutexLock lock(&mutex_);
  return BackoffOf(Work::kFlush).status.IsNoSpace();
}

Status BackgroundFaults::Retry(Work work, uint64_t since_us) {
  Backoff& backoff = BackoffOf(work);
  if (backoff.status.ok()) return Status::OK();
  if (backoff.began_us >= since_us) return backoff.status;
  backoff.retry_at_us = 0;
  return Status::OK();
}

Status BackgroundFaults::RetryNow(Work work, uint64_t since_us) {
  MutexLock lock(&mutex_);
  return Retry(work, since_us);
}

std::optional<Status> BackgroundFaults::RetryFirst(uint64_t since_us) {
  MutexLock lock(&mutex_);
  const std::optional<Work> failing = FirstFailing();
  if (!failing) return std::nullopt;
  return Retry(*failing, since_us);
}

void BackgroundFaults::RetryAll() {
  MutexLock lock(&mutex_);
  for (Backoff& backoff : backoffs_) backoff.retry_at_us = 0;
}

bool BackgroundFaults::RetryFlushOnSpace() {
  MutexLock lock(&mutex_);
  Backoff& flush = BackoffOf(Work::kFlush);
  if (!flush.status.IsNoSpace()) return false;
  flush.began_us = flush.retry_at_us = 0;
  return true;
}

uint64_t BackgroundFaults::flush_failures() const {
  MutexLock lock(&mutex_);
  return flush_failures_;
}

std::optional<Status> BackgroundFaults::NewFlushFailure(std::atomic<uint64_t>* seen) const {
  MutexLock lock(&mutex_);
  if (flush_failures_ == seen->load()) return std::nullopt;
  *seen = flush_failures_;
  const Status& status = BackoffOf(Work::kFlush).status;
  return status.ok() ? Status::Busy() : status;
}

const BackgroundFaults::Damage* BackgroundFaults::FirstDamage(const Version& version) const {
  if (damaged_.empty()) return nullptr;
  for (uint32_t level = 0; level < kLevelCountMax; ++level)
    for (const auto& [id, damage] : damaged_)
      if (damage.file.is_key_file && IsInLevel(damage.file, version, level)) return &damage;
  for (const auto& [id, damage] : damaged_)
    if (!damage.file.is_key_file && version.value_files.contains(id)) return &damage;
  return nullptr;
}

Status BackgroundFaults::DamageOf(const Version& version) const {
  MutexLock lock(&mutex_);
  const Damage* const damage = FirstDamage(version);
  if (damage == nullptr) return events_.Corruption();
  return Status::Corruption(std::string(damage->status.message()) + std::string(kAdvice));
}

bool BackgroundFaults::IsKeyFileDamaged(const Version& version) const {
  MutexLock lock(&mutex_);
  return std::any_of(damaged_.begin(), damaged_.end(), [&version](const auto& damage) {
    return damage.second.file.is_key_file && IsIn(damage.second.file, version);
  });
}

bool BackgroundFaults::avoids_any() const {
  MutexLock lock(&mutex_);
  return !avoided_.empty();
}

std::set<FileId> BackgroundFaults::avoided() const {
  MutexLock lock(&mutex_);
  return avoided_;
}

size_t BackgroundFaults::damaged_files() const {
  MutexLock lock(&mutex_);
  return damaged_.size();
}

std::vector<BackgroundEvent> BackgroundFaults::TakeEvents() {
  if (!HasEvents()) return {};
  MutexLock lock(&mutex_);
  return events_.Take();
}

}  // namespace lava
