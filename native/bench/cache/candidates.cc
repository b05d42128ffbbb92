// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <list>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "bench/cache/policies.h"
#include "policy/cache_border.h"

namespace lava::bench {
namespace {

constexpr uint64_t kEntryBytes = 87;  // as charged by the engine's cache
constexpr uint64_t kSmallShare = 10;  // the small queue has one part of this many

struct Node {
  uint64_t key = 0;
  uint32_t file = 0;
  uint64_t bytes = 0;
  size_t segment = 0;
  uint8_t uses = 0;
  bool main = true;
  std::list<Node*>::iterator at;
};

/// An order of eviction.
class Queue {
 public:
  virtual ~Queue() = default;
  /// again: the block was evicted recently.
  virtual void Add(Node* node, bool again) = 0;
  virtual void Use(Node* node) = 0;
  virtual Node* Victim() = 0;  // not removed; the queue is not empty
  virtual void Remove(Node* node) = 0;
  uint64_t bytes = 0;
};

class LruQueue final : public Queue {
 public:
  void Add(Node* node, bool) override { node->at = order_.insert(order_.begin(), node); }
  void Use(Node* node) override { order_.splice(order_.begin(), order_, node->at); }
  Node* Victim() override { return order_.back(); }
  void Remove(Node* node) override { order_.erase(node->at); }

 private:
  std::list<Node*> order_;
};

/// The engine's previous policy: an index block starts with three uses, data with one.
class ClockQueue final : public Queue {
 public:
  void Add(Node* node, bool) override {
    node->uses = node->segment == 0 ? 3 : 1;
    node->at = order_.insert(order_.begin(), node);
  }
  void Use(Node* node) override { node->uses = std::min<uint8_t>(node->uses + 1, 3); }
  Node* Victim() override {
    while (order_.back()->uses > 0) {
      --order_.back()->uses;
      order_.splice(order_.begin(), order_, std::prev(order_.end()));
    }
    return order_.back();
  }
  void Remove(Node* node) override { order_.erase(node->at); }

 private:
  std::list<Node*> order_;
};

class SieveQueue final : public Queue {
 public:
  void Add(Node* node, bool) override {
    node->uses = 0;
    node->at = order_.insert(order_.begin(), node);
  }
  void Use(Node* node) override { node->uses = 1; }
  Node* Victim() override {
    if (hand_ == order_.end()) hand_ = std::prev(order_.end());
    while ((*hand_)->uses > 0) {
      (*hand_)->uses = 0;
      hand_ = hand_ == order_.begin() ? std::prev(order_.end()) : std::prev(hand_);
    }
    return *hand_;
  }
  void Remove(Node* node) override {
    if (hand_ == node->at) hand_ = hand_ == order_.begin() ? order_.end() : std::prev(hand_);
    order_.erase(node->at);
  }

 private:
  std::list<Node*> order_;
  std::list<Node*>::iterator hand_ = order_.end();
};

/// New blocks enter a small queue first, except those that were evicted recently.
class S3Queue final : public Queue {
 public:
  void Add(Node* node, bool again) override {
    node->main = again;
    node->uses = 0;
    if (!node->main) small_bytes_ += node->bytes;
    Push(node);
  }
  void Use(Node* node) override { node->uses = std::min<uint8_t>(node->uses + 1, 3); }
  Node* Victim() override {
    for (;;) {
      const bool small = !small_.empty() && (main_.empty() || small_bytes_ * kSmallShare > bytes);
      Node* node = small ? small_.back() : main_.back();
      if (node->uses == 0) return node;
      Remove(node);
      node->uses = small ? 0 : node->uses - 1;
      node->main = true;
      Push(node);
    }
  }
  void Remove(Node* node) override {
    if (!node->main) small_bytes_ -= node->bytes;
    (node->main ? main_ : small_).erase(node->at);
  }

 private:
  void Push(Node* node) {
    std::list<Node*>& order = node->main ? main_ : small_;
    node->at = order.insert(order.begin(), node);
  }
  uint64_t small_bytes_ = 0;
  std::list<Node*> small_, main_;
};

/// The same without moving blocks, like in the engine: the main hand walks over a pool of slots.
/// New blocks are additionally in a list until they are judged.
class PoolQueue final : public Queue {
 public:
  void Add(Node* node, bool again) override {
    if (free_.empty()) {
      free_.push_back(pool_.size());
      pool_.push_back(nullptr);
    }
    positions_[node] = free_.back();
    pool_[free_.back()] = node;
    free_.pop_back();
    node->main = again;
    node->uses = 0;
    if (again) return;
    small_bytes_ += node->bytes;
    node->at = small_.insert(small_.begin(), node);
  }
  void Use(Node* node) override { node->uses = std::min<uint8_t>(node->uses + 1, 3); }
  Node* Victim() override {
    for (;;) {
      if (!small_.empty() &&
          (small_.size() == positions_.size() || small_bytes_ * kSmallShare > bytes)) {
        Node* node = small_.back();
        if (node->uses == 0) return node;
        small_.pop_back();
        small_bytes_ -= node->bytes;
        node->main = true;
        node->uses = 0;
        continue;
      }
      if (++hand_ >= pool_.size()) hand_ = 0;
      Node* node = pool_[hand_];
      if (node == nullptr || !node->main) continue;
      if (node->uses == 0) return node;
      --node->uses;
    }
  }
  void Remove(Node* node) override {
    if (!node->main) {
      small_bytes_ -= node->bytes;
      small_.erase(node->at);
    }
    const auto at = positions_.find(node);
    pool_[at->second] = nullptr;
    free_.push_back(at->second);
    positions_.erase(at);
  }

 private:
  uint64_t small_bytes_ = 0;
  size_t hand_ = 0;
  std::vector<Node*> pool_;
  std::vector<size_t> free_;
  std::unordered_map<Node*, size_t> positions_;
  std::list<Node*> small_;
};

/// The most recently evicted keys, limited by the total bytes of their blocks.
class Ghosts {
 public:
  explicit Ghosts(uint64_t capacity) : capacity_(static_cast<double>(capacity)) {}

  void Add(uint64_t key, uint64_t bytes) {
    evicted_ += bytes;
    keys_[key] = {evicted_, bytes};
    order_.push_back({key, evicted_});
    margin_.push_back({evicted_, bytes});
    out_ += bytes;
    for (; margin_.front().first + Margin() < evicted_; margin_.pop_front())
      out_ -= margin_.front().second;
    for (; order_.front().second + static_cast<uint64_t>(capacity_) / 4 < evicted_;
         order_.pop_front()) {
      const auto at = keys_.find(order_.front().first);
      if (at != keys_.end() && at->second.first == order_.front().second) keys_.erase(at);
    }
  }
  /// Removes the key and returns whether it was present.
  bool Take(uint64_t key) {
    const auto at = keys_.find(key);
    if (at == keys_.end()) return false;
    const auto [evicted, bytes] = at->second;
    keys_.erase(at);
    if (evicted_ - evicted > Margin()) return true;
    cost_ += CacheMissCost(bytes);
    for (auto& [stamp, margin_bytes] : margin_) {
      if (stamp == evicted) out_ -= std::exchange(margin_bytes, 0);
    }
    return true;
  }
  void Judge() {
    worth_ = SmoothCacheWorth(worth_, {.missed_cost = std::exchange(cost_, 0),
                                       .out_bytes = static_cast<double>(out_),
                                       .capacity_bytes = capacity_});
  }
  double worth() const { return worth_; }

 private:
  uint64_t Margin() const { return static_cast<uint64_t>(capacity_ * kCacheMarginShare); }

  const double capacity_;
  std::deque<std::pair<uint64_t, uint64_t>> order_, margin_;
  std::unordered_map<uint64_t, std::pair<uint64_t, uint64_t>> keys_;
  uint64_t evicted_ = 0, out_ = 0;
  double cost_ = 0, worth_ = 0;
};

enum class Split { kNone, kIndexFirst, kBorder };

class Candidate final : public CachePolicy {
 public:
  Candidate(Split split, std::unique_ptr<Queue> index, std::unique_ptr<Queue> data,
            uint64_t capacity_bytes)
      : split_(split),
        capacity_(capacity_bytes),
        queues_{std::move(index), std::move(data)},
        ghosts_{Ghosts(capacity_bytes), Ghosts(capacity_bytes)} {}

  bool Access(const TraceEvent& event) override {
    const uint64_t key = KeyOf(event);
    if (const auto at = nodes_.find(key); at != nodes_.end()) {
      QueueOf(at->second.segment).Use(&at->second);
      return true;
    }
    Insert(event);
    return false;
  }
  void Warm(const TraceEvent& event) override {
    if (!nodes_.contains(KeyOf(event))) Insert(event);
  }
  void Erase(uint32_t file) override {
    for (const uint64_t key : files_[file]) {
      if (const auto at = nodes_.find(key); at != nodes_.end()) Drop(&at->second);
    }
    files_.erase(file);
  }

 private:
  static uint64_t KeyOf(const TraceEvent& event) {
    return uint64_t{event.file} << 40 ^ event.offset;
  }
  Queue& QueueOf(size_t segment) { return *queues_[split_ == Split::kNone ? 0 : segment]; }

  void Insert(const TraceEvent& event) {
    const uint64_t key = KeyOf(event);
    const auto segment = static_cast<size_t>(event.segment);
    Node node{key, event.file, event.bytes + kEntryBytes, segment, 0, true, {}};
    if (node.bytes > capacity_) return;
    const bool again = ghosts_[segment].Take(key);
    inserted_ += node.bytes;
    if (static_cast<double>(inserted_) > kCachePeriodShare * static_cast<double>(capacity_))
      MoveBorder();
    while (used_ + node.bytes > capacity_) {
      Node* victim = QueueOf(SegmentToEvict()).Victim();
      ghosts_[victim->segment].Add(victim->key, victim->bytes);
      Drop(victim);
    }
    files_[event.file].insert(key);
    Node* placed = &nodes_.emplace(key, node).first->second;
    used_ += node.bytes;
    QueueOf(segment).bytes += node.bytes;
    QueueOf(segment).Add(placed, again);
  }
  size_t SegmentToEvict() {
    if (split_ == Split::kNone) return 0;
    if (queues_[1]->bytes == 0) return 0;
    if (queues_[0]->bytes == 0) return 1;
    if (split_ == Split::kIndexFirst) return queues_[1]->bytes > capacity_ / 16 ? 1 : 0;
    return IndexShare() > border_ ? 0 : 1;
  }
  double IndexShare() const {
    return static_cast<double>(queues_[0]->bytes) / static_cast<double>(capacity_);
  }
  void MoveBorder() {
    inserted_ = 0;
    for (Ghosts& ghosts : ghosts_) ghosts.Judge();
    border_ = MoveCacheBorder({.border = border_,
                               .index_used = IndexShare(),
                               .index_worth = ghosts_[0].worth(),
                               .data_worth = ghosts_[1].worth()});
  }
  void Drop(Node* node) {
    Queue& queue = QueueOf(node->segment);
    queue.Remove(node);
    queue.bytes -= node->bytes;
    used_ -= node->bytes;
    nodes_.erase(node->key);
  }

  const Split split_;
  const uint64_t capacity_;
  double border_ = 1 - kCacheFloorShare;
  uint64_t used_ = 0, inserted_ = 0;
  std::array<std::unique_ptr<Queue>, 2> queues_;
  std::array<Ghosts, 2> ghosts_;
  std::unordered_map<uint64_t, Node> nodes_;
  std::unordered_map<uint32_t, std::unordered_set<uint64_t>> files_;
};

std::unique_ptr<Queue> MakeQueue(const std::string& name) {
  if (name == "lru") return std::make_unique<LruQueue>();
  if (name == "clock") return std::make_unique<ClockQueue>();
  if (name == "sieve") return std::make_unique<SieveQueue>();
  if (name == "s3") return std::make_unique<S3Queue>();
  if (name == "pool") return std::make_unique<PoolQueue>();
  std::fprintf(stderr, "there is no policy %s\n", name.c_str());
  std::exit(2);
}

}  // namespace

std::unique_ptr<CachePolicy> MakeCandidate(const std::string& name, uint64_t capacity_bytes) {
  Split split = Split::kNone;
  std::string queue = name;
  if (name.starts_with("index-first-")) {
    split = Split::kIndexFirst;
    queue = name.substr(12);
  } else if (name.starts_with("border-")) {
    split = Split::kBorder;
    queue = name.substr(7);
  }
  return std::make_unique<Candidate>(split, MakeQueue(queue), MakeQueue(queue), capacity_bytes);
}

}  // namespace lava::bench
