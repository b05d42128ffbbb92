// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "log/format.h"
#include "log/physical_log.h"

namespace lava::log {

/// One logical log and where its records are (lavastore 3.3.1, "Two-Level Indexing"). Memory has an
/// entry of each record that is in the active data file and in no pack yet (direct entries). For
/// all other records it has the packs only.
/// Threads:    none shared.
class LogicalLog {
 public:
  LogicalLog(LogId id, std::string name) : id_(id), name_(std::move(name)) {}

  LogId id() const { return id_; }
  const std::string& name() const { return name_; }
  uint64_t trimmed_to() const { return trimmed_to_; }
  /// The highest LSN that the log ever had, as far as memory knows; 0 if there was none.
  uint64_t last_lsn() const { return last_lsn_; }
  const std::vector<IndexEntry>& direct() const { return direct_; }
  const std::vector<Pack>& packs() const { return packs_; }
  /// Incremented when packs are added: a search of the packs must then be repeated.
  uint64_t pack_generation() const { return pack_generation_; }

  const IndexEntry* FindDirect(uint64_t lsn) const;
  /// Packs that may contain an LSN from `from` to `to`, those of the newest file first.
  std::vector<Pack> PacksWith(uint64_t from, uint64_t to) const;
  /// Whether a pack certainly contains lsn, without reading the pack.
  bool IsInDensePack(uint64_t lsn) const;

  void SeeLsn(uint64_t lsn) { last_lsn_ = std::max(last_lsn_, lsn); }
  /// Adds an entry of the active file. False if its LSN has an entry already.
  bool AddDirect(const IndexEntry& entry);
  void RemoveDirect(const IndexEntry& entry);
  void AddPack(const Pack& pack);
  bool HasPack(const Pack& pack) const;
  /// Returns `count` entries from `begin` on, for a pack.
  std::vector<IndexEntry> DirectFrom(size_t begin, size_t count) const;
  /// Replaces the direct entries from pack.first to pack.last by their pack, which was written.
  void ReplaceDirect(const Pack& pack);
  /// Number of direct entries from begin on that belong into one pack: at most kPackEntries. A pack
  /// ends before a gap that contains other packs, because reads of those would have to look into
  /// it, too.
  size_t PackLength(size_t begin) const;

  /// Forgets records below lsn. Calls gone with the file (0: the active one) and bytes of each.
  template <typename Gone>
  void Trim(uint64_t lsn, const Gone& gone);
  template <typename Gone>
  void DropPacksOf(uint32_t file, const Gone& gone);

  size_t memory_bytes() const {
    return sizeof(*this) + name_.capacity() + direct_.capacity() * sizeof(IndexEntry) +
           packs_.capacity() * sizeof(Pack);
  }

 private:
  const LogId id_;
  const std::string name_;
  uint64_t trimmed_to_ = 0;
  uint64_t last_lsn_ = 0;
  std::vector<IndexEntry> direct_;  // ascending
  std::vector<Pack> packs_;         // by first; may overlap if LSNs were late or collected
  uint64_t widest_pack_ = 0;        // largest last - first of any pack so far
  uint64_t pack_generation_ = 0;
};

/// The state of a data file.
struct DataFileInfo {
  std::shared_ptr<DataFile> file;
  uint64_t bytes = 0;         // its length, once sealed
  uint64_t record_bytes = 0;  // of all records ever in it, with their headers
  uint64_t live_bytes = 0;    // upper bound: a partly trimmed pack counts in full
  bool sealed = false;
  bool unreadable = false;  // a collection found damage
};

/// All logical logs and data files.
/// Threads:    none shared; LavaLog's mutex guards it.
class Index {
 public:
  LogicalLog* Find(LogId id);
  const LogicalLog* Find(LogId id) const;
  LogicalLog* FindByName(std::string_view name);
  /// Null when the id or the name exists already.
  LogicalLog* Create(LogId id, const std::string& name);
  void Delete(LogId id);
  void Trim(LogId id, uint64_t lsn);
  LogId next_id() const { return next_id_; }
  void SeeId(LogId id) { next_id_ = std::max(next_id_, id + 1); }

  DataFileInfo* AddFile(std::shared_ptr<DataFile> file);
  DataFileInfo* FindFile(uint32_t number);
  void RemoveFile(uint32_t number);
  const std::map<uint32_t, DataFileInfo>& files() const { return files_; }
  /// The file of the direct entries; 0: none.
  uint32_t active() const { return active_; }
  void SetActive(uint32_t number) { active_ = number; }

  void AddDirect(LogicalLog* log, const IndexEntry& entry);

  const std::map<LogId, std::unique_ptr<LogicalLog>>& logs() const { return logs_; }
  uint64_t direct_entries() const { return direct_entries_; }
  /// Replaces direct entries by their pack, which was written.
  void Packed(LogicalLog* log, const Pack& pack);
  uint64_t live_bytes() const { return live_bytes_; }
  /// Memory of the index: added up now, and kept up to date. Both include reserved vector space.
  uint64_t memory_bytes() const;
  uint64_t memory_bytes_so_far() const { return memory_bytes_; }
  /// Adds up live bytes and entries again, after logs were changed directly, as recovery does.
  void Recount();

 private:
  void Gone(uint32_t file, uint64_t bytes);
  void Came(uint32_t file, uint64_t bytes);
  static uint64_t MemoryOf(const LogicalLog& log) { return log.memory_bytes() + kLogOverhead; }
  /// Runs a change of a log and adds the change of its memory.
  template <typename Change>
  auto Following(const LogicalLog* log, const Change& change);
  static constexpr uint64_t kLogOverhead = 128;  // of the maps that contain it
  static constexpr uint64_t kFileOverhead = sizeof(DataFileInfo) + sizeof(DataFile) + 64;

  std::map<LogId, std::unique_ptr<LogicalLog>> logs_;
  std::unordered_map<std::string_view, LogicalLog*> by_name_;  // keys borrow the logs' names
  std::map<uint32_t, DataFileInfo> files_;
  LogId next_id_ = 1;
  uint32_t active_ = 0;
  uint64_t direct_entries_ = 0;
  uint64_t live_bytes_ = 0;
  uint64_t memory_bytes_ = 0;
};

template <typename Gone>
void LogicalLog::Trim(uint64_t lsn, const Gone& gone) {
  if (lsn <= trimmed_to_) return;
  trimmed_to_ = lsn;
  size_t kept = 0;
  while (kept < direct_.size() && direct_[kept].lsn < lsn) {
    gone(0, RecordBytes(id_, direct_[kept]));
    ++kept;
  }
  direct_.erase(direct_.begin(), direct_.begin() + static_cast<ptrdiff_t>(kept));
  std::erase_if(packs_, [&](const Pack& pack) {
    if (pack.last >= lsn) return false;
    gone(pack.file, pack.data_bytes);
    return true;
  });
}

template <typename Gone>
void LogicalLog::DropPacksOf(uint32_t file, const Gone& gone) {
  std::erase_if(packs_, [&](const Pack& pack) {
    if (pack.file != file) return false;
    gone(pack.file, pack.data_bytes);
    return true;
  });
}

}  // namespace lava::log
