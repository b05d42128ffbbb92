// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/instance_context.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/guarded.h"
#include "db/close_guard.h"
#include "db/counters.h"
#include "db/environment.h"
#include "db/event_notifier.h"
#include "fs/file_system.h"
#include "fs/open_file_limit.h"
#include "fs/posix_file_system.h"
#include "host/host_impl.h"
#include "host/space_quota.h"
#include "job/job_context.h"
#include "lava/options.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "memory/memory_counter.h"
#include "os/executor.h"

namespace lava {
namespace {

constexpr uint64_t kMemtableBytesMin = 1 << 20;
constexpr uint64_t kMemtableBytesDefaultMax = 64 << 20;
// An arena numbers its chunks with 15 bits, and a large value takes a chunk for itself.
constexpr uint64_t kMemtableBytesMax = 1 << 30;

// The index of a new file is put into the cache at once if it takes at most kWarmBytesMax bytes and
// at most 1/kWarmShare of the cache.
constexpr uint64_t kWarmBytesMax = 4 << 20, kWarmShare = 16;
// The drop caches of all instances of a lease take at most 1/kDropCacheShare of the lease.
constexpr uint64_t kDropCacheShare = 64;

uint64_t MemtableLimitOf(const DBOptions& options, const LeaseImpl& lease) {
  if (options.memtable_bytes != 0) return options.memtable_bytes;
  return std::max(kMemtableBytesMin,
                  std::min(kMemtableBytesDefaultMax, lease.write_buffer_bytes() / 2));
}

// A file system of the instance's own, so that the instance can count files that refuse direct I/O.
// Null: no direct I/O was requested.
std::unique_ptr<fs::FileSystem> DirectFiles(const DBOptions& options) {
  const fs::PosixOptions direct{.direct_reads = options.use_direct_reads,
                                .direct_writes = options.use_direct_io_for_flush_and_compaction};
  const bool elsewhere = options.volume != nullptr || options.file_system != nullptr;
  if (elsewhere || (!direct.direct_reads && !direct.direct_writes)) return nullptr;
  return fs::NewPosixFileSystem(fs::OpenFileLimit::Process(), direct);
}

// The size up to which a value stays in memory.
uint64_t ValueInMemoryOf(const DBEnvironment& environment, uint64_t memtable_bytes_max) {
  if (environment.value_in_memory_bytes_max != 0) return environment.value_in_memory_bytes_max;
  return std::max(kValueInMemoryAlways, memtable_bytes_max / kValueMemtableShare);
}

// The space limit of the volume, or that of the process if it is set and smaller.
SpaceQuota* QuotaOf(const DBOptions& options, LeaseImpl* lease) {
  SpaceQuota* const process = lease->host()->space();
  if (options.volume == nullptr) return process;
  SpaceQuota* const volume = static_cast<LimitedVolume*>(options.volume.get())->quota();
  if (!volume->limited()) return process;
  const bool process_is_smaller =
      process->limited() && process->statistics().limit_bytes < volume->statistics().limit_bytes;
  return process_is_smaller ? process : volume;
}

Status CheckOptions(const DBOptions& options) {
  if (options.partition_bytes != 1 && options.partition_bytes != 2)
    return Status::InvalidArgument("options.partition_bytes must be 1 or 2, not " +
                                   std::to_string(options.partition_bytes));
  if (options.volume != nullptr && options.file_system != nullptr)
    return Status::InvalidArgument("options.volume and options.file_system cannot both be set");
  const uint32_t partition_max = (1u << (8 * options.partition_bytes)) - 1;
  if (options.partition_first > options.partition_last || options.partition_last > partition_max)
    return Status::InvalidArgument("options.partition_first " +
                                   std::to_string(options.partition_first) + " to " +
                                   std::to_string(options.partition_last) +
                                   " is no range within 0 to " + std::to_string(partition_max));
  if (options.level_count < 2 || options.level_count > kLevelCountMax)
    return Status::InvalidArgument("options.level_count must be 2 to " +
                                   std::to_string(kLevelCountMax) + ", not " +
                                   std::to_string(options.level_count));
  if (options.sealed_runs_max == 0 || options.l0_compaction_trigger == 0 ||
      options.l0_stall_trigger <= options.l0_compaction_trigger)
    return Status::InvalidArgument(
        "options.sealed_runs_max and l0_compaction_trigger must be at least 1, and "
        "l0_stall_trigger above l0_compaction_trigger");
  if (options.block_bytes == 0 || options.index_partition_bytes == 0 ||
      options.target_file_bytes == 0 || options.level1_bytes == 0 || options.level_multiplier < 2)
    return Status::InvalidArgument(
        "options.block_bytes, index_partition_bytes, target_file_bytes and level1_bytes must be "
        "above 0, level_multiplier above 1");
  if ((options.space_high_percent > 0 && options.space_high_percent <= 100) ||
      options.slowed_bytes_per_second == 0)
    return Status::InvalidArgument(
        "options.space_high_percent must be 0 or above 100, and slowed_bytes_per_second above 0");
  if (options.memtable_bytes > kMemtableBytesMax)
    return Status::InvalidArgument("options.memtable_bytes must be at most " +
                                   std::to_string(kMemtableBytesMax) + ", not " +
                                   std::to_string(options.memtable_bytes));
  return Status::OK();
}

}  // namespace

fs::FileSystem* FileSystemOf(const DBOptions& options, fs::FileSystem* direct) {
  if (options.volume != nullptr) return options.volume->file_system();
  if (options.file_system != nullptr) return options.file_system;
  return direct != nullptr ? direct : fs::FileSystem::Posix();
}

InstanceContext::InstanceContext(const DBOptions& of_instance, std::string directory,
                                 const DBEnvironment& of_tests)
    : options(of_instance),
      path(std::move(directory)),
      environment(of_tests),
      notifier(std::make_shared<EventNotifier>(options.listeners, path)),
      own_files(DirectFiles(options)),
      files(FileSystemOf(options, own_files.get())),
      clock(environment.clock != nullptr ? environment.clock : Clock::System()),
      lease_owner(options.lease),
      lease(Impl(options.lease.get())),
      quota(QuotaOf(options, lease)),
      budget(lease->budget()),
      executor(environment.executor),
      memtable_bytes_max(MemtableLimitOf(options, *lease)),
      value_in_memory_bytes_max(ValueInMemoryOf(environment, memtable_bytes_max)) {}

Status InstanceContext::Open() {
  LAVA_RETURN_IF_ERROR(CheckOptions(options));
  if (executor == nullptr) {
    own_executor = lease->host()->InstanceOpened();
    executor = own_executor.get();
  }
  return Status::OK();
}

void InstanceContext::Close() {
  if (own_executor != nullptr) lease->host()->InstanceClosed(std::move(own_executor));
}

uint64_t InstanceContext::KeptIndexBytes() const {
  return std::min(kWarmBytesMax, lease->host()->cache()->capacity_bytes() / kWarmShare);
}

JobContext InstanceContext::MakeJobContext(uint32_t output_level) {
  JobContext context;
  context.file_system = files;
  context.directory = path;
  context.cache = lease->host()->cache();
  context.counter = budget.counter(MemoryPurpose::kReaders);
  context.read_counters = &read_counters;
  context.cancelled = &cancelled;
  context.pacer = executor->pacer();
  context.list_bytes_max = environment.list_bytes_max;
  context.writer.value_bytes_max = environment.list_bytes_max;
  context.inline_bytes_max = value_in_memory_bytes_max;
  context.writer.block_bytes = options.block_bytes;
  context.writer.index_partition_bytes = options.index_partition_bytes;
  context.writer.filter_bits_per_key = options.filter_bits_per_key;
  context.writer.compression =
      output_level + 1 >= options.level_count ? options.bottom_compression : options.compression;
  context.writer.partition_bytes = options.partition_bytes;
  context.writer.sync = syncs();
  context.writer.kept_index_partition_bytes = KeptIndexBytes();
  context.value_writer.sync = syncs();
  context.value_writer.compression = options.value_compression;
  context.value_writer.dictionary = environment.value_dictionary;
  context.value_file_bytes = options.value_file_bytes;
  context.value_read_counters = &value_read_counters;
  drop_cache.SetBytesMax(lease->capacity_bytes() / kDropCacheShare /
                         std::max(lease->member_count(), 1u));
  context.drop_cache = &drop_cache;
  return context;
}

void InstanceContext::Submit(os::Priority priority, std::function<void()> job) {
  CloseGuard::Use submitting(close_guard.get());
  if (!submitting) return;
  executor->Submit(priority, [this, guard = close_guard, job = std::move(job)] {
    CloseGuard::Use use(guard.get());
    if (!use) return;
    // Flushes, compactions and collections do not throw, so a job that throws is one that is
    // requested again.
    if (!Tried(job)) Counters::Add(&counters.background_errors, 1);
    notifier->Deliver();
  });
}

bool InstanceContext::TrySubmit(os::Priority priority, std::function<void()> job) noexcept {
  return Tried([&] { Submit(priority, std::move(job)); });
}

void InstanceContext::RetryThreads() {
  CloseGuard::Use use(close_guard.get());
  if (use) executor->RetryThreads();
}

void InstanceContext::MakeUrgent(os::Priority priority) {
  CloseGuard::Use use(close_guard.get());
  if (use) executor->MakeUrgent(priority);
}

uint32_t InstanceContext::ThreadCount() const {
  CloseGuard::Use use(close_guard.get());
  return use ? executor->thread_count() : 1;
}

}  // namespace lava
