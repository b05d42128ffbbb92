// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/separation_tuner.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "db/job_plans.h"
#include "db/table_impl.h"
#include "db/table_registry.h"
#include "lava/options.h"
#include "manifest/version.h"
#include "policy/separation.h"

namespace lava {
namespace {

struct TreeStatistics {
  uint64_t raw_bytes = 0;                // bytes of keys and values of all tables
  std::map<uint64_t, uint64_t> records;  // by table
};

// Visits all key files, because the version's sums lack raw bytes of key files and records of
// tables.
TreeStatistics StatisticsOf(const Version& version) {
  TreeStatistics tree;
  tree.raw_bytes = version.sums.value_raw_bytes;
  for (const auto& level : version.levels) {
    for (const KeyFileEntry& entry : level) {
      tree.raw_bytes += entry.file->raw_bytes;
      for (const auto& [id, counts] : entry.file->tables) tree.records[id] += counts.first;
    }
  }
  return tree;
}

uint64_t CountOf(const std::map<uint64_t, uint64_t>& counts, uint64_t table) {
  const auto found = counts.find(table);
  return found == counts.end() ? 0 : found->second;
}

}  // namespace

SeparationTuner::SeparationTuner(const DBOptions& options, const TableRegistry* tables)
    : tables_(tables),
      has_value_log_(options.wal != WalMode::kNone && options.large_value_bytes != 0),
      synced_(options.wal == WalMode::kWalSync),
      large_value_bytes_(options.large_value_bytes),
      level1_bytes_(options.level1_bytes),
      level_multiplier_(options.level_multiplier) {}

uint64_t SeparationTuner::FirstLargeBytes(const DBOptions& options) {
  const bool synced = options.wal == WalMode::kWalSync;
  return ChooseLarge({.synced = synced, .records = kLargeRecordsMin}, UINT64_MAX);
}

double SeparationTuner::Counts::scanned_per_write(const TableImpl& table) const {
  return static_cast<double>(table.scanned()) / static_cast<double>(std::max<uint64_t>(1, written));
}

double SeparationTuner::Counts::died_in_memory() const {
  return 1 - static_cast<double>(separated_written) /
                 static_cast<double>(std::max<uint64_t>(1, separated_puts));
}

std::map<uint64_t, uint64_t> SeparationTuner::TakeSeparatedPuts() const {
  std::map<uint64_t, uint64_t> puts;
  if (!has_value_log_) return puts;
  const std::vector<TableImpl*> tables = tables_->Handles();
  for (const TableImpl* table : tables)
    if (table->separated_puts() > 0) puts.emplace(table->id(), table->separated_puts());
  for (TableImpl* table : tables) table->ResetSeparatedPuts();
  return puts;
}

void SeparationTuner::FlushInstalled(const Flushed& flushed, const Version& version,
                                     const Instance& instance) {
  if (flushed.file != nullptr) FindSeparation(flushed, version, instance);
  if (has_value_log_) FindLarge(flushed);
}

void SeparationTuner::FindSeparation(const Flushed& flushed, const Version& version,
                                     const Instance& instance) {
  const std::vector<TableImpl*> tables = tables_->Handles();
  bool any = false;
  {
    MutexLock lock(&mutex_);
    std::erase_if(counts_, [](const auto& counts) { return counts.first->dropped(); });
    for (TableImpl* const table : tables) {
      const auto written = flushed.file->tables.find(table->id());
      if (written == flushed.file->tables.end()) continue;
      Counts& counts = counts_[table];
      counts.written += written->second.first;
      if (counts.written >= kWritesRemembered) {
        counts.written /= 2;
        table->HalveScanned();
      }
      any |= table->options().separation_bytes == kSeparationAutomatic;
    }
  }
  if (!any) return;
  const TreeStatistics tree = StatisticsOf(version);
  SeparationInput input{.key_bytes = flushed.key_bytes,
                        .tree_bytes = tree.raw_bytes,
                        .memtable_bytes = instance.memtable_bytes,
                        .level1_bytes = level1_bytes_,
                        .level_multiplier = level_multiplier_};
  // Before the first collection, the default of SeparationInput is used.
  if (instance.value_bytes_copied > 0)
    input.copied_per_byte =
        static_cast<double>(instance.value_bytes_copied) /
        static_cast<double>(std::max<uint64_t>(1, instance.value_bytes_written));
  MutexLock lock(&mutex_);
  for (TableImpl* const table : tables) {
    if (table->options().separation_bytes != kSeparationAutomatic) continue;
    input.records = CountOf(tree.records, table->id());
    input.scanned_per_write = counts_[table].scanned_per_write(*table);
    table->SetChosenSeparation(ChooseSeparation(input, table->chosen_separation()));
  }
}

void SeparationTuner::FindLarge(const Flushed& flushed) {
  std::map<uint64_t, uint64_t> written;
  for (const std::shared_ptr<ValueFileMeta>& file : flushed.value_files)
    for (const auto& [id, share] : file->tables) written[id] += share.records;
  const std::vector<TableImpl*> tables = tables_->Handles();
  MutexLock lock(&mutex_);
  for (TableImpl* const table : tables) {
    const uint64_t puts = CountOf(flushed.separated_puts, table->id());
    if (puts == 0) continue;
    Counts& counts = counts_[table];
    counts.separated_puts += puts;
    counts.separated_written += std::min(CountOf(written, table->id()), puts);
    if (counts.separated_puts >= kPutsRemembered) {
      counts.separated_puts /= 2;
      counts.separated_written /= 2;
    }
    const LargeInput input{.synced = synced_,
                           .records = counts.separated_puts,
                           .died_in_memory = counts.died_in_memory(),
                           .scanned_per_write = counts.scanned_per_write(*table)};
    table->SetChosenLarge(ChooseLarge(input, table->chosen_large()));
  }
}

}  // namespace lava
