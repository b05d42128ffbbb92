// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// Compares data structures for the memtable with keys like Flink's: one table, key groups, map
// entries. Prints nanoseconds of thread CPU time for each operation, median of rounds, and bytes
// for each entry.
//   memtable_bench [entries] [rounds] [only candidate]
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/memtable_candidates/radix_tree.h"
#include "bench/memtable_candidates/skip_list.h"
#include "memtable/hash_index.h"
#include "memtable/key_sort.h"
#include "memtable/memtable.h"
#include "memtable/tree_index.h"

namespace lava::bench {
namespace {

uint64_t CpuNanos() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

class Candidate {
 public:
  virtual ~Candidate() = default;
  virtual void Insert(Slice key, Slice value) = 0;
  virtual bool Get(Slice key) = 0;
  virtual void Update(Slice key, Slice value) = 0;
  virtual size_t Scan(Slice from, size_t count) = 0;
  virtual size_t Walk() = 0;  // seals first if necessary
  virtual uint64_t bytes() = 0;
};

uint64_t sink = 0;
void Touch(const MemtableEntry& e) { sink += static_cast<uint8_t>(*e.value_area()); }

class SkipListCandidate final : public Candidate {
 public:
  void Insert(Slice key, Slice value) override { list_.Insert(key, value); }
  bool Get(Slice key) override {
    const MemtableEntry* e = list_.Find(key);
    if (e != nullptr) Touch(*e);
    return e != nullptr;
  }
  void Update(Slice key, Slice value) override {
    std::memcpy(list_.Find(key)->value_area(), value.data(), value.size());
  }
  size_t Scan(Slice from, size_t count) override {
    size_t n = 0;
    for (MemtableEntry* e = list_.Seek(from); e != nullptr && n < count;
         e = SkipList::Next(e, 0), ++n)
      Touch(*e);
    return n;
  }
  size_t Walk() override {
    size_t n = 0;
    for (MemtableEntry* e = list_.First(); e != nullptr; e = SkipList::Next(e, 0), ++n) Touch(*e);
    return n;
  }
  uint64_t bytes() override { return arena_.charged_bytes(); }

 private:
  MemoryCounter counter_;
  Arena arena_{&counter_};
  SkipList list_{&arena_};
};

// Stores entries separately from their indexes.
class EntryCandidate : public Candidate {
 protected:
  Arena::Ref NewEntry(Slice key, Slice value) {
    uint8_t slot_class;
    const Arena::Ref ref = arena_.Allocate(
        sizeof(MemtableEntry) + key.size() + std::max<size_t>(8, value.size()), &slot_class);
    MemtableEntry* e = EntryAt(arena_, ref);
    e->value_bytes = static_cast<uint32_t>(value.size());
    e->key_word = static_cast<uint32_t>(key.size() << 8) | 1;
    e->prefix_word = slot_class;
    std::memcpy(e->data(), key.data(), key.size());
    std::memcpy(e->value_area(), value.data(), value.size());
    return ref;
  }
  MemoryCounter counter_;
  Arena arena_{&counter_};
};

class RadixCandidate final : public EntryCandidate {
 public:
  void Insert(Slice key, Slice value) override {
    tree_.Insert(EntryAt(arena_, NewEntry(key, value)));
  }
  bool Get(Slice key) override {
    const MemtableEntry* e = tree_.Find(key);
    if (e != nullptr) Touch(*e);
    return e != nullptr;
  }
  void Update(Slice key, Slice value) override {
    std::memcpy(tree_.Find(key)->value_area(), value.data(), value.size());
  }
  size_t Scan(Slice from, size_t count) override {
    size_t n = 0;
    tree_.Walk(from, [&](MemtableEntry* e) {
      Touch(*e);
      return ++n < count;
    });
    return n;
  }
  size_t Walk() override { return Scan(Slice(), SIZE_MAX); }
  uint64_t bytes() override { return arena_.charged_bytes() + nodes_.charged_bytes(); }

 private:
  Arena nodes_{&counter_};
  RadixTree tree_{&nodes_};
};

class TreeCandidate : public EntryCandidate {
 public:
  void Insert(Slice key, Slice value) override { tree_.Insert(NewEntry(key, value)); }
  bool Get(Slice key) override {
    const MemtableEntry* e = Find(key);
    if (e != nullptr) Touch(*e);
    return e != nullptr;
  }
  void Update(Slice key, Slice value) override {
    std::memcpy(EntryAt(arena_, tree_.At(tree_.Seek({key, false})))->value_area(), value.data(),
                value.size());
  }
  size_t Scan(Slice from, size_t count) override {
    size_t n = 0;
    for (auto p = tree_.Seek({from, true}); p.valid() && n < count; p = tree_.Next(p), ++n)
      Touch(*EntryAt(arena_, tree_.At(p)));
    return n;
  }
  size_t Walk() override { return Scan(Slice(), SIZE_MAX); }
  uint64_t bytes() override { return arena_.charged_bytes() + nodes_.charged_bytes(); }

 protected:
  const MemtableEntry* Find(Slice key) {
    const auto p = tree_.Seek({key, false});
    if (!p.valid()) return nullptr;
    const MemtableEntry* e = EntryAt(arena_, tree_.At(p));
    return e->key() == key ? e : nullptr;
  }
  Arena nodes_{&counter_};
  TreeIndex tree_{&arena_, &nodes_};
};

// A hash index for point lookups; the tree gets entries at once, or in sorted batches of `pending`.
class HashCandidate final : public TreeCandidate {
 public:
  explicit HashCandidate(size_t pending) : pending_max_(pending) {}
  void Insert(Slice key, Slice value) override {
    const Arena::Ref ref = NewEntry(key, value);
    hash_.Insert(HashIndex::HashOf(key, false), ref);
    pending_.push_back(ref);
    if (pending_.size() >= pending_max_) Order();
  }
  bool Get(Slice key) override {
    const Arena::Ref ref = hash_.Find(arena_, HashIndex::HashOf(key, false), key, false);
    if (ref == Arena::kNull) return false;
    Touch(*EntryAt(arena_, ref));
    return true;
  }
  void Update(Slice key, Slice value) override {
    const Arena::Ref ref = hash_.Find(arena_, HashIndex::HashOf(key, false), key, false);
    std::memcpy(EntryAt(arena_, ref)->value_area(), value.data(), value.size());
  }
  size_t Scan(Slice from, size_t count) override {
    Order();
    return TreeCandidate::Scan(from, count);
  }
  uint64_t bytes() override {
    return TreeCandidate::bytes() + hash_.charged_bytes() + pending_.capacity() * 4;
  }

 private:
  void Order() {
    if (pending_.size() > 1) SortEntries(arena_, &pending_);
    for (const Arena::Ref ref : pending_) tree_.Insert(ref);
    pending_.clear();
  }
  const size_t pending_max_;
  HashIndex hash_{&counter_};
  std::vector<Arena::Ref> pending_;
};

// The engine's memtable, with its lock, counters and tombstone checks.
class MemTableCandidate final : public Candidate {
 public:
  void Insert(Slice key, Slice value) override { table_->Put(key, 0, value); }
  bool Get(Slice key) override {
    Lookup lookup(key, 0, &storage_);
    table_->Get(&lookup);
    return lookup.found();
  }
  void Update(Slice key, Slice value) override { table_->Put(key, 0, value); }
  size_t Scan(Slice from, size_t count) override {
    table_->CopyRange(from, false, Slice(), count, false, &page_);
    return page_.entries.size();
  }
  size_t Walk() override {
    table_->Seal();
    size_t n = 0;
    const auto it = table_->NewIterator(false);
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++n) sink += it->record().value.size();
    return n;
  }
  uint64_t bytes() override { return table_->arena_bytes(); }

 private:
  MemoryCounter counter_;
  std::shared_ptr<MemTable> table_ = MemTable::Create(&counter_);
  std::string storage_;
  MemTable::Copied page_;
};

// [key group][table id][state key, 4 to 30 bytes][namespace][map key, 4 bytes]: ten entries for
// each key.
std::vector<std::string> MakeKeys(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> keys;
  while (keys.size() < count) {
    std::string key(1, static_cast<char>(random() % 128));
    key += "\x12\x34\x56\x78\x9a";
    for (uint64_t n = 4 + random() % 27; n > 0; --n) key += static_cast<char>(random());
    key += '\0';
    for (char i = 0; i < 10 && keys.size() < count; ++i)
      keys.push_back(key + std::string("\0\0\0", 3) + i);
  }
  std::shuffle(keys.begin(), keys.end(), random);
  return keys;
}

struct Figures {
  std::map<std::string, std::vector<double>> by_operation;
  uint64_t bytes = 0;
};

void Measure(Candidate* c, const std::vector<std::string>& keys,
             const std::vector<std::string>& missing, Figures* figures) {
  const auto time = [&](const char* name, size_t count, const std::function<void()>& run) {
    const uint64_t begin = CpuNanos();
    run();
    figures->by_operation[name].push_back(static_cast<double>(CpuNanos() - begin) /
                                          static_cast<double>(count));
  };
  const std::string value(8, 'v');
  std::vector<uint32_t> order(keys.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937_64(7));
  time("1 put new", keys.size(), [&] {
    for (const auto& k : keys) c->Insert(k, value);
  });
  time("2 get hit", keys.size(), [&] {
    for (const uint32_t i : order)
      if (!c->Get(keys[i])) std::abort();
  });
  time("3 get miss", missing.size(), [&] {
    for (const auto& k : missing)
      if (c->Get(k)) std::abort();
  });
  time("4 update", keys.size(), [&] {
    for (const uint32_t i : order) c->Update(keys[i], value);
  });
  time("5 first scan (whole)", 1, [&] { c->Scan(keys[0], 1); });
  time("6 scan 10", keys.size() / 10, [&] {
    for (size_t i = 0; i < keys.size(); i += 10) {
      const Slice key = keys[order[i]];
      if (c->Scan(key.substr(0, key.size() - 4), 10) == 0) std::abort();
    }
  });
  time("7 walk", keys.size(), [&] {
    if (c->Walk() != keys.size()) std::abort();
  });
  figures->bytes = c->bytes();
}

int Main(int argc, char** argv) {
  const size_t entries = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 300000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  const std::string only = argc > 3 ? argv[3] : "";
  const std::vector<std::pair<std::string, std::function<std::unique_ptr<Candidate>()>>> makers = {
      {"skiplist", [] { return std::make_unique<SkipListCandidate>(); }},
      {"radix", [] { return std::make_unique<RadixCandidate>(); }},
      {"tree", [] { return std::make_unique<TreeCandidate>(); }},
      {"hash+tree", [] { return std::make_unique<HashCandidate>(1); }},
      {"hash+tree/4k", [] { return std::make_unique<HashCandidate>(4096); }},
      {"hash+tree/64k", [] { return std::make_unique<HashCandidate>(65536); }},
      {"hash+sort", [] { return std::make_unique<HashCandidate>(SIZE_MAX); }},
      {"memtable", [] { return std::make_unique<MemTableCandidate>(); }},
  };
  const auto keys = MakeKeys(entries, 1), missing = MakeKeys(entries, 2);
  uint64_t raw = 0;
  for (const auto& k : keys) raw += k.size() + 8;
  std::map<std::string, Figures> figures;
  for (int round = 0; round < rounds; ++round)
    for (const auto& [name, make] : makers)
      if (only.empty() || only == name) Measure(make().get(), keys, missing, &figures[name]);
  std::printf("%zu entries, %.1f raw bytes each\n%-14s", entries,
              static_cast<double>(raw) / static_cast<double>(entries), "ns");
  for (const char* h : {"put new", "get hit", "get miss", "update", "1st scan", "scan 10", "walk"})
    std::printf("%11s", h);
  std::printf("%14s\n", "bytes/entry");
  for (const auto& [name, make] : makers) {
    if (!figures.contains(name)) continue;
    std::printf("%-14s", name.c_str());
    for (auto& [operation, times] : figures[name].by_operation) {
      std::sort(times.begin(), times.end());
      std::printf("%11.0f", times[times.size() / 2]);
    }
    std::printf("%14.1f\n",
                static_cast<double>(figures[name].bytes) / static_cast<double>(entries));
  }
  return sink == 42 ? 1 : 0;
}

}  // namespace
}  // namespace lava::bench

int main(int argc, char** argv) { return lava::bench::Main(argc, argv); }
