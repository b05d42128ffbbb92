// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/history/option_sets.h"

#include <iterator>

#include "testing/random.h"

namespace lava::testing {
namespace {

constexpr uint32_t kPicked = 16;

template <typename T, size_t N>
T Pick(Random* random, const T (&values)[N]) {
  return values[random->Uniform(N)];
}

void Small(DBOptions* o) {
  o->memtable_bytes = 8 << 10;
  o->block_bytes = 128;
  o->index_partition_bytes = 256;
  o->target_file_bytes = 2 << 10;
  o->level1_bytes = 4 << 10;
  o->level_multiplier = 2;
  o->level_count = 4;
  o->l0_compaction_trigger = 2;
  o->l0_stall_trigger = 12;
}

void Draw(Random* random, DBOptions* o) {
  static constexpr uint64_t kMemtables[] = {1, 4 << 10, 8 << 10, 16 << 10, 64 << 10, 1 << 20};
  static constexpr uint32_t kBlocks[] = {1, 64, 128, 512, 4096, 64 << 10};
  static constexpr uint32_t kPartitions[] = {1, 100, 256, 4096, 16384};
  static constexpr uint32_t kFilters[] = {0, 1, 10, 20};
  static constexpr Compression kCodecs[] = {Compression::kNone, Compression::kLz4,
                                            Compression::kZstd};
  static constexpr uint64_t kFiles[] = {1, 1 << 10, 4 << 10, 64 << 10, 32 << 20};
  static constexpr uint64_t kLevel1[] = {1, 4 << 10, 16 << 10, 256 << 10};
  o->memtable_bytes = Pick(random, kMemtables);
  o->block_bytes = Pick(random, kBlocks);
  o->index_partition_bytes = Pick(random, kPartitions);
  o->filter_bits_per_key = Pick(random, kFilters);
  o->compression = Pick(random, kCodecs);
  o->bottom_compression = Pick(random, kCodecs);
  o->target_file_bytes = Pick(random, kFiles);
  o->level1_bytes = Pick(random, kLevel1);
  o->level_multiplier = static_cast<uint32_t>(random->Between(2, 10));
  o->level_count = static_cast<uint32_t>(random->Between(2, 7));
  o->l0_compaction_trigger = static_cast<uint32_t>(random->Between(1, 8));
  o->l0_stall_trigger = o->l0_compaction_trigger + static_cast<uint32_t>(random->Between(1, 20));
  o->sealed_runs_max = static_cast<uint32_t>(random->Between(1, 4));
  o->sync = random->OneIn(3);
}

// The extreme option of each chosen set.
void Stretch(uint32_t index, DBOptions* o) {
  switch (index) {
    case 1:
      o->filter_bits_per_key = 0;
      o->compression = o->bottom_compression = Compression::kNone;
      break;
    case 2:
      o->block_bytes = 4096;
      o->bottom_compression = Compression::kZstd;
      o->target_file_bytes = 64 << 10;
      o->sync = true;
      break;
    case 3:
      o->memtable_bytes = 1;
      o->level_count = 2;
      o->sealed_runs_max = 2;
      break;
    case 4:  // as used in production
      *o = DBOptions();
      break;
    case 5:
      o->block_bytes = 1;
      o->index_partition_bytes = 1;
      break;
    case 6:
      o->block_bytes = 1 << 20;
      o->index_partition_bytes = 1 << 20;
      break;
    case 7:
      o->target_file_bytes = 1;
      break;
    case 8:
      o->level_count = 7;
      o->level1_bytes = 1;
      break;
    case 9:
      o->l0_compaction_trigger = 1;
      o->l0_stall_trigger = 2;
      break;
    case 10:
      o->l0_compaction_trigger = 1000;
      o->l0_stall_trigger = 10000;
      break;
    case 11:
      o->sealed_runs_max = 1;
      o->memtable_bytes = 2 << 10;
      break;
    case 12:
      o->filter_bits_per_key = 30;
      o->compression = o->bottom_compression = Compression::kZstd;
      break;
    default:
      break;
  }
}

}  // namespace

OptionSet OptionSetAt(uint32_t index) {
  OptionSet set;
  set.index = index % kOptionSetCount;
  Random random(1000 + set.index);
  if (set.index < kPicked) {
    if (set.index == 13) set.lease_bytes = 64 << 10;  // a cache of some blocks, tiny memtables
    if (set.index == 14) set.jobs = OptionSet::Jobs::kPriority;
    if (set.index == 12) set.files = OptionSet::Files::kLavaFs;
    if (set.index == 15) set.files = OptionSet::Files::kPosix;
    return set;
  }
  static constexpr uint64_t kLeases[] = {1, 64 << 10, 1 << 20, 8 << 20, 64 << 20, 1 << 30};
  static constexpr double kRatios[] = {0.1, 0.5, 0.9};
  set.lease_bytes = Pick(&random, kLeases);
  set.write_buffer_ratio = Pick(&random, kRatios);
  set.changes_at_reopen = random.OneIn(2);
  if (random.OneIn(3)) set.jobs = OptionSet::Jobs::kPriority;
  if (set.index % 8 == 3) {
    set.jobs = OptionSet::Jobs::kThreads;
    set.threads = static_cast<uint32_t>(random.Between(1, 4));
  }
  // Two of them with threads: real files with concurrent jobs.
  if (set.index % 16 == 5 || set.index % 16 == 3) set.files = OptionSet::Files::kPosix;
  // One of them with threads.
  if (set.index % 8 == 6 || set.index == 43) set.files = OptionSet::Files::kLavaFs;
  set.direct_io = set.index % 32 == 21 || set.index == 51;
  return set;
}

WalMode WalOf(const OptionSet& set) {
  // With a write-ahead log, files and manifest are synced, which would take most of a history's
  // time on a real disk.
  if (set.files == OptionSet::Files::kPosix) return WalMode::kNone;
  if (set.index % 5 == 2) return WalMode::kWal;
  return set.index % 5 == 4 && set.index != 4 ? WalMode::kWalSync : WalMode::kNone;
}

DBOptions OptionsOf(const OptionSet& set, uint32_t opening) {
  DBOptions options;
  if (set.index < kPicked) {
    Small(&options);
    Stretch(set.index, &options);
  } else {
    Random random(uint64_t{set.index} * 1000 + (set.changes_at_reopen ? opening : 0));
    Draw(&random, &options);
    // Syncs of a real disk would take most of a history's time.
    if (set.files == OptionSet::Files::kPosix) options.sync = false;
  }
  options.sync = set.sync.value_or(options.sync);
  options.wal = WalOf(set);
  options.large_value_bytes = set.index % 2 == 0 ? 40 : 0;
  options.partition_bytes = set.index % 4 == 1 ? 2 : 1;
  options.partition_first = 0;
  options.partition_last = 15;
  Random random(uint64_t{set.index} * 2000 + (set.changes_at_reopen ? opening : 0));
  static constexpr uint64_t kValueFiles[] = {1, 200, 4 << 10, 64 << 20};
  static constexpr uint32_t kGarbage[] = {0, 1, 25, 60, 101};
  options.value_file_bytes = Pick(&random, kValueFiles);
  options.collection_garbage_percent = Pick(&random, kGarbage);
  // Enforced only by collections and compactions: the histories' writes never reach a limit in
  // bytes.
  static constexpr uint32_t kRatios[] = {0, 0, 101, 150};
  options.space_high_percent = Pick(&random, kRatios);
  options.space_live_bytes_floor = random.OneIn(2) ? 0 : 10'000;
  static constexpr uint32_t kLowRatios[] = {0, 0, 100};
  options.space_low_percent = options.space_high_percent == 0 ? 0 : Pick(&random, kLowRatios);
  // With threads, a slowed write would wait for a clock that stands still.
  const bool slowed = random.OneIn(4) && set.jobs != OptionSet::Jobs::kThreads;
  options.slowed_bytes_per_second = slowed ? 64 << 10 : 1ull << 40;
  options.collection_jobs_max = static_cast<uint32_t>(random.Uniform(4));
  options.collection_upload_cost_percent = random.OneIn(2) ? 0 : 100;
  static constexpr uint32_t kSortedRuns[] = {0, 1, 1, 8};
  options.value_sorted_runs_max = Pick(&random, kSortedRuns);
  options.value_merge_scan_percent = random.OneIn(2) ? 25 : 1'000'000;
  // Usually the codec with dictionaries.
  options.value_compression = random.OneIn(3) ? options.compression : Compression::kZstd;
  static constexpr ValuePolicy kPolicies[] = {ValuePolicy::kAutomatic, ValuePolicy::kCollect,
                                              ValuePolicy::kMerge, ValuePolicy::kGreedy};
  options.value_policy = Pick(&random, kPolicies);
  options.value_decisions_max = random.OneIn(2) ? 0 : 10;
  return options;
}

uint64_t SeparationOf(const OptionSet& set, uint32_t opening) {
  // A value in the histories has a few bytes, one in twenty some thousands.
  static constexpr uint64_t kSeparations[] = {0, 1, 1, 8, 20, 100, kSeparationAutomatic};
  if (set.index == 0 || set.index == 4) return 0;
  Random random(uint64_t{set.index} * 3000 + (set.changes_at_reopen ? opening : 0));
  return Pick(&random, kSeparations);
}

std::string Describe(const OptionSet& set) {
  const DBOptions o = OptionsOf(set, 0);
  const auto part = [](const char* name, uint64_t value) {
    return std::string(", ") + name + " " + std::to_string(value);
  };
  static constexpr const char* kFiles[] = {"memory, ", "posix, ", "LavaFS, "};
  static constexpr const char* kJobs[] = {"random jobs", "jobs by priority", "threads"};
  return "option set " + std::to_string(set.index) + ": " + kFiles[static_cast<size_t>(set.files)] +
         (set.direct_io ? "direct, " : "") + kJobs[static_cast<size_t>(set.jobs)] +
         part("threads", set.threads) + part("lease", set.lease_bytes) +
         part("memtable", o.memtable_bytes) + part("block", o.block_bytes) +
         part("index partition", o.index_partition_bytes) +
         part("filter bits", o.filter_bits_per_key) + part("target file", o.target_file_bytes) +
         part("level 1", o.level1_bytes) + part("multiplier", o.level_multiplier) +
         part("levels", o.level_count) + part("L0 trigger", o.l0_compaction_trigger) +
         part("stall", o.l0_stall_trigger) + part("sealed runs", o.sealed_runs_max) +
         part("partition bytes", o.partition_bytes) + part("separation", SeparationOf(set, 0)) +
         part("value file", o.value_file_bytes) +
         part("garbage percent", o.collection_garbage_percent) +
         part("value codec", static_cast<uint64_t>(o.value_compression)) +
         part("space percent", o.space_high_percent) + part("from", o.space_low_percent) +
         part("slowed", o.slowed_bytes_per_second) + part("collections", o.collection_jobs_max) +
         part("value policy", static_cast<uint64_t>(o.value_policy)) +
         part("sorted runs", o.value_sorted_runs_max) + (o.sync ? ", sync" : "") +
         (set.changes_at_reopen ? ", changes at reopen" : "");
}

}  // namespace lava::testing
