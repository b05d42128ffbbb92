// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "testing/mem_disk.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "fs/direct_io.h"
#include "testing/random.h"

namespace lava::testing {

class MemBegunWrite : public fs::BegunWrite {
 public:
  MemBegunWrite(MemDisk* disk, fs::BlockDevice* device, uint64_t offset, Slice data)
      : disk_(disk), device_(device), offset_(offset), data_(data) {
    std::lock_guard<std::mutex> lock(disk_->mutex_);
    disk_->begun_.emplace_back(offset_, data_.size());
    disk_->writes_begun_++;
  }
  ~MemBegunWrite() override { LAVA_CHECK(is_finished_); }
  Status Finish() override {
    LAVA_CHECK(!std::exchange(is_finished_, true));
    {
      std::lock_guard<std::mutex> lock(disk_->mutex_);
      std::erase(disk_->begun_, std::pair<uint64_t, uint64_t>(offset_, data_.size()));
    }
    return device_->Write(offset_, data_);
  }

 private:
  MemDisk* const disk_;
  fs::BlockDevice* const device_;
  const uint64_t offset_;
  const Slice data_;
  bool is_finished_ = false;
};

class MemBlockDevice : public fs::BlockDevice {
 public:
  explicit MemBlockDevice(MemDisk* disk) : disk_(disk) {}

  Status Read(uint64_t offset, size_t length, char* to) override {
    LAVA_CHECK(IsAligned(offset, length, to));
    std::lock_guard<std::mutex> lock(disk_->mutex_);
    if (offset > disk_->content_.size() || length > disk_->content_.size() - offset) {
      return Status::Corruption("read " + std::to_string(length) + " bytes at offset " +
                                std::to_string(offset) + " of disk: it ends before");
    }
    std::memcpy(to, disk_->content_.data() + offset, length);
    disk_->largest_bytes_ = std::max<uint64_t>(disk_->largest_bytes_, length);
    return Status::OK();
  }

  Status Write(uint64_t offset, Slice data) override {
    LAVA_CHECK(IsAligned(offset, data.size(), data.data()));
    return disk_->Mutate("write at offset " + std::to_string(offset), [&] {
      for (const auto& [at, bytes] : disk_->begun_)
        LAVA_CHECK(at >= offset + data.size() || offset >= at + bytes);
      LAVA_CHECK(offset + data.size() <= disk_->content_.size());
      std::memcpy(disk_->content_.data() + offset, data.data(), data.size());
      if (disk_->may_crash_) disk_->unsynced_.push_back({offset, std::string(data)});
      disk_->bytes_written_ += data.size();
      disk_->largest_bytes_ = std::max<uint64_t>(disk_->largest_bytes_, data.size());
      return Status::OK();
    });
  }

  std::unique_ptr<fs::BegunWrite> BeginWrite(uint64_t offset, Slice data) override {
    return std::make_unique<MemBegunWrite>(disk_, this, offset, data);
  }

  Status Sync() override {
    return disk_->Mutate("sync", [&] {
      // Applies only the changes: copying the whole disk would dominate the time of long histories.
      for (const MemDisk::Write& write : disk_->unsynced_) MemDisk::Apply(write, &disk_->durable_);
      disk_->unsynced_.clear();
      disk_->syncs_++;
      return Status::OK();
    });
  }

  uint64_t size() const override {
    std::lock_guard<std::mutex> lock(disk_->mutex_);
    return disk_->content_.size();
  }

  Status Grow(uint64_t size) override {
    return disk_->Mutate("grow", [&] {
      if (disk_->fail_growth_) return Status::IOError("grow of disk: injected");
      if (size > disk_->bytes_max_) return Status::NoSpace("grow disk: it is full");
      // Durable immediately: file systems keep the size of a file in their own metadata.
      disk_->content_.resize(std::max<size_t>(disk_->content_.size(), size), '\0');
      if (disk_->may_crash_) disk_->durable_.resize(disk_->content_.size(), '\0');
      return Status::OK();
    });
  }

  Status Discard(uint64_t offset, uint64_t length) override {
    const fs::AlignedBuffer zeros(length, MemDisk::kAlignment);
    std::memset(zeros.data(), 0, length);
    return Write(offset, {zeros.data(), length});
  }
  uint32_t alignment() const override { return MemDisk::kAlignment; }
  const std::string& name() const override { return disk_->name_; }

 private:
  bool IsAligned(uint64_t offset, uint64_t length, const char* memory) const {
    const uint64_t mask = MemDisk::kAlignment - 1;
    return ((offset | length | reinterpret_cast<uintptr_t>(memory)) & mask) == 0;
  }
  MemDisk* const disk_;
};

MemDisk::MemDisk(uint64_t bytes, uint64_t bytes_max, bool may_crash)
    : bytes_max_(bytes_max), may_crash_(may_crash), content_(bytes, '\0') {
  if (may_crash_) durable_ = content_;
}

std::unique_ptr<fs::BlockDevice> MemDisk::Open() { return std::make_unique<MemBlockDevice>(this); }

void MemDisk::Apply(const Write& write, std::string* content) {
  std::memcpy(content->data() + write.offset, write.data.data(), write.data.size());
}

Status MemDisk::Mutate(const std::string& what, const std::function<Status()>& change) {
  std::unique_lock<std::mutex> lock(mutex_);
  const uint64_t call = ++calls_;
  if (fail_at_ != 0 && (call == fail_at_ || (fail_for_ever_ && call > fail_at_))) {
    return Status::IOError(what + " of disk: injected");
  }
  LAVA_RETURN_IF_ERROR(change());
  const auto hook = hook_;
  lock.unlock();
  if (hook) hook(call);
  return Status::OK();
}

std::unique_ptr<MemDisk> MemDisk::AfterKill() const {
  std::lock_guard<std::mutex> lock(mutex_);
  auto disk = std::make_unique<MemDisk>(0, bytes_max_);
  disk->content_ = content_;
  disk->durable_ = durable_;
  disk->unsynced_ = unsynced_;
  return disk;
}

std::unique_ptr<MemDisk> MemDisk::AfterPowerCut(uint64_t seed) const {
  std::lock_guard<std::mutex> lock(mutex_);
  LAVA_CHECK(may_crash_);
  auto disk = std::make_unique<MemDisk>(0, bytes_max_);
  disk->durable_ = seed == 1 ? content_ : durable_;
  if (seed > 1) {
    Random random(seed);
    // The probability differs between seeds: most writes are lost, most are kept, or in between.
    const uint64_t kept = random.Between(1, 9);
    for (const Write& write : unsynced_) {
      const bool torn = random.OneIn(4);
      if (!torn && random.Uniform(10) < kept) Apply(write, &disk->durable_);
      if (torn) ApplyTorn(write, &random, &disk->durable_);
    }
  }
  disk->content_ = disk->durable_;
  return disk;
}

void MemDisk::ApplyTorn(const Write& write, Random* random, std::string* content) {
  for (uint64_t at = 0; at < write.data.size(); at += kSectorBytes) {
    if (random->OneIn(2)) continue;
    const uint64_t bytes = std::min(kSectorBytes, write.data.size() - at);
    std::memcpy(content->data() + write.offset + at, write.data.data() + at, bytes);
  }
}

uint64_t MemDisk::UnsyncedWrites() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return unsynced_.size();
}

uint64_t MemDisk::PowerCutStates() const {
  uint64_t states = 1;
  for (uint64_t i = UnsyncedWrites(); i > 0; --i)
    if (__builtin_mul_overflow(states, 3, &states)) return UINT64_MAX;
  return states;
}

std::unique_ptr<MemDisk> MemDisk::AfterPowerCutAt(uint64_t state, uint64_t seed) const {
  std::lock_guard<std::mutex> lock(mutex_);
  LAVA_CHECK(may_crash_);
  auto disk = std::make_unique<MemDisk>(0, bytes_max_);
  disk->durable_ = durable_;
  Random random(seed);
  for (const Write& write : unsynced_) {
    if (state % 3 == 1) Apply(write, &disk->durable_);
    if (state % 3 == 2) ApplyTorn(write, &random, &disk->durable_);
    state /= 3;
  }
  disk->content_ = disk->durable_;
  return disk;
}

void MemDisk::SetHook(std::function<void(uint64_t call)> hook) {
  std::lock_guard<std::mutex> lock(mutex_);
  hook_ = std::move(hook);
}

void MemDisk::FailAt(uint64_t call, bool for_ever) {
  std::lock_guard<std::mutex> lock(mutex_);
  fail_at_ = call;
  fail_for_ever_ = for_ever;
}

void MemDisk::FailGrowth(bool fails) {
  std::lock_guard<std::mutex> lock(mutex_);
  fail_growth_ = fails;
}

uint64_t MemDisk::calls() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return calls_;
}

uint64_t MemDisk::bytes_written() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return bytes_written_;
}

uint64_t MemDisk::syncs() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return syncs_;
}

uint64_t MemDisk::writes_begun() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return writes_begun_;
}

uint64_t MemDisk::TakeLargestBytes() {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(largest_bytes_, 0);
}

std::string MemDisk::Content() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return content_;
}

void MemDisk::SetContent(std::string content) {
  std::lock_guard<std::mutex> lock(mutex_);
  content_ = std::move(content);
  if (may_crash_) durable_ = content_;
  unsynced_.clear();
}

void MemDisk::Overwrite(uint64_t offset, Slice bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  LAVA_CHECK(unsynced_.empty() && offset + bytes.size() <= content_.size());
  std::memcpy(content_.data() + offset, bytes.data(), bytes.size());
  if (may_crash_) std::memcpy(durable_.data() + offset, bytes.data(), bytes.size());
}

void MemDisk::Clear() {
  std::lock_guard<std::mutex> lock(mutex_);
  std::fill(content_.begin(), content_.end(), '\0');
  std::fill(durable_.begin(), durable_.end(), '\0');
  unsynced_.clear();
}

}  // namespace lava::testing
