// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace lava {

/// Decides which client's job runs next. Levels are strict: jobs of a lower level number run before
/// all others. Within a level the least served client is next, by start-time fair queueing: a job
/// starts at the virtual time at which its client's previous job ended, or at the level's virtual
/// time, if that is later. An idle client thus earns no credit, and a new client starts level with
/// the others: its first job waits for no more than the jobs that they have begun. Jobs of one
/// client in one level keep their order. A decision, without a clock or a lock.
///
/// The cost of a job is known when it has ended. Until then the job counts as much as its client's
/// last job in the level, so that several threads do not all serve one client before its first cost
/// is known.
/// Threads:    one, or the caller's lock.
/// Units:      costs in microseconds of CPU time, or in any other additive unit.
class FairQueue {
 public:
  using Client = uint64_t;
  using Ticket = uint64_t;  // identifies a job; chosen by the caller
  struct Pick {
    Client client;
    uint32_t level;
    Ticket ticket;
    uint64_t expected;  // the cost charged in advance
  };
  /// Minimum cost of a job, so that clients take turns even if their jobs cost nothing.
  static constexpr uint64_t kCostMin = 100;

  explicit FairQueue(uint32_t levels) : levels_(levels) {}  // 32 at most

  /// Numbers of clients are never reused.
  Client AddClient();
  /// Returns the client's queued jobs. Allocates nothing.
  std::list<Ticket> RemoveClient(Client client);

  /// Errors: std::bad_alloc; then nothing changed. Pop() and Settle() allocate nothing.
  void Push(Client client, uint32_t level, Ticket ticket);
  /// A set of levels, one bit each.
  using Levels = uint32_t;
  static constexpr Levels Bit(uint32_t level) { return Levels{1} << level; }
  /// Removes and returns the next job of these levels.
  std::optional<Pick> Pop(Levels of);
  /// Settles the cost of a job from Pop() that has ended. Its client may have been removed.
  void Settle(const Pick& pick, uint64_t cost);
  /// Moves the client's queued jobs from one level behind its jobs in the other.
  /// Errors: std::bad_alloc; then no job has moved.
  void Move(Client client, uint32_t from, uint32_t to);

  uint64_t queued(uint32_t level) const { return levels_[level].queued; }
  Levels levels_with_jobs() const;

 private:
  struct Share {
    std::list<Ticket> jobs;
    uint64_t end = 0;  // virtual end of the last job that began
    uint64_t expected = kCostMin;
    uint64_t start = 0, arrival = 0;  // of the first job: its turn in waiting
  };
  using Turn = std::tuple<uint64_t, uint64_t, Client>;  // start, arrival
  using Waiting = std::set<Turn>;
  struct Level {
    std::map<Client, Share> shares;  // of clients that ever had a job in the level
    Waiting waiting;
    uint64_t now = 0;  // virtual time: the latest start of a job that began
    uint64_t queued = 0;
  };

  void Wait(Level* level, Client client, Share* share, Waiting::node_type node);

  std::vector<Level> levels_;
  std::set<Client> clients_;
  Client next_client_ = 1;
  uint64_t next_arrival_ = 0;
};

}  // namespace lava
