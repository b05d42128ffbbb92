// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "log/index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "log/format.h"
#include "log/physical_log.h"

namespace lava::log {
namespace {

bool EntryBefore(const IndexEntry& entry, uint64_t lsn) { return entry.lsn < lsn; }
bool PackBefore(const Pack& pack, uint64_t lsn) { return pack.first < lsn; }

}  // namespace

const IndexEntry* LogicalLog::FindDirect(uint64_t lsn) const {
  const auto at = std::lower_bound(direct_.begin(), direct_.end(), lsn, EntryBefore);
  return at != direct_.end() && at->lsn == lsn ? &*at : nullptr;
}

std::vector<Pack> LogicalLog::PacksWith(uint64_t from, uint64_t to) const {
  std::vector<Pack> found;
  const uint64_t earliest = from > widest_pack_ ? from - widest_pack_ : 0;
  for (auto at = std::lower_bound(packs_.begin(), packs_.end(), earliest, PackBefore);
       at != packs_.end() && at->first <= to; ++at) {
    if (at->last >= from) found.push_back(*at);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Pack& a, const Pack& b) { return a.file > b.file; });
  return found;
}

bool LogicalLog::IsInDensePack(uint64_t lsn) const {
  const std::vector<Pack> packs = PacksWith(lsn, lsn);
  return std::any_of(packs.begin(), packs.end(),
                     [](const Pack& pack) { return pack.last - pack.first + 1 == pack.count; });
}

bool LogicalLog::AddDirect(const IndexEntry& entry) {
  last_lsn_ = std::max(last_lsn_, entry.lsn);
  if (direct_.empty() || direct_.back().lsn < entry.lsn) {
    direct_.push_back(entry);
    return true;
  }
  const auto at = std::lower_bound(direct_.begin(), direct_.end(), entry.lsn, EntryBefore);
  if (at != direct_.end() && at->lsn == entry.lsn) return false;
  direct_.insert(at, entry);
  return true;
}

void LogicalLog::RemoveDirect(const IndexEntry& entry) {
  const auto at = std::lower_bound(direct_.begin(), direct_.end(), entry.lsn, EntryBefore);
  if (at != direct_.end() && *at == entry) direct_.erase(at);
}

void LogicalLog::AddPack(const Pack& pack) {
  last_lsn_ = std::max(last_lsn_, pack.last);
  widest_pack_ = std::max(widest_pack_, pack.last - pack.first);
  packs_.insert(std::lower_bound(packs_.begin(), packs_.end(), pack.first, PackBefore), pack);
  ++pack_generation_;
}

bool LogicalLog::HasPack(const Pack& pack) const {
  for (auto at = std::lower_bound(packs_.begin(), packs_.end(), pack.first, PackBefore);
       at != packs_.end() && at->first == pack.first; ++at) {
    if (*at == pack) return true;
  }
  return false;
}

std::vector<IndexEntry> LogicalLog::DirectFrom(size_t begin, size_t count) const {
  LAVA_CHECK(begin + count <= direct_.size());
  const auto from = direct_.begin() + static_cast<ptrdiff_t>(begin);
  return {from, from + static_cast<ptrdiff_t>(count)};
}

void LogicalLog::ReplaceDirect(const Pack& pack) {
  const auto from = std::lower_bound(direct_.begin(), direct_.end(), pack.first, EntryBefore);
  LAVA_CHECK(static_cast<size_t>(direct_.end() - from) >= pack.count);
  LAVA_CHECK(from[pack.count - 1].lsn == pack.last);
  direct_.erase(from, from + pack.count);
  if (direct_.empty()) direct_.shrink_to_fit();
  AddPack(pack);
}

size_t LogicalLog::PackLength(size_t begin) const {
  size_t end = begin + 1;
  while (end < direct_.size() && end - begin < kPackEntries) {
    const uint64_t before = direct_[end - 1].lsn, next = direct_[end].lsn;
    if (next - before > 1) {
      const auto pack = std::lower_bound(packs_.begin(), packs_.end(), before + 1, PackBefore);
      if (pack != packs_.end() && pack->first < next) break;
    }
    ++end;
  }
  return end - begin;
}

template <typename Change>
auto Index::Following(const LogicalLog* log, const Change& change) {
  struct Follow {
    const LogicalLog* log;
    uint64_t* total;
    const uint64_t before;
    ~Follow() { *total += log->memory_bytes() - before; }
  };
  const Follow follow{log, &memory_bytes_, log->memory_bytes()};
  return change();
}

LogicalLog* Index::Find(LogId id) {
  const auto at = logs_.find(id);
  return at == logs_.end() ? nullptr : at->second.get();
}

const LogicalLog* Index::Find(LogId id) const { return const_cast<Index*>(this)->Find(id); }

LogicalLog* Index::FindByName(std::string_view name) {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? nullptr : at->second;
}

LogicalLog* Index::Create(LogId id, const std::string& name) {
  if (logs_.count(id) != 0 || by_name_.count(name) != 0) return nullptr;
  auto log = std::make_unique<LogicalLog>(id, name);
  LogicalLog* const raw = log.get();
  by_name_[raw->name()] = raw;
  logs_[id] = std::move(log);
  memory_bytes_ += MemoryOf(*raw);
  SeeId(id);
  return raw;
}

void Index::Gone(uint32_t file, uint64_t bytes) {
  DataFileInfo* const info = FindFile(file != 0 ? file : active_);
  LAVA_CHECK(info != nullptr && info->live_bytes >= bytes && live_bytes_ >= bytes);
  info->live_bytes -= bytes;
  live_bytes_ -= bytes;
  if (file == 0) --direct_entries_;
}

void Index::Came(uint32_t file, uint64_t bytes) {
  DataFileInfo* const info = FindFile(file);
  LAVA_CHECK(info != nullptr);
  info->live_bytes += bytes;
  live_bytes_ += bytes;
}

void Index::Trim(LogId id, uint64_t lsn) {
  if (LogicalLog* const log = Find(id)) {
    Following(
        log, [&] { log->Trim(lsn, [this](uint32_t file, uint64_t bytes) { Gone(file, bytes); }); });
  }
}

void Index::Delete(LogId id) {
  LogicalLog* const log = Find(id);
  if (log == nullptr) return;
  for (const IndexEntry& entry : log->direct()) Gone(0, RecordBytes(id, entry));
  for (const Pack& pack : log->packs()) Gone(pack.file, pack.data_bytes);
  memory_bytes_ -= MemoryOf(*log);
  by_name_.erase(log->name());
  logs_.erase(id);
}

DataFileInfo* Index::AddFile(std::shared_ptr<DataFile> file) {
  const uint32_t number = file->number();
  const auto [at, added] = files_.try_emplace(number);
  LAVA_CHECK(added);
  at->second.file = std::move(file);
  memory_bytes_ += kFileOverhead;
  return &at->second;
}

DataFileInfo* Index::FindFile(uint32_t number) {
  const auto at = files_.find(number);
  return at == files_.end() ? nullptr : &at->second;
}

void Index::RemoveFile(uint32_t number) {
  for (const auto& [id, log] : logs_) {
    log->DropPacksOf(number, [this](uint32_t file, uint64_t bytes) { Gone(file, bytes); });
  }
  memory_bytes_ -= kFileOverhead * files_.erase(number);
}

void Index::AddDirect(LogicalLog* log, const IndexEntry& entry) {
  if (entry.lsn < log->trimmed_to()) return;
  if (!Following(log, [&] { return log->AddDirect(entry); })) return;
  ++direct_entries_;
  const uint64_t bytes = RecordBytes(log->id(), entry);
  Came(active_, bytes);
  FindFile(active_)->record_bytes += bytes;
}

void Index::Packed(LogicalLog* log, const Pack& pack) {
  Following(log, [&] { log->ReplaceDirect(pack); });
  direct_entries_ -= pack.count;
}

void Index::Recount() {
  live_bytes_ = 0;
  direct_entries_ = 0;
  for (auto& [number, info] : files_) info.live_bytes = 0;
  for (const auto& [id, log] : logs_) {
    for (const IndexEntry& entry : log->direct()) Came(active_, RecordBytes(id, entry));
    for (const Pack& pack : log->packs()) Came(pack.file, pack.data_bytes);
    direct_entries_ += log->direct().size();
  }
  memory_bytes_ = memory_bytes();
}

uint64_t Index::memory_bytes() const {
  uint64_t bytes = files_.size() * kFileOverhead;
  for (const auto& [id, log] : logs_) bytes += MemoryOf(*log);
  return bytes;
}

}  // namespace lava::log
