#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace lava {

/// Whose job goes next. Levels are strict: one of a lower number goes before all others. Within a
/// level the client goes first that was served least, by start-time fair queueing: a job starts at
/// the virtual time at which its client's job before it ended, or at the level's, if that is later.
/// So a client that was idle has no credit for it, and a newcomer starts where the others are: its
/// first job waits for no more than what each of them has begun. Jobs of one client in one level
/// keep their order. A decision, without a clock or a lock.
///
/// What a job costs is known when it has ended. Until then it counts as much as its client's last
/// one there, so that several threads do not all serve one client before the first bill comes.
/// Units:      costs in microseconds of CPU time, or in anything else that adds up.
class FairQueue {
 public:
  using Client = uint64_t;
  using Ticket = uint64_t;  // stands for a job, the caller's to choose
  struct Pick {
    Client client;
    uint32_t level;
    Ticket ticket;
    uint64_t expected;  // the cost that it was charged with
  };
  /// A job costs no less, so that clients take turns at jobs of no cost, too.
  static constexpr uint64_t kCostMin = 100;

  explicit FairQueue(uint32_t levels) : levels_(levels) {}  // 32 at most

  /// Clients' numbers are never used again.
  Client AddClient();
  /// Returns what it had queued. Takes no memory.
  std::list<Ticket> RemoveClient(Client client);

  /// Errors: std::bad_alloc; nothing has changed then. Pop() and Settle() take no memory.
  void Push(Client client, uint32_t level, Ticket ticket);
  /// A set of levels, by their bits.
  using Levels = uint32_t;
  static constexpr Levels Bit(uint32_t level) { return Levels{1} << level; }
  /// The next job of these levels.
  std::optional<Pick> Pop(Levels of);
  /// A job that Pop() gave has ended, and cost so much. Its client may be gone.
  void Settle(const Pick& pick, uint64_t cost);
  /// What the client has queued in one level goes behind what it has in the other.
  void Move(Client client, uint32_t from, uint32_t to);

  uint64_t queued(uint32_t level) const { return levels_[level].queued; }
  Levels levels_with_jobs() const;

 private:
  struct Share {
    std::list<Ticket> jobs;
    uint64_t end = 0;  // virtual, of the last job that began
    uint64_t expected = kCostMin;
    uint64_t start = 0, arrival = 0;  // of the first of jobs: its place in waiting
  };
  using Place = std::tuple<uint64_t, uint64_t, Client>;  // start, arrival
  using Waiting = std::set<Place>;
  struct Level {
    std::map<Client, Share> shares;  // of those that ever had a job here
    Waiting waiting;
    uint64_t now = 0;  // virtual: the start of the last job that began
    uint64_t queued = 0;
  };

  void Wait(Level* level, Client client, Share* share, Waiting::node_type node);

  std::vector<Level> levels_;
  std::set<Client> clients_;
  Client next_client_ = 1;
  uint64_t next_arrival_ = 0;
};

}  // namespace lava
