#include <array>
#include <deque>
#include <list>
#include <unordered_map>
#include <unordered_set>

#include "bench/cache/policies.h"

namespace lava::bench {
namespace {

const uint64_t ghost_div = getenv("GD") ? atoi(getenv("GD")) : 4;
constexpr uint64_t kEntryBytes = 76;  // as the engine's cache charges

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
  /// again: it was evicted not long ago.
  virtual void Add(Node* node, bool again) = 0;
  virtual void Use(Node* node) = 0;
  virtual Node* Victim() = 0;  // not removed; there is one
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

class ClockQueue final : public Queue {
 public:
  ClockQueue(uint8_t data, uint8_t index, uint8_t again) : start_{index, data}, again_(again) {}
  void Add(Node* node, bool again) override {
    node->uses = again ? std::max(again_, start_[node->segment]) : start_[node->segment];
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
  const std::array<uint8_t, 2> start_;
  const uint8_t again_;
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

/// New blocks stand in a small queue first, those that were evicted not long ago do not.
class S3Queue final : public Queue {
 public:
  S3Queue(double small, uint8_t promoted, bool index_main = false, uint8_t again_uses = 0)
      : small_share_(small), promoted_(promoted), index_main_(index_main), again_(again_uses) {}
  void Add(Node* node, bool again) override {
    node->main = again || (index_main_ && node->segment == 0);
    node->uses = again || (index_main_ && node->segment == 0) ? again_ : 0;
    if (!node->main) small_bytes_ += node->bytes;
    Push(node);
  }
  void Use(Node* node) override { node->uses = std::min<uint8_t>(node->uses + 1, 3); }
  Node* Victim() override {
    for (;;) {
      const bool small = !small_.empty() && (main_.empty() || static_cast<double>(small_bytes_) >
                                                                  small_share_ * double(bytes));
      Node* node = small ? small_.back() : main_.back();
      if (node->uses == 0 || (small && node->uses < promoted_)) return node;
      Remove(node);
      if (small)
        node->uses = 0;
      else
        --node->uses;
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
  const double small_share_;
  const uint8_t promoted_;
  const bool index_main_;
  const uint8_t again_;
  uint64_t small_bytes_ = 0;
  std::list<Node*> small_, main_;
};

/// The same without moving anything: a pool of places, over which the main hand walks; new blocks
/// stand in a list besides until they are judged.
class PoolQueue final : public Queue {
 public:
  PoolQueue(double small, uint8_t promoted, uint8_t again)
      : small_share_(small), promoted_(promoted), again_(again) {}
  void Add(Node* node, bool again) override {
    if (free_.empty()) {
      free_.push_back(pool_.size());
      pool_.push_back(nullptr);
    }
    places_[node] = free_.back();
    pool_[free_.back()] = node;
    free_.pop_back();
    node->main = again;
    node->uses = again ? again_ : 0;
    if (again) return;
    small_bytes_ += node->bytes;
    node->at = small_.insert(small_.begin(), node);
  }
  void Use(Node* node) override { node->uses = std::min<uint8_t>(node->uses + 1, 3); }
  Node* Victim() override {
    for (;;) {
      const bool small =
          !small_.empty() && (small_.size() == places_.size() ||
                              static_cast<double>(small_bytes_) > small_share_ * double(bytes));
      if (small) {
        Node* node = small_.back();
        if (node->uses == 0) return node;
        small_.pop_back();
        small_bytes_ -= node->bytes;
        node->main = true;
        node->uses = promoted_;
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
    const size_t i = places_[node];
    places_.erase(node);
    pool_[i] = nullptr;
    free_.push_back(i);
  }

 private:
  const double small_share_;
  const uint8_t promoted_, again_;
  uint64_t small_bytes_ = 0;
  size_t hand_ = 0;
  std::vector<Node*> pool_;
  std::vector<size_t> free_;
  std::unordered_map<Node*, size_t> places_;
  std::list<Node*> small_;
};

/// Keys that were evicted last, up to a number of bytes of their blocks.
class Ghosts {
 public:
  static constexpr uint64_t kNone = UINT64_MAX;
  void Add(uint64_t key, uint64_t bytes, uint64_t bytes_max) {
    evicted_ += bytes;
    keys_[key] = evicted_;
    order_.push_back({key, evicted_});
    while (order_.front().second + bytes_max < evicted_) {
      if (auto at = keys_.find(order_.front().first);
          at != keys_.end() && at->second == order_.front().second)
        keys_.erase(at);
      order_.pop_front();
    }
  }
  /// How many bytes were evicted since.
  uint64_t Take(uint64_t key) {
    const auto at = keys_.find(key);
    if (at == keys_.end()) return kNone;
    const uint64_t age = evicted_ - at->second;
    keys_.erase(at);
    return age;
  }

 private:
  std::deque<std::pair<uint64_t, uint64_t>> order_;
  std::unordered_map<uint64_t, uint64_t> keys_;
  uint64_t evicted_ = 0;
};

enum class Split { kNone, kIndexFirst, kBorder };

class Candidate final : public CachePolicy {
 public:
  Candidate(Split split, std::unique_ptr<Queue> index, std::unique_ptr<Queue> data,
            uint64_t capacity_bytes)
      : split_(split),
        capacity_(capacity_bytes),
        index_target_(capacity_bytes - capacity_bytes / 16),
        queues_{std::move(index), std::move(data)} {}

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
    const uint64_t age = ghosts_[segment].Take(key);
    const bool again = age != Ghosts::kNone;
    if (age < capacity_ / win_) {
      worth_[segment] += double(16384 + event.bytes);
    }
    inserted_ += node.bytes;
    if (inserted_ > capacity_ / 32) {
      inserted_ = 0;
      MoveBorder();
    }
    while (used_ + node.bytes > capacity_) {
      Node* victim = QueueOf(SegmentToEvict()).Victim();
      ghosts_[victim->segment].Add(victim->key, victim->bytes, capacity_ / ghost_div);
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
    return queues_[0]->bytes > index_target_ ? 0 : 1;
  }
  void MoveBorder() {
    const uint64_t floor = capacity_ / 16, step = std::max<uint64_t>(capacity_ / 256, 1);
    std::array<double, 2> margin;
    for (size_t i = 0; i < 2; ++i) {
      smooth_[i] = smooth_[i] * decay_ + worth_[i] * (1 - decay_);
      margin[i] = smooth_[i];
    }
    worth_ = {};
    const uint64_t used = queues_[0]->bytes;
    if (margin[0] >= margin[1])
      index_target_ = std::min(capacity_ - floor,
                               std::max(index_target_, std::min(used, index_target_ + 4 * step)) +
                                   (margin[0] > margin[1] ? up_ * step : 0));
    else if (margin[1] > hyst_ * margin[0])
      index_target_ = std::max(floor, std::min(index_target_, used + step) - step);
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
  uint64_t index_target_;
  uint64_t used_ = 0;
  std::array<std::unique_ptr<Queue>, 2> queues_;
  std::array<Ghosts, 2> ghosts_;
  std::array<double, 2> worth_{}, smooth_{};
  uint64_t inserted_ = 0;
  uint64_t win_ = getenv("WIN") ? atoi(getenv("WIN")) : 32;
  double hyst_ = getenv("HYST") ? atof(getenv("HYST")) : 2;
  double decay_ = getenv("DECAY") ? atof(getenv("DECAY")) : 0.8;
  uint64_t up_ = getenv("UP") ? atoi(getenv("UP")) : 4;
  std::unordered_map<uint64_t, Node> nodes_;
  std::unordered_map<uint32_t, std::unordered_set<uint64_t>> files_;
};

std::unique_ptr<Queue> MakeQueue(const std::string& name) {
  if (name == "lru") return std::make_unique<LruQueue>();
  if (name == "sieve") return std::make_unique<SieveQueue>();
  if (name == "s3") return std::make_unique<S3Queue>(0.1, 1);
  if (name == "s3-2") return std::make_unique<S3Queue>(0.1, 2);
  if (name == "s3-20") return std::make_unique<S3Queue>(0.2, 1);
  if (name == "s3-5") return std::make_unique<S3Queue>(0.05, 1);
  if (name == "pool00") return std::make_unique<PoolQueue>(0.1, 0, 0);
  if (name == "pool11") return std::make_unique<PoolQueue>(0.1, 1, 1);
  if (name == "pool01") return std::make_unique<PoolQueue>(0.1, 0, 1);
  if (name == "pool11-5") return std::make_unique<PoolQueue>(0.05, 1, 1);
  if (name == "s3-im") return std::make_unique<S3Queue>(0.1, 1, true);
  if (name == "s3-im1") return std::make_unique<S3Queue>(0.1, 1, true, 1);
  if (name == "s3-a1") return std::make_unique<S3Queue>(0.1, 1, false, 1);
  if (name == "clock-0") return std::make_unique<ClockQueue>(0, 3, 1);
  if (name == "clock-ghost") return std::make_unique<ClockQueue>(0, 3, 3);
  return std::make_unique<ClockQueue>(1, 3, 1);
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
