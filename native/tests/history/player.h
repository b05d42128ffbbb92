// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/history/store.h"

namespace lava::testing {

/// Plays a history on a store and describes its answers in text, which is the same for every
/// correct store. Expired data counts as absent. So does data that a store may have dropped while
/// an earlier clock was later than now. Data written after the clock was set back must exist.
/// Threads: one. Ownership: borrows the store.
class Player {
 public:
  /// The player's time, and the expiry of values.
  struct Times {
    int64_t now_ms = static_cast<int64_t>(kFirstTime) * kTimeUnitMs;
    std::array<int64_t, kHistoryTableCount> ttl_ms{};
    /// The latest confirmed time of the clock since a value was written, indexed by how often the
    /// clock had been set by then.
    std::vector<int64_t> latest_ms{now_ms};
    friend bool operator==(const Times&, const Times&) = default;
  };
  explicit Player(Store* store);
  /// Continues with, or looks at, another player's time, which the store must know.
  Player(Store* store, const Player& other)
      : store_(store), times_(other.times_), written_(other.written_) {}
  const Times& times() const { return times_; }
  std::string Apply(const Operation& operation);
  /// Compacts, reads everything, and makes the store check itself.
  std::string AtEnd();
  /// A digest of all readable data, or the reason why it cannot be read.
  Result<uint64_t> Digest();

 private:
  std::string Answer(const Operation& o, int32_t slot);
  bool Live(uint32_t table, std::string* value) const;
  void Note(const Operation& write);
  void NoteStamped(uint32_t table, Slice bytes);
  bool MayHaveExpired(uint32_t table, Slice bytes, size_t offset) const;
  void SetTime(int64_t now_ms, bool confirmed);
  std::string GetInWords(uint32_t table, const std::string& key, int32_t slot);
  std::string ContainsInWords(const Operation& o, int32_t slot);
  std::string ContainsPrefixInWords(const Operation& o, int32_t slot);
  std::string GetSeveralInWords(const Operation& o, int32_t slot);
  std::string ScanInWords(const Operation& o);
  std::string KeysWithTtlInWords(const Operation& o);
  std::string ReadAllInWords(int32_t slot);
  Result<std::vector<Model::Entry>> LiveEntries(const Operation& scan);

  Store* const store_;
  Times times_;
  /// By the hash of table and bytes, how often the clock had been set when a value or element was
  /// first written.
  std::shared_ptr<std::unordered_map<uint64_t, size_t>> written_;
};

/// Whether an answer is an error reported by the store.
bool IsError(const std::string& words);

}  // namespace lava::testing
