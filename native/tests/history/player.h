#pragma once

#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/history/store.h"

namespace lava::testing {

/// Plays a history on a store and puts its answers into words, which are the same for every right
/// store: what has expired counts as absent, and so does what an earlier, later clock may have had
/// the store drop since it was written. What was written after the clock was set back must be
/// there. Threads: one. Ownership: borrows the store.
class Player {
 public:
  /// What time it is for the player, and from when on values have expired.
  struct Times {
    int64_t now_ms = static_cast<int64_t>(kFirstTime) * kTimeUnitMs;
    std::array<int64_t, kHistoryTableCount> ttl_ms{};
    /// The latest that the clock has been, and confirmed, since a value was written, by how often
    /// the clock had been set by then.
    std::vector<int64_t> latest_ms{now_ms};
    friend bool operator==(const Times&, const Times&) = default;
  };
  explicit Player(Store* store);
  /// Goes on, or looks, at another's time; the store must know it.
  Player(Store* store, const Player& other)
      : store_(store), times_(other.times_), written_(other.written_) {}
  const Times& times() const { return times_; }
  std::string Apply(const Operation& operation);
  /// Compacts, reads everything, and has the store check itself.
  std::string AtEnd();
  /// A number for all that can be read now, or why it cannot.
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
  std::string MultiGetInWords(const Operation& o, int32_t slot);
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

/// Whether an answer is an error that the store told.
bool IsError(const std::string& words);

}  // namespace lava::testing
