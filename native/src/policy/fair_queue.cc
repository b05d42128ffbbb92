#include "policy/fair_queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace lava {

FairQueue::Client FairQueue::AddClient() {
  clients_.insert(next_client_);
  return next_client_++;
}

std::vector<FairQueue::Ticket> FairQueue::RemoveClient(Client client) {
  LAVA_CHECK(clients_.erase(client) == 1);
  std::vector<Ticket> dropped;
  for (Level& level : levels_) {
    const auto it = level.shares.find(client);
    if (it == level.shares.end()) continue;
    const Share& share = it->second;
    dropped.insert(dropped.end(), share.jobs.begin(), share.jobs.end());
    level.queued -= share.jobs.size();
    level.waiting.erase({share.start, share.arrival, client});
    level.shares.erase(it);
  }
  return dropped;
}

void FairQueue::Wait(Level* level, Client client, Share* share) {
  share->start = std::max(level->now, share->end);
  level->waiting.insert({share->start, share->arrival, client});
}

void FairQueue::Push(Client client, uint32_t number, Ticket ticket) {
  LAVA_CHECK(number < levels_.size() && clients_.contains(client));
  Level& level = levels_[number];
  Share& share = level.shares[client];
  share.jobs.push_back(ticket);
  ++level.queued;
  if (share.jobs.size() > 1) return;
  share.arrival = next_arrival_++;
  Wait(&level, client, &share);
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
    level.waiting.erase(level.waiting.begin());
    Share& share = level.shares.at(client);
    const Pick pick{client, number, share.jobs.front(), share.expected};
    share.jobs.pop_front();
    --level.queued;
    level.now = std::max(level.now, start);
    share.end = start + pick.expected;
    share.arrival = next_arrival_++;
    if (!share.jobs.empty()) Wait(&level, client, &share);
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
  level.waiting.erase({share.start, share.arrival, pick.client});
  Wait(&level, pick.client, &share);
}

void FairQueue::Move(Client client, uint32_t from, uint32_t to) {
  LAVA_CHECK(from < levels_.size() && to < levels_.size() && from != to);
  Level& level = levels_[from];
  const auto it = level.shares.find(client);
  if (it == level.shares.end() || it->second.jobs.empty()) return;
  Share& share = it->second;
  const std::list<Ticket> moved = std::exchange(share.jobs, {});
  level.queued -= moved.size();
  level.waiting.erase({share.start, share.arrival, client});
  for (const Ticket ticket : moved) Push(client, to, ticket);
}

}  // namespace lava
