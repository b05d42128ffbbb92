// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "lava/host.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/mutex.h"
#include "cache/block_cache.h"
#include "host/budget_relief.h"
#include "host/host_impl.h"
#include "host/process_parts.h"
#include "host/scheduler.h"
#include "host/space_quota.h"
#include "lava/status.h"
#include "memory/free_heap.h"
#include "memory/memory_budget.h"
#include "memory/memory_counter.h"
#include "memory/page_pool.h"
#include "memory/slot_heap.h"
#include "os/clock.h"
#include "os/executor.h"
#include "policy/working_sets.h"

namespace lava {

namespace {

// 1 / kUncountedShare is left to the allocator's overhead and to memory too small to be counted.
constexpr uint64_t kUncountedShare = 16;
// 1 / kKeptShare may be pages that memtables gave back and will take again, in addition to the
// unused budget.
constexpr uint64_t kKeptShare = 32;
constexpr uint64_t kKeptLeastMin = 1 << 20;
// A walk through the heap pays once the cache has shrunk by 1 / kHeapShare of the capacity.
constexpr uint64_t kHeapShare = 32;
// While charges come and go, free heap is given back at most this often, which may take at most
// 1 / kHeapTimeShare of a processor's time.
constexpr auto kHeapInterval = std::chrono::milliseconds(100);
constexpr int kHeapTimeShare = 100;
constexpr uint64_t kLooksPerSeal = 8;
// Capacity of an ended lease from which on a walk through the heap pays.
constexpr uint64_t kTrimmedBytesMin = 16 << 20;
// However much other memory is used, memtables get 1 / kMemtablesFloorShare of their share.
constexpr uint64_t kMemtablesFloorShare = 4;

// The part of a capacity that may be charged.
uint64_t Chargeable(uint64_t capacity_bytes) {
  return capacity_bytes - capacity_bytes / kUncountedShare;
}

CacheSegmentStatistics FiguresOf(const BlockCache::SegmentStatistics& segment) {
  return {segment.used_bytes, segment.hits, segment.misses, segment.evictions};
}

}  // namespace

LeaseImpl::LeaseImpl(HostImpl* host, uint64_t capacity_bytes, uint64_t write_buffer_bytes)
    : host_(host),
      capacity_bytes_(capacity_bytes),
      write_buffer_bytes_(write_buffer_bytes),
      budget_(&host->budget_),
      job_memory_(&host->job_memory_totals_) {
  budget_.SetLimit(Chargeable(capacity_bytes));
}

// If memory is too short for it now, the end of the next lease makes up for it.
LeaseImpl::~LeaseImpl() {
  (void)Tried([this] { host_->LeaseEnded(this); });
}

uint64_t LeaseImpl::write_buffer_bytes() const {
  const uint64_t memtables = write_buffer_used_bytes();
  const uint64_t others = budget_.total().used() - std::min(budget_.total().used(), memtables);
  const uint64_t left = budget_.limit() - std::min(budget_.limit(), others);
  return std::clamp(left, write_buffer_bytes_ / kMemtablesFloorShare, write_buffer_bytes_);
}

void LeaseImpl::Join(LeaseMember* member) {
  MutexLock lock(&mutex_);
  members_.push_back(member);
  member_count_ = static_cast<uint32_t>(members_.size());
}

void LeaseImpl::Leave(LeaseMember* member) {
  MutexLock lock(&mutex_);
  members_.remove(member);
  member_count_ = static_cast<uint32_t>(members_.size());
}

void LeaseImpl::RelievePressure(uint64_t bytes_min) {
  const uint64_t used = write_buffer_used_bytes();
  const uint64_t looked_at = looked_at_.load(std::memory_order_relaxed);
  if (used >= looked_at && used - looked_at < bytes_min / kLooksPerSeal) return;
  if (!mutex_.TryLock()) return;
  looked_at_.store(used, std::memory_order_relaxed);
  LeaseMember* largest = nullptr;
  uint64_t largest_bytes = bytes_min;
  for (LeaseMember* member : members_) {
    const uint64_t bytes = member->active_bytes();
    if (bytes < largest_bytes) continue;
    largest = member;
    largest_bytes = bytes;
  }
  if (largest != nullptr) largest->RequestSeal();
  mutex_.Unlock();  // nothing above throws
}

void LeaseImpl::Relieve() {
  const uint64_t used = write_buffer_used_bytes(), share = write_buffer_bytes();
  if (used_bytes() <= budget_.limit() || used <= share) return;
  MutexLock lock(&mutex_);
  std::vector<std::pair<uint64_t, LeaseMember*>> active;
  uint64_t going = used;  // without active memtables: flushes will free it
  for (LeaseMember* member : members_) {
    const uint64_t bytes = member->active_bytes();
    going -= std::min(going, bytes);
    if (bytes > 0) active.emplace_back(bytes, member);
  }
  std::sort(active.rbegin(), active.rend());
  for (const auto& [bytes, member] : active) {
    if (used <= going + share) return;
    member->RequestSeal();  // done only if that is worth a flush
    going += bytes;
  }
}

HostImpl::HostImpl(const ProcessParts& parts)
    : cache_(BlockCache::Create(0, &budget_.total(), this)),
      wals_(parts.wals(budget_.counter(MemoryPurpose::kMetadata),
                       [this](std::function<void()> job) { RunJob(std::move(job)); })),
      volumes_(parts.volumes(
          budget_.counter(MemoryPurpose::kFileBuffers),
          [this](std::function<void()> job) { RunJob(std::move(job)); }, &space_)) {}

Result<std::shared_ptr<Lease>> HostImpl::Acquire(uint64_t capacity_bytes,
                                                 double write_buffer_ratio) {
  if (!(write_buffer_ratio > 0.0 && write_buffer_ratio < 1.0)) {
    return Status::InvalidArgument("lease: the write buffer ratio must be between 0 and 1, not " +
                                   std::to_string(write_buffer_ratio));
  }
  if (capacity_bytes == 0) return Status::InvalidArgument("lease: the capacity must not be 0");
  const auto write_buffer_bytes =
      static_cast<uint64_t>(std::floor(static_cast<double>(capacity_bytes) * write_buffer_ratio));
  auto lease = std::make_shared<LeaseImpl>(this, capacity_bytes, write_buffer_bytes);
  MutexLock lock(&mutex_);
  leases_.push_back(lease.get());
  capacity_bytes_ += capacity_bytes;
  ResizeCache();
  return std::shared_ptr<Lease>(std::move(lease));
}

void HostImpl::LeaseEnded(LeaseImpl* lease) {
  const uint64_t peak = std::max<uint64_t>(heap_peak_bytes_, CachedInHeap());
  {
    MutexLock lock(&mutex_);
    leases_.remove(lease);
    capacity_bytes_ -= lease->capacity_bytes();
    ResizeCache();
    // Without instances nothing can be given back, and no thread may remain.
    if (!IsWithinBudget() && instances_open_ > 0) {
      if (relief_ == nullptr)
        relief_ = std::make_unique<BudgetRelief>([this] { return Relieve(); });
      relief_->Start();
    }
  }
  // The cache's small blocks come from malloc, which would otherwise keep their memory.
  if (lease->capacity_bytes() >= kTrimmedBytesMin &&
      peak > CachedInHeap() + lease->capacity_bytes() / kHeapShare) {
    GiveBackHeapNow();
  }
}

// With the last lease the capacity becomes 0, and the cache releases all blocks.
void HostImpl::ResizeCache() {
  const uint64_t chargeable = Chargeable(capacity_bytes_);
  // Reserved for the flushes that may run at once, see JobMemory.
  const uint64_t reserve = std::min(threads_ * kFlushJobBytes, capacity_bytes_ / kUncountedShare);
  budget_.SetLimit(chargeable - reserve);
  cache_->SetCapacity(chargeable);
  PagePool::Process().Fit();
}

void HostImpl::Charged() {
  cache_->Trim();
  const uint64_t in_heap = CachedInHeap();
  uint64_t peak = heap_peak_bytes_.load(std::memory_order_relaxed);
  while (in_heap > peak && !heap_peak_bytes_.compare_exchange_weak(peak, in_heap)) continue;
  PagePool::Process().Fit();
  const uint64_t capacity = capacity_bytes_.load(std::memory_order_relaxed);
  const uint64_t others = budget_.total().used() + cache_->used_bytes() - in_heap;
  const uint64_t resident = others + peak + peak / kUncountedShare;
  const bool has_shrunk = peak > in_heap + capacity / kHeapShare && resident > capacity;
  if (has_shrunk || SteadyClock::now() >= next_heap_look_.load(std::memory_order_relaxed))
    GiveBackHeap();
}

// Small blocks that the cache evicts stay resident as malloc's free memory. So does memory that
// other parts of the process free: the JVM's stream buffers are as large as the data written.
// Nobody is charged for that memory, so it goes back to the system a few times a second.
void HostImpl::GiveBackHeapNow() {
  // CPU time, because on a busy machine an interrupted call would delay the next one by seconds.
  const uint64_t began_us = os::ThreadCpuMicros();
  SlotHeap::Process().GiveBackFree();
  GiveBackFreeHeap();
  const std::chrono::microseconds used(os::ThreadCpuMicros() - began_us);
  next_heap_look_ =
      SteadyClock::now() + std::max<SteadyClock::duration>(kHeapInterval, kHeapTimeShare * used);
  heap_peak_bytes_ = CachedInHeap();
}

// The cache's bytes that do not come from the page pool: blocks of less than SlotHeap::kBytesMin.
// An estimate: pool pages that belong neither to memtables nor to the cache hide some of them.
uint64_t HostImpl::CachedInHeap() const {
  const uint64_t cached = cache_->used_bytes();
  const uint64_t both = cached + budget_.counter(MemoryPurpose::kMemtables).used();
  return std::min(cached, both - std::min(both, PagePool::Process().used_bytes()));
}

// Uses another thread, because the caller may hold locks.
void HostImpl::GiveBackHeap() {
  if (heap_asked_for_.exchange(true)) return;
  MutexLock lock(&heap_mutex_);
  if (heap_relief_ == nullptr || !heap_relief_->Start()) heap_asked_for_ = false;
}

uint64_t HostImpl::KeptBytesMax() const {
  const uint64_t capacity = capacity_bytes_.load(std::memory_order_relaxed);
  // Charged memory is not all from the pool, and the pool's memory is not all charged. Memory that
  // the cache once had from malloc may still be resident.
  const uint64_t charged = budget_.total().used() + cache_->used_bytes();
  const uint64_t peak = heap_peak_bytes_.load(std::memory_order_relaxed);
  const uint64_t in_heap = peak + peak / kUncountedShare;
  const uint64_t used = std::max(charged, PagePool::Process().used_bytes() + in_heap);
  const uint64_t most = Chargeable(capacity) + capacity / kKeptShare;
  // Some pages may always stay, so that memory that comes and goes does not fault each time.
  const uint64_t least = capacity == 0 ? PagePool::kKeptBytesMin
                                       : std::clamp<uint64_t>(capacity / kKeptShare, kKeptLeastMin,
                                                              PagePool::kKeptBytesMin);
  return std::max(most - std::min(most, used), least);
}

bool HostImpl::IsWithinBudget() const {
  return budget_.total().used() + cache_->used_bytes() <= Chargeable(capacity_bytes_);
}

// A step of relief_. Pinned blocks of the cache can be evicted once they are unpinned. Nobody else
// seals memtables that only idle instances have.
bool HostImpl::Relieve() {
  cache_->Trim();
  MutexLock lock(&mutex_);
  if (IsWithinBudget()) return true;
  for (LeaseImpl* lease : leases_) lease->Relieve();
  return false;
}

bool HostImpl::Allows(uint64_t bytes) {
  ChargeObserver* const observer = charge_observer_.load();
  return observer == nullptr || observer->Allows(bytes);
}

std::unique_ptr<os::Executor> HostImpl::InstanceOpened() {
  MutexLock lock(&mutex_);
  if (scheduler_ == nullptr) {
    scheduler_ = std::make_unique<Scheduler>(threads_, Scheduler::Setup{.totals = &job_totals_});
    scheduler_->SetCpu(cpu_cores_);
    own_jobs_ = scheduler_->NewClient();
    MutexLock heap(&heap_mutex_);
    heap_relief_ = std::make_unique<BudgetRelief>([this] {
      GiveBackHeapNow();
      heap_asked_for_ = false;
      return true;
    });
  }
  ++instances_open_;
  return scheduler_->NewClient();
}

void HostImpl::InstanceClosed(std::unique_ptr<os::Executor> client) {
  client.reset();
  std::unique_ptr<Scheduler> last;
  std::unique_ptr<os::Executor> last_jobs;
  std::unique_ptr<BudgetRelief> relief, heap_relief;
  {
    MutexLock lock(&mutex_);
    if (--instances_open_ > 0) return;
    last = std::move(scheduler_);
    last_jobs = std::move(own_jobs_);
    relief = std::move(relief_);
    MutexLock heap(&heap_mutex_);
    heap_relief = std::move(heap_relief_);
    heap_asked_for_ = false;
  }
  // Without the lock, because dropped jobs of volumes run here, and threads are waited for.
  last_jobs.reset();
}

void HostImpl::SetBackgroundThreads(uint32_t count) {
  MutexLock lock(&mutex_);
  threads_ = std::max(count, 1u);
  if (scheduler_ != nullptr) scheduler_->SetThreadCount(threads_);
  ResizeCache();
}

void HostImpl::SetBackgroundCpu(double cores) {
  MutexLock lock(&mutex_);
  cpu_cores_ = std::isfinite(cores) && cores > 0 ? cores : 0;
  if (scheduler_ != nullptr) scheduler_->SetCpu(cpu_cores_);
}

void HostImpl::RunJob(std::function<void()> job) {
  {
    MutexLock lock(&mutex_);
    if (own_jobs_ != nullptr) {
      own_jobs_->Submit(os::Priority::kCompaction, std::move(job));
      return;
    }
  }
  job();  // there is no instance, and so no thread
}

void HostImpl::CountBindingBytes(int64_t bytes) {
  MemoryCounter* const counter = budget_.counter(MemoryPurpose::kBindings);
  if (bytes >= 0) {
    counter->Charge(static_cast<uint64_t>(bytes));
  } else {
    counter->Release(static_cast<uint64_t>(-bytes));
  }
}

HostStatistics HostImpl::statistics() const {
  HostStatistics out;
  const BlockCache::Statistics cache = cache_->statistics();
  out.cache_capacity_bytes = cache.capacity_bytes;
  out.cache_used_bytes = cache.used_bytes();
  out.cache_pinned_bytes = cache.pinned_bytes;
  out.cache_hits = cache.hits();
  out.cache_misses = cache.misses();
  out.cache_index = FiguresOf(cache.index);
  out.cache_data = FiguresOf(cache.data);
  out.cache_index_bytes_max = cache.index_bytes_max;
  const auto used = [this](MemoryPurpose purpose) { return budget_.counter(purpose).used(); };
  out.memtable_bytes = used(MemoryPurpose::kMemtables);
  out.table_reader_bytes = used(MemoryPurpose::kReaders);
  out.metadata_bytes = used(MemoryPurpose::kMetadata);
  out.scan_bytes = used(MemoryPurpose::kScans);
  out.flush_job_bytes = used(MemoryPurpose::kFlushes);
  out.compaction_job_bytes = used(MemoryPurpose::kCompactions);
  out.collection_job_bytes = used(MemoryPurpose::kCollections);
  out.file_buffer_bytes = used(MemoryPurpose::kFileBuffers);
  out.binding_bytes = used(MemoryPurpose::kBindings);
  const SpaceQuota::Statistics space = space_.statistics();
  out.space_used_bytes = space.used_bytes;
  out.space_live_bytes = space.live_bytes;
  out.space_limit_bytes = space.limit_bytes;
  MutexLock lock(&mutex_);  // the budget must match these charges
  // Memory moves between the cache and other charges meanwhile, and must not count twice.
  const uint64_t before = budget_.charged();
  out.cache_used_bytes = cache_->used_bytes();
  out.charged_bytes = std::min(before, budget_.charged()) + out.cache_used_bytes;
  out.jobs_put_off = job_memory_totals_.put_off.load(std::memory_order_relaxed);
  out.memory_overdrafts = job_memory_totals_.overdrafts.load(std::memory_order_relaxed);
  out.page_refusals = PagePool::Process().statistics().refusals;
  out.budget_bytes = capacity_bytes_;
  if (!leases_.empty())
    out.over_budget_bytes = out.charged_bytes - std::min(out.charged_bytes, out.budget_bytes);
  out.instances_open = instances_open_;
  out.leases_open = static_cast<uint32_t>(leases_.size());
  out.background_cpu_us = job_totals_.cpu_us.load(std::memory_order_relaxed);
  out.background_paced_us = job_totals_.paced_us.load(std::memory_order_relaxed);
  if (scheduler_ == nullptr) return out;
  out.threads = scheduler_->thread_count();
  const Scheduler::Queued queued = scheduler_->queued();
  out.queued_urgent_jobs = queued.urgent;
  std::tie(out.queued_flushes, out.queued_l0_compactions, out.queued_compactions,
           out.queued_collections) = std::tuple_cat(queued.others);
  return out;
}

}  // namespace lava
