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

/// A disk in memory that knows what a power cut would leave of it: any of the writes since the last
/// sync, each in full or torn at sectors of 512 bytes.
/// Threads:    any thread.
/// Ownership:  must outlive its devices.
class MemDisk {
 public:
  static constexpr uint64_t kSectorBytes = 512;
  static constexpr uint32_t kAlignment = 4096;

  /// Can grow to bytes_max. may_crash: without it no state after a power cut can be had, and half
  /// the memory is enough.
  MemDisk(uint64_t bytes, uint64_t bytes_max, bool may_crash = true);

  /// Checks that offsets, lengths and memory are aligned. What is begun is written when it is
  /// finished, from the memory as it is then; nothing else may be written there before.
  std::unique_ptr<fs::BlockDevice> Open();

  /// What a killed process leaves.
  std::unique_ptr<MemDisk> AfterKill() const;
  /// What a power cut may leave. 0: nothing that was not synced; 1: all; others: drawn.
  std::unique_ptr<MemDisk> AfterPowerCut(uint64_t seed) const;
  /// Each is there, absent or torn after a power cut.
  uint64_t UnsyncedWrites() const;
  /// How many such states there are; UINT64_MAX: more than can be counted.
  uint64_t PowerCutStates() const;
  /// One of them, state < PowerCutStates(); seed decides how writes are torn.
  std::unique_ptr<MemDisk> AfterPowerCutAt(uint64_t state, uint64_t seed) const;

  /// Called after each write, growth and sync, with its number from 1; may take images.
  void SetHook(std::function<void(uint64_t call)> hook);
  /// The call of that number fails, once or with all after it; 0: none.
  void FailAt(uint64_t call, bool for_ever);
  void FailGrowth(bool fails);
  uint64_t calls() const;
  uint64_t bytes_written() const;
  uint64_t syncs() const;
  uint64_t writes_begun() const;
  /// Of the largest read or write since the last time that this was asked.
  uint64_t TakeLargestBytes();

  std::string Content() const;
  /// Durable at once.
  void SetContent(std::string content);
  void Overwrite(uint64_t offset, Slice bytes);
  /// All zeros, with the memory that it has.
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
  std::vector<std::pair<uint64_t, uint64_t>> begun_;  // where writes are to go, and how long
  uint64_t writes_begun_ = 0;
  uint64_t calls_ = 0, bytes_written_ = 0, syncs_ = 0, largest_bytes_ = 0;
  uint64_t fail_at_ = 0;
  bool fail_for_ever_ = false, fail_growth_ = false;
  std::function<void(uint64_t)> hook_;
};

}  // namespace lava::testing
