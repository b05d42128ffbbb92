// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "fs/block_device.h"

namespace lava::testing {

class Random;

/// A disk in memory that simulates power cuts. Each write since the last sync may survive in full,
/// not at all, or torn at sectors of 512 bytes.
/// Threads:    any thread.
/// Ownership:  must outlive its devices.
class MemDisk {
 public:
  static constexpr uint64_t kSectorBytes = 512;
  static constexpr uint32_t kAlignment = 4096;

  /// The disk can grow to bytes_max. may_crash: false halves the memory, but then the states after
  /// a power cut are not available.
  MemDisk(uint64_t bytes, uint64_t bytes_max, bool may_crash = true);

  /// Checks that offsets, lengths and memory are aligned. A begun write takes the memory's content
  /// when it is finished; until then no other write may go to its range.
  std::unique_ptr<fs::BlockDevice> Open();

  /// The disk after a process kill.
  std::unique_ptr<MemDisk> AfterKill() const;
  /// A disk that a power cut may leave. Seed 0: only synced data; 1: all data; others: random.
  std::unique_ptr<MemDisk> AfterPowerCut(uint64_t seed) const;
  /// Writes since the last sync, which a power cut may keep, lose or tear.
  uint64_t UnsyncedWrites() const;
  /// The number of such states; UINT64_MAX: too many to count.
  uint64_t PowerCutStates() const;
  /// One of these states, state < PowerCutStates(). The seed decides how writes are torn.
  std::unique_ptr<MemDisk> AfterPowerCutAt(uint64_t state, uint64_t seed) const;

  /// Called after each write, growth and sync, with its number from 1 on. The hook may take images.
  void SetHook(std::function<void(uint64_t call)> hook);
  /// Makes the call of this number fail, once or with all later calls; 0: none.
  void FailAt(uint64_t call, bool for_ever);
  void FailGrowth(bool fails);
  uint64_t calls() const;
  uint64_t bytes_written() const;
  uint64_t syncs() const;
  uint64_t writes_begun() const;
  /// Size of the largest read or write since the last call of this function.
  uint64_t TakeLargestBytes();

  std::string Content() const;
  /// / The new content is durable immediately.
  void SetContent(std::string content);
  void Overwrite(uint64_t offset, Slice bytes);
  /// Fills the disk with zeros, without new memory.
  void Clear();

 private:
  friend class MemBlockDevice;
  friend class MemBegunWrite;
  struct Write {
    uint64_t offset;
    std::string data;
  };
  Status Mutate(const std::string& what, const std::function<Status()>& change);
  static void Apply(const Write& write, std::string* content);
  static void ApplyTorn(const Write& write, Random* random, std::string* content);

  const uint64_t bytes_max_;
  const bool may_crash_;
  const std::string name_ = "disk";
  mutable std::mutex mutex_;
  std::string content_;  // as processes see it
  std::string durable_;
  std::vector<Write> unsynced_;
  std::vector<std::pair<uint64_t, uint64_t>> begun_;  // offsets and lengths of begun writes
  uint64_t writes_begun_ = 0;
  uint64_t calls_ = 0, bytes_written_ = 0, syncs_ = 0, largest_bytes_ = 0;
  uint64_t fail_at_ = 0;
  bool fail_for_ever_ = false, fail_growth_ = false;
  std::function<void(uint64_t)> hook_;
};

}  // namespace lava::testing
