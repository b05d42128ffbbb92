// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <memory>

#include "base/mutex.h"
#include "cache/block_cache.h"
#include "host/budget_relief.h"
#include "host/job_memory.h"
#include "host/process_parts.h"
#include "host/scheduler.h"
#include "host/space_quota.h"
#include "lava/host.h"
#include "memory/memory_budget.h"
#include "memory/page_pool.h"

namespace lava {

class HostImpl;

/// An instance as its lease sees it: something that can free write-buffer memory by sealing.
class LeaseMember : public MemoryWaiter {
 public:
  /// Bytes that a flush could free after the active memtable is sealed. 0 while flushes of runs
  /// that were sealed before will free more, and sooner. Any thread, no lock.
  virtual uint64_t active_bytes() const = 0;
  /// Asks the instance to seal soon; must not block nor call back into the lease.
  virtual void RequestSeal() = 0;
};

/// The implementation of a lease (lava/host.h), with the counters that instances charge.
/// Threads:    any thread.
/// Ownership:  counters and members must not outlive it; each DB holds a reference.
class LeaseImpl final : public Lease {
 public:
  LeaseImpl(HostImpl* host, uint64_t capacity_bytes, uint64_t write_buffer_bytes);
  ~LeaseImpl() override;

  uint64_t capacity_bytes() const override { return capacity_bytes_; }
  uint64_t write_buffer_bytes() const override;
  uint64_t write_buffer_used_bytes() const override {
    return budget_.counter(MemoryPurpose::kMemtables).used();
  }
  uint64_t used_bytes() const override { return budget_.total().used(); }

  HostImpl* host() const { return host_; }
  /// The slot's budget, a part of the process's.
  MemoryBudget* budget() { return &budget_; }
  JobMemory* job_memory() { return &job_memory_; }

  void Join(LeaseMember* member) LAVA_EXCLUDES(mutex_);
  void Leave(LeaseMember* member) LAVA_EXCLUDES(mutex_);
  /// Number of instances that share the lease now.
  uint32_t member_count() const { return member_count_.load(std::memory_order_relaxed); }
  /// Asks the member with the largest active memtable to seal, if that has at least bytes_min. Does
  /// nothing while another thread does it. Members are examined again only after memtables have
  /// grown by a part of bytes_min, or shrunk.
  void RelievePressure(uint64_t bytes_min) LAVA_EXCLUDES(mutex_);
  /// For a process that is over its budget. If this lease exceeds its limit, and its memtables
  /// their part of it, asks members to seal, the largest first, until these and running flushes
  /// free the excess. Repeated calls do no harm.
  void Relieve() LAVA_EXCLUDES(mutex_);

 private:
  HostImpl* const host_;
  const uint64_t capacity_bytes_, write_buffer_bytes_;
  MemoryBudget budget_;
  JobMemory job_memory_;
  Mutex mutex_;
  std::list<LeaseMember*> members_ LAVA_GUARDED_BY(mutex_);
  std::atomic<uint32_t> member_count_{0};        // size of members_, readable without the lock
  std::atomic<uint64_t> looked_at_{UINT64_MAX};  // memtable bytes when members were last examined
};

/// The state that all instances of the process share.
/// Threads:    any thread.
/// Ownership:  a singleton that is never destroyed (detached state of late closers stays valid).
class HostImpl final : public Host, public PagePool::KeptPagesLimit, private ChargeObserver {
 public:
  explicit HostImpl(const ProcessParts& parts);

  Result<std::shared_ptr<Lease>> Acquire(uint64_t capacity_bytes,
                                         double write_buffer_ratio) override LAVA_EXCLUDES(mutex_);
  HostStatistics statistics() const override LAVA_EXCLUDES(mutex_);
  void SetBackgroundThreads(uint32_t count) override LAVA_EXCLUDES(mutex_);
  void SetBackgroundCpu(double cores) override LAVA_EXCLUDES(mutex_);
  void SetSpaceLimit(uint64_t high_bytes, uint64_t low_bytes) override {
    space_.SetLimit(high_bytes, low_bytes);
  }
  void CountBindingBytes(int64_t bytes) override;
  Result<std::shared_ptr<SharedVolume>> OpenVolume(const std::string& directory,
                                                   const VolumeOptions& options,
                                                   std::vector<std::string>* left_behind) override {
    return volumes_->Open(directory, options, left_behind);
  }
  Result<PinnedFiles> OpenPinned(const std::string& marker, const VolumeOptions& options) override {
    return volumes_->OpenPinned(marker, options);
  }
  Result<uint32_t> RemoveStaleVolumes(const std::string& directory) override {
    return volumes_->RemoveStale(directory);
  }

  /// The unused budget plus a small part of the capacity.
  uint64_t KeptBytesMax() const override;

  BlockCache* cache() { return cache_.get(); }
  SpaceQuota* space() { return &space_; }
  WalOpener* wals() { return wals_.get(); }
  /// An instance's client of the common scheduler. The first InstanceOpened() makes the scheduler,
  /// the last InstanceClosed() drops it.
  std::unique_ptr<os::Executor> InstanceOpened() LAVA_EXCLUDES(mutex_, heap_mutex_);
  void InstanceClosed(std::unique_ptr<os::Executor> client) LAVA_EXCLUDES(mutex_, heap_mutex_);

  /// For tests: whether a thread gives back free heap now, and so may hold malloc's lock.
  bool gives_back_heap() const { return heap_asked_for_; }
  /// For tests: asked before each charge that may be refused; null: none. Must outlive its use.
  void SetChargeObserver(ChargeObserver* observer) { charge_observer_ = observer; }

 private:
  using SteadyClock = std::chrono::steady_clock;
  friend class LeaseImpl;
  void LeaseEnded(LeaseImpl* lease) LAVA_EXCLUDES(mutex_);
  void ResizeCache() LAVA_REQUIRES(mutex_);
  bool IsWithinBudget() const LAVA_REQUIRES(mutex_);
  bool Relieve() LAVA_EXCLUDES(mutex_);
  void Charged() override;
  bool Allows(uint64_t bytes) override;
  void GiveBackHeap() LAVA_EXCLUDES(heap_mutex_);
  void GiveBackHeapNow();
  uint64_t CachedInHeap() const;
  void RunJob(std::function<void()> job) LAVA_EXCLUDES(mutex_);

  // All charges except the cache's, which gets the rest of the leases' capacity. Only users of the
  // host charge it, so cache_ exists by then.
  MemoryBudget budget_{nullptr, this};
  JobMemory::Totals job_memory_totals_;
  SpaceQuota space_;
  std::atomic<ChargeObserver*> charge_observer_{nullptr};
  std::unique_ptr<BlockCache> cache_;
  mutable Mutex mutex_;
  std::unique_ptr<Scheduler> scheduler_ LAVA_GUARDED_BY(mutex_);
  std::unique_ptr<os::Executor> own_jobs_ LAVA_GUARDED_BY(mutex_);  // of volumes and logs
  Scheduler::Totals job_totals_;
  uint32_t threads_ LAVA_GUARDED_BY(mutex_) = 2;
  double cpu_cores_ LAVA_GUARDED_BY(mutex_) = 0;
  uint32_t instances_open_ LAVA_GUARDED_BY(mutex_) = 0;
  std::list<LeaseImpl*> leases_ LAVA_GUARDED_BY(mutex_);
  std::atomic<uint64_t> capacity_bytes_{0};   // of all leases
  std::atomic<uint64_t> heap_peak_bytes_{0};  // largest CachedInHeap() since free heap went back
  std::unique_ptr<BudgetRelief> relief_ LAVA_GUARDED_BY(mutex_);  // until the last instance closes
  std::atomic<bool> heap_asked_for_{false};
  std::atomic<SteadyClock::time_point> next_heap_look_{};  // earliest time to give back free heap
  // A leaf: a thread that charges may hold any other lock.
  Mutex heap_mutex_ LAVA_ACQUIRED_AFTER(mutex_);
  // Exists from the first instance to the last.
  std::unique_ptr<BudgetRelief> heap_relief_ LAVA_GUARDED_BY(heap_mutex_);
  const std::unique_ptr<WalOpener> wals_;
  const std::unique_ptr<VolumeOpener> volumes_;
};

/// The implementation behind a lease: there is only one.
inline LeaseImpl* Impl(Lease* lease) { return static_cast<LeaseImpl*>(lease); }

}  // namespace lava
