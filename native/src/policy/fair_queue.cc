// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/fair_queue.h"

#include <algorithm>
#include <cstdint>
#include <list>
#include <optional>
#include <utility>

#include "base/check.h"

namespace lava {

FairQueue::Client FairQueue::AddClient() {
  clients_.insert(next_client_);
  return next_client_++;
}

std::list<FairQueue::Ticket> FairQueue::RemoveClient(Client client) {
  LAVA_CHECK(clients_.erase(client) == 1);
  std::list<Ticket> dropped;
  for (Level& level : levels_) {
    const auto it = level.shares.find(client);
    if (it == level.shares.end()) continue;
    Share& share = it->second;
    level.queued -= share.jobs.size();
    dropped.splice(dropped.end(), share.jobs);
    level.waiting.erase({share.start, share.arrival, client});
    level.shares.erase(it);
  }
  return dropped;
}

// Queues the client in the level at the turn of its first job. node: its previous turn, reused.
void FairQueue::Wait(Level* level, Client client, Share* share, Waiting::node_type node) {
  share->start = std::max(level->now, share->end);
  node.value() = {share->start, share->arrival, client};
  level->waiting.insert(std::move(node));
}

void FairQueue::Push(Client client, uint32_t number, Ticket ticket) {
  LAVA_CHECK(number < levels_.size() && clients_.contains(client));
  Level& level = levels_[number];
  Share& share = level.shares[client];
  // Allocate all memory before anything changes.
  std::list<Ticket> job{ticket};
  Waiting allocated;
  if (share.jobs.empty()) allocated.insert({0, 0, client});
  share.jobs.splice(share.jobs.end(), job);
  ++level.queued;
  if (allocated.empty()) return;
  share.arrival = next_arrival_++;
  Wait(&level, client, &share, allocated.extract(allocated.begin()));
}

FairQueue::Levels FairQueue::levels_with_jobs() const {
  Levels levels = 0;
  for (uint32_t number = 0; number < levels_.size(); ++number)
    if (levels_[number].queued > 0) levels |= Bit(number);
  return levels;
}

std::optional<FairQueue::Pick> FairQueue::Pop(Levels of) {
  for (uint32_t number = 0; number < levels_.size(); ++number) {
    Level& level = levels_[number];
    if ((of & Bit(number)) == 0 || level.waiting.empty()) continue;
    const auto [start, arrival, client] = *level.waiting.begin();
    Waiting::node_type turn = level.waiting.extract(level.waiting.begin());
    Share& share = level.shares.at(client);
    const Pick pick{client, number, share.jobs.front(), share.expected};
    share.jobs.pop_front();
    --level.queued;
    level.now = std::max(level.now, start);
    share.end = start + pick.expected;
    share.arrival = next_arrival_++;
    if (!share.jobs.empty()) Wait(&level, client, &share, std::move(turn));
    return pick;
  }
  return std::nullopt;
}

void FairQueue::Settle(const Pick& pick, uint64_t cost) {
  Level& level = levels_[pick.level];
  const auto it = level.shares.find(pick.client);
  if (it == level.shares.end()) return;
  Share& share = it->second;
  LAVA_CHECK(share.end >= pick.expected);
  cost = std::max(cost, kCostMin);
  share.end = share.end - pick.expected + cost;
  share.expected = cost;
  if (share.jobs.empty()) return;
  Wait(&level, pick.client, &share,
       level.waiting.extract({share.start, share.arrival, pick.client}));
}

void FairQueue::Move(Client client, uint32_t from, uint32_t to) {
  LAVA_CHECK(from < levels_.size() && to < levels_.size() && from != to);
  Level& level = levels_[from];
  const auto it = level.shares.find(client);
  if (it == level.shares.end() || it->second.jobs.empty()) return;
  Share& share = it->second;
  Share& target = levels_[to].shares[client];
  Waiting::node_type turn = level.waiting.extract({share.start, share.arrival, client});
  level.queued -= share.jobs.size();
  levels_[to].queued += share.jobs.size();
  const bool waits = !target.jobs.empty();
  target.jobs.splice(target.jobs.end(), share.jobs);
  if (waits) return;
  target.arrival = next_arrival_++;
  Wait(&levels_[to], client, &target, std::move(turn));
}

}  // namespace lava
