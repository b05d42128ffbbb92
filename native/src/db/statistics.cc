// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/mutex.h"
#include "cache/block_cache.h"
#include "db/counters.h"
#include "db/db_impl.h"
#include "db/instance_context.h"
#include "db/read_view.h"
#include "db/space_controller.h"
#include "db/table_impl.h"
#include "db/value_order.h"
#include "lava/db.h"
#include "manifest/garbage.h"
#include "manifest/space.h"
#include "manifest/version.h"

namespace lava {

namespace {

void AddRuns(const ReadView& view, DBStatistics* out) {
  if (view.active != nullptr) {
    out->memtable_active_bytes = view.active->arena_bytes();
    out->memtable_killed_bytes = view.active->killed_bytes();
    out->estimated_records += view.active->record_count();
  }
  out->sealed_runs = view.sealed.size();
  for (const std::shared_ptr<SealedRun>& run : view.sealed) {
    out->memtable_sealed_bytes += run->memtable->arena_bytes();
    out->estimated_records += run->memtable->record_count();
  }
  for (uint32_t n = 0; n < kLevelCountMax; ++n) {
    for (const KeyFileEntry& entry : view.version->levels[n]) {
      const FileMeta& file = *entry.file;
      ++out->files_at_level[n];
      out->bytes_at_level[n] += file.bytes;
      out->estimated_records += file.records - std::min(file.records, 2 * file.deletes);
    }
    out->live_files += out->files_at_level[n];
    out->live_file_bytes += out->bytes_at_level[n];
  }
  for (const ValueFileGarbage& garbage : GarbageOf(*view.version)) {
    ++out->value_files;
    out->value_file_bytes += garbage.file->bytes;
    out->hot_value_file_bytes += garbage.file->hot ? garbage.file->bytes : 0;
    out->value_raw_bytes += garbage.raw_bytes;
    out->garbage_bytes_min += garbage.garbage_min;
    out->garbage_bytes_max += garbage.garbage_max;
  }
  const ValueOrder order = OrderOf(*view.version);
  for (uint32_t n = 0; n < kLevelCountMax; ++n) {
    out->value_groups_at_level[n] = order.levels[n].groups;
    out->value_overlap_at_level[n] = order.levels[n].overlap;
  }
  out->live_files += out->value_files;
  out->live_file_bytes += out->value_file_bytes;
}

void AddCounters(const InstanceContext& instance, DBStatistics* out) {
  const Counters& counters = instance.counters;
  const auto get = [](const Counters::Counter& c) { return c.load(std::memory_order_relaxed); };
  out->flushes = get(counters.flushes);
  out->compactions = get(counters.compactions);
  out->trivial_moves = get(counters.trivial_moves);
  out->flush_bytes_written = get(counters.flush_bytes_written);
  out->memtable_killed_bytes += get(counters.memtable_killed_bytes);
  out->compaction_bytes_read = get(counters.compaction_bytes_read);
  out->compaction_bytes_written = get(counters.compaction_bytes_written);
  out->user_bytes_written = get(counters.user_bytes_written);
  out->reads = get(counters.reads);
  out->writes = get(counters.writes);
  out->scans = get(counters.scans);
  out->records_stepped_over = get(counters.records_stepped_over);
  for (const CacheUse* use : {&instance.read_counters.cache, &instance.value_read_counters.cache}) {
    out->cache_used_bytes += get(use->used_bytes);
    out->cache_hits += get(use->hits);
    out->cache_misses += get(use->misses);
  }
  out->filter_useful = get(instance.read_counters.filter_useful);
  out->block_reads = get(instance.read_counters.block_reads);
  out->stall_us = get(counters.stall_us);
  out->space_stall_us = get(counters.space_stall_us);
  out->flush_stall_us = get(counters.flush_stall_us);
  out->compaction_stall_us = get(counters.compaction_stall_us);
  out->background_errors = get(counters.background_errors);
  out->records_expired = get(counters.records_expired);
  out->value_bytes_written = get(counters.value_bytes_written);
  out->values_logged = get(counters.values_logged);
  out->external_values = get(counters.external_values);
  out->entry_bytes = get(counters.entry_bytes);
  out->value_reads = get(instance.value_read_counters.value_reads);
  out->value_bytes_read = get(instance.value_read_counters.value_bytes_read);
  out->collections = get(counters.collections);
  out->collection_bytes_read = get(counters.collection_bytes_read);
  out->collection_input_bytes = get(counters.collection_input_bytes);
  out->collection_bytes_written = get(counters.collection_bytes_written);
  out->collection_values_dead = get(counters.collection_values_dead);
  out->value_files_expired = get(counters.value_files_expired);
  out->merged_value_bytes = get(counters.merged_value_bytes);
  out->merged_for_garbage_bytes = get(counters.merged_for_garbage_bytes);
  out->merged_for_order_bytes = get(counters.merged_for_order_bytes);
  out->merged_down_bytes = get(counters.merged_down_bytes);
  out->flush_cpu_us = get(counters.flush_cpu_us);
  out->compaction_cpu_us = get(counters.compaction_cpu_us);
  out->collection_cpu_us = get(counters.collection_cpu_us);
  out->versions_installed = get(counters.versions_installed);
  out->install_cpu_us = get(counters.install_cpu_us);
  out->publish_cpu_us = get(counters.publish_cpu_us);
  out->files_installed = get(counters.files_installed);
  out->files_refused_direct = instance.files->files_refused_direct();
  out->snapshots_given_up = get(counters.snapshots_given_up);
  out->listener_failures = instance.notifier->listener_failures();
  out->events_dropped = instance.notifier->events_dropped();
}

}  // namespace

DBStatistics DBImpl::statistics() const {
  DBStatistics out;
  const ViewRef view = components_.tree.view();
  if (view) AddRuns(*view, &out);
  out.pinned_file_bytes = components_.tree.versions.obsolete_files().pinned_bytes();
  out.damaged_files = components_.faults.damaged_files();
  out.pending_compaction_bytes = components_.jobs.PendingCompactionBytes();
  {
    MutexLock state(components_.tree.mutex());
    out.running_flushes = components_.tree.sealed().running();
    out.running_compactions = components_.tree.job_counts().compactions;
    out.running_collections = components_.tree.job_counts().collections;
  }
  const SpaceState space = components_.tree.space.state();
  out.space_pressure_percent =
      static_cast<uint64_t>(std::max(space.own.fullness, space.process.writes.fullness) * 100);
  if (view) {
    const VersionSpace of_version = SpaceOf(*view->version, space.met);
    out.estimated_live_bytes = of_version.live_bytes;
    out.estimated_hidden_bytes = of_version.hidden_raw_value_bytes;
  }
  out.snapshots_open = components_.snapshots->size();
  AddCounters(components_.instance, &out);
  return out;
}

TableStatistics DBImpl::table_statistics(Table* table) const {
  TableStatistics out;
  TableImpl* impl;
  const ViewRef view = components_.tree.view();
  if (!components_.tables.Check(table, &impl).ok() || !view) return out;
  for (const auto& level : view->version->levels) {
    for (const KeyFileEntry& entry : level) {
      const auto it = entry.file->tables.find(impl->id());
      if (it == entry.file->tables.end()) continue;
      out.records += it->second.first;
      out.live_bytes += it->second.second;
    }
  }
  for (const ValueFileGarbage& garbage : GarbageOf(*view->version)) {
    const auto share = garbage.file->tables.find(impl->id());
    if (share == garbage.file->tables.end()) continue;
    ++out.value_files;
    out.value_raw_bytes += share->second.raw_bytes;
    out.garbage_bytes +=
        static_cast<uint64_t>(static_cast<double>(garbage.garbage_estimate) *
                              static_cast<double>(share->second.raw_bytes) /
                              static_cast<double>(std::max<uint64_t>(1, garbage.raw_bytes)));
  }
  out.separation_bytes = impl->separation_now();
  const uint64_t large = components_.separation_tuner.LargeBytesNow(*impl);
  out.large_bytes = large == UINT64_MAX ? 0 : large;
  return out;
}

}  // namespace lava
