#include <algorithm>
#include <cmath>

#include "host/host_impl.h"

namespace lava {

namespace {

// One part in so many is left to the buffers of flushes and compactions.
constexpr uint64_t kJobBuffersShare = 16;

CacheSegmentStatistics FiguresOf(const BlockCache::SegmentStatistics& segment) {
  return {segment.used_bytes, segment.hits, segment.misses, segment.evictions};
}

}  // namespace

LeaseImpl::LeaseImpl(HostImpl* host, uint64_t capacity_bytes, uint64_t write_buffer_bytes)
    : host_(host),
      capacity_bytes_(capacity_bytes),
      write_buffer_bytes_(write_buffer_bytes),
      memtables_(&host->memtables_),
      readers_(&host->readers_) {}

LeaseImpl::~LeaseImpl() { host_->LeaseEnded(*this); }

void LeaseImpl::Join(LeaseMember* member) {
  std::lock_guard<std::mutex> lock(mutex_);
  members_.push_back(member);
  member_count_ = static_cast<uint32_t>(members_.size());
}

void LeaseImpl::Leave(LeaseMember* member) {
  std::lock_guard<std::mutex> lock(mutex_);
  members_.remove(member);
  member_count_ = static_cast<uint32_t>(members_.size());
}

void LeaseImpl::RelievePressure(uint64_t bytes_min) {
  std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock) return;
  LeaseMember* largest = nullptr;
  uint64_t largest_bytes = bytes_min;
  for (LeaseMember* member : members_) {
    const uint64_t bytes = member->active_bytes();
    if (bytes < largest_bytes) continue;
    largest = member;
    largest_bytes = bytes;
  }
  if (largest != nullptr) largest->RequestSeal();
}

Host& Host::Get() {
  // Never destroyed: instances may be closed by threads that outlive main().
  static HostImpl* const host = new HostImpl();
  return *host;
}

HostImpl::HostImpl() : cache_(BlockCache::Create(0, &others_)) {}

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
  std::lock_guard<std::mutex> lock(mutex_);
  ++leases_open_;
  capacity_bytes_ += capacity_bytes;
  ResizeCache();
  return std::shared_ptr<Lease>(std::move(lease));
}

void HostImpl::LeaseEnded(const LeaseImpl& lease) {
  std::lock_guard<std::mutex> lock(mutex_);
  --leases_open_;
  capacity_bytes_ -= lease.capacity_bytes();
  ResizeCache();
}

// Caller holds mutex_. With the last lease the capacity is 0 and the cache lets go of all blocks.
void HostImpl::ResizeCache() {
  cache_->SetCapacity(capacity_bytes_ - capacity_bytes_ / kJobBuffersShare);
}

os::Executor* HostImpl::InstanceOpened() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (executor_ == nullptr) executor_ = os::Executor::ThreadPool(threads_);
  ++instances_open_;
  return executor_.get();
}

void HostImpl::InstanceClosed() {
  std::unique_ptr<os::Executor> last;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (--instances_open_ == 0) last = std::move(executor_);
  }
  // Destroyed without the lock: it waits for its threads.
}

void HostImpl::SetBackgroundThreads(uint32_t count) {
  std::lock_guard<std::mutex> lock(mutex_);
  threads_ = std::max(count, 1u);
  if (executor_ != nullptr) executor_->SetThreadCount(threads_);
}

void HostImpl::RunInBackground(std::function<void()> job) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (executor_ != nullptr) {
      executor_->Submit(os::Priority::kCompaction, std::move(job));
      return;
    }
  }
  job();  // there is no instance, and so no thread
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
  out.memtable_bytes = memtables_.used();
  out.table_reader_bytes = readers_.used();
  out.file_buffer_bytes = file_buffers_.used();
  out.charged_bytes =
      out.memtable_bytes + out.table_reader_bytes + out.file_buffer_bytes + out.cache_used_bytes;
  std::lock_guard<std::mutex> lock(mutex_);
  out.instances_open = instances_open_;
  out.leases_open = leases_open_;
  out.threads = executor_ != nullptr ? executor_->thread_count() : 0;
  return out;
}

}  // namespace lava
