// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "memtable/memtable.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <thread>

namespace lava {
namespace {

struct ModelRecord {
  RecordKind kind;
  std::string value;
  uint32_t prefix_bytes;
  bool operator==(const ModelRecord&) const = default;
};

// A simple model of a run's contents.
class Model {
 public:
  void Put(const std::string& k, uint32_t p, const std::string& v) {
    points_[k] = {RecordKind::kPut, v, p};
  }
  void Delete(const std::string& k, uint32_t p) { points_[k] = {RecordKind::kDelete, "", p}; }
  void Append(const std::string& k, uint32_t p, const std::string& v) {
    auto it = points_.find(k);
    if (it == points_.end()) {
      points_[k] = {Covered(k, p) ? RecordKind::kPut : RecordKind::kAppend, v, p};
      return;
    }
    if (it->second.kind == RecordKind::kDelete) it->second.kind = RecordKind::kPut;
    it->second.value += v;
    it->second.prefix_bytes = p;
  }
  void ReplaceTail(const std::string& k, size_t bytes, const std::string& parts) {
    ModelRecord& record = points_[k];
    record.kind = WithParts(record.kind);
    record.value.resize(record.value.size() - bytes);
    record.value += parts;
  }
  void ErasePrefix(const std::string& prefix) {
    std::erase_if(points_, [&](auto& e) { return e.first.starts_with(prefix); });
    std::erase_if(prefixes_, [&](auto& e) { return e.starts_with(prefix); });
  }
  void DeletePrefix(const std::string& prefix) {
    ErasePrefix(prefix);
    prefixes_.insert(prefix);
  }
  void DeleteRange(const std::string& b, const std::string& e) {
    if (b >= e) return;
    std::erase_if(points_, [&](auto& x) { return x.first >= b && x.first < e; });
    std::erase_if(prefixes_,
                  [&](auto& x) { return x >= b && x < e && !std::string_view(e).starts_with(x); });
    ranges_.emplace_back(b, e);
  }
  void Erase(const std::string& k) { points_.erase(k); }

  bool Covered(const std::string& k, uint32_t p) const {
    for (auto& [b, e] : ranges_)
      if (k >= b && k < e) return true;
    for (uint32_t n = 0; n <= p; ++n)
      if (prefixes_.contains(k.substr(0, n))) return true;
    return false;
  }
  using Key = std::pair<std::string, int>;  // prefix tombstones first
  std::map<Key, ModelRecord> All() const {
    std::map<Key, ModelRecord> all;
    for (auto& [k, r] : points_) all[{k, 1}] = r;
    for (auto& p : prefixes_)
      all[{p, 0}] = {RecordKind::kPrefixDelete, "", static_cast<uint32_t>(p.size())};
    return all;
  }
  const ModelRecord* Find(const std::string& k) const {
    auto it = points_.find(k);
    return it == points_.end() ? nullptr : &it->second;
  }
  bool HasPrefixTombstone(const std::string& p) const { return prefixes_.contains(p); }
  bool RangeCovers(const std::string& k) const {
    for (auto& [b, e] : ranges_)
      if (k >= b && k < e) return true;
    return false;
  }

 private:
  std::map<std::string, ModelRecord> points_;
  std::set<std::string> prefixes_;
  std::vector<std::pair<std::string, std::string>> ranges_;
};

std::map<Model::Key, ModelRecord> ReadAll(const MemTable& table, Slice from = {}) {
  std::map<Model::Key, ModelRecord> all;
  Model::Key last{"", -1};
  auto it = table.NewIterator(false);
  for (it->Seek(from); it->Valid(); it->Next()) {
    const Record& r = it->record();
    Model::Key key{std::string(r.key), r.kind == RecordKind::kPrefixDelete ? 0 : 1};
    EXPECT_LT(last, key);
    last = key;
    all[key] = {r.kind, std::string(r.value), r.prefix_bytes};
  }
  EXPECT_TRUE(it->status().ok());
  return all;
}

void CheckGet(const MemTable& table, const Model& model, const std::string& key, uint32_t p) {
  Lookup lookup(key, p);
  table.Get(&lookup);
  const ModelRecord* want = model.Find(key);
  const bool hidden =
      (p != 0 && model.HasPrefixTombstone(key.substr(0, p))) || model.RangeCovers(key);
  const bool base = want != nullptr && !IsAppend(want->kind);
  EXPECT_EQ(lookup.done(), base || hidden);
  lookup.Finish();
  const bool found = want != nullptr && want->kind != RecordKind::kDelete;
  ASSERT_EQ(lookup.found(), found);
  if (found) {
    EXPECT_EQ(lookup.value(), want->value);
  }
}

std::string ValueOf(std::mt19937_64& random) {
  const uint64_t kind = random() % 20;
  const size_t bytes = kind < 12 ? random() % 20 : kind < 19 ? random() % 2000 : random() % 300000;
  std::string v(bytes, static_cast<char>('a' + random() % 26));
  if (!v.empty()) v.back() = static_cast<char>(random());
  return v;
}

// Few distinct keys. Some are prefixes of others, have zero bytes, or share long runs.
std::string KeyOf(std::mt19937_64& random, uint64_t spread) {
  std::string key(1, static_cast<char>(random() % 3));
  key += "table";
  const uint64_t n = random() % spread;
  key.append(n % 7 == 0 ? 3 : 0, '\0');
  for (uint64_t rest = n; rest != 0; rest /= 5)
    key +=
        "\0ab\xff"
        "c"[rest % 5];
  if (n % 11 == 0) key.append(40, 'x').append(std::to_string(n));
  return key;
}

void RunModel(uint64_t seed, uint64_t spread, int steps) {
  std::mt19937_64 random(seed);
  MemoryCounter counter;
  {
    auto table = MemTable::Create(&counter);
    Model model;
    for (int step = 0; step < steps; ++step) {
      const std::string key = KeyOf(random, spread);
      const uint32_t prefix = static_cast<uint32_t>(
          random() % 2 == 0 ? 0 : std::min<size_t>(key.size(), 6 + random() % 2));
      const uint64_t op = random() % 100;
      if (op < 40) {
        const std::string v = ValueOf(random);
        table->Put(key, prefix, v);
        model.Put(key, prefix, v);
      } else if (op < 50) {
        table->Delete(key, prefix);
        model.Delete(key, prefix);
      } else if (op < 65) {
        const std::string v = ValueOf(random);
        table->Append(key, prefix, v);
        model.Append(key, prefix, v);
        if (op < 55) {
          const std::string parts = ValueOf(random).substr(0, 60);
          ASSERT_EQ(table->Tail(key, v.size()), v);
          table->ReplaceTail(key, v.size(), parts);
          model.ReplaceTail(key, v.size(), parts);
        }
      } else if (op < 75) {
        table->Erase(key);
        model.Erase(key);
      } else if (op < 77) {
        const std::string p = key.substr(0, 6 + random() % 4);
        table->DeletePrefix(p);
        model.DeletePrefix(p);
      } else if (op < 78) {
        const std::string p = key.substr(0, 7 + random() % 3);
        table->ErasePrefix(p);
        model.ErasePrefix(p);
      } else if (op < 79) {
        std::string a = KeyOf(random, spread), b = KeyOf(random, spread);
        table->DeleteRange(a, b);
        model.DeleteRange(a, b);
      } else {
        CheckGet(*table, model, key, prefix);
      }
      if (random() % 500 == 0) {
        ASSERT_EQ(ReadAll(*table), model.All()) << "seed " << seed << " step " << step;
      }
      ASSERT_EQ(table->arena_bytes(), counter.used());
    }
    uint64_t live = 0;
    for (auto& [k, r] : model.All()) live += k.first.size() + r.value.size();
    EXPECT_EQ(table->live_bytes(), live);
    EXPECT_EQ(table->record_count(), model.All().size());
    table->Seal();
    EXPECT_EQ(ReadAll(*table), model.All()) << "seed " << seed;
    for (int i = 0; i < 200; ++i) {
      const std::string key = KeyOf(random, spread);
      CheckGet(*table, model, key, 6);
      std::map<Model::Key, ModelRecord> tail = model.All();
      tail.erase(tail.begin(), tail.lower_bound({key, 0}));
      if (i < 20) {
        EXPECT_EQ(ReadAll(*table, key), tail);
      }
    }
    EXPECT_EQ(table->arena_bytes(), counter.used());
  }
  EXPECT_EQ(counter.used(), 0u);
}

TEST(MemTableModel, FewKeys) {
  for (uint64_t seed = 1; seed <= 10; ++seed) RunModel(seed, 30, 3000);
}
TEST(MemTableModel, ManyKeys) {
  for (uint64_t seed = 1; seed <= 3; ++seed) RunModel(100 + seed, 100000, 20000);
}

TEST(MemTable, IdleCostsNothing) {
  MemoryCounter counter;
  auto table = MemTable::Create(&counter);
  EXPECT_EQ(counter.used(), 0u);
  EXPECT_TRUE(table->empty());
  table->Put("k", 0, "v");
  EXPECT_LT(counter.used(), 16u << 10);
  EXPECT_FALSE(table->empty());
}

TEST(MemTable, AppendAfterTombstoneOfThisRunIsPut) {
  MemoryCounter counter;
  auto table = MemTable::Create(&counter);
  table->DeletePrefix("p1");
  table->DeleteRange("r", "s");
  table->Append("p1k", 2, "a");
  table->Append("rk", 0, "b");
  table->Append("z", 0, "c");
  auto all = ReadAll(*table);
  EXPECT_EQ((all[{"p1k", 1}].kind), RecordKind::kPut);
  EXPECT_EQ((all[{"rk", 1}].kind), RecordKind::kPut);
  EXPECT_EQ((all[{"z", 1}].kind), RecordKind::kAppend);
}

TEST(MemTable, RangeDeleteKeepsPrefixTombstoneThatReachesBeyondIt) {
  MemoryCounter counter;
  auto table = MemTable::Create(&counter);
  table->DeletePrefix("ab");
  table->DeletePrefix("aa");
  table->DeleteRange("a", "abm");
  EXPECT_TRUE(table->HasPrefixDelete("ab"));
  EXPECT_FALSE(table->HasPrefixDelete("aa"));
}

TEST(MemTable, ErasedMemoryIsReused) {
  MemoryCounter counter;
  auto table = MemTable::Create(&counter);
  uint64_t after_first = 0;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 1000; ++i)
      table->Put("window" + std::to_string(100000 + round * 1000 + i), 6, std::string(100, 'v'));
    table->ErasePrefix("window");
    if (round == 0) after_first = counter.used();
  }
  EXPECT_LT(counter.used(), after_first * 3 / 2);
  EXPECT_EQ(table->live_bytes(), 0u);
}

TEST(MemTable, ListGrowthIsAmortised) {
  MemoryCounter counter;
  auto table = MemTable::Create(&counter);
  std::string want;
  for (int i = 0; i < 20000; ++i) {
    const std::string segment = "segment" + std::to_string(i);
    table->Append("list", 0, segment);
    want += segment;
  }
  Lookup lookup("list", 0);
  table->Get(&lookup);
  lookup.Finish();
  EXPECT_EQ(lookup.value(), want);
  EXPECT_LT(counter.used(), want.size() * 5);
}

// The memory of the replaced bytes is freed.
TEST(MemTable, AReplacedTailGivesItsMemoryBack) {
  MemoryCounter counter;
  auto table = MemTable::Create(&counter);
  std::string want;
  for (int i = 0; i < 2000; ++i) {
    const std::string key = "list" + std::to_string(i % 500), element(20'000, 'e');
    EXPECT_TRUE(table->Tail(key, element.size()).empty());
    table->Append(key, 0, element);
    ASSERT_EQ(table->Tail(key, element.size()), element);
    EXPECT_TRUE(table->Tail(key, element.size() + 1'300).empty());
    table->ReplaceTail(key, element.size(), std::string(60, 'r'));
  }
  EXPECT_LT(counter.used(), 2u << 20)
      << "without the replacement, the elements would take 10 million bytes";
  EXPECT_EQ(table->live_bytes(), 2000u * 60 + 500 * 7 - 10 * 2 - 90);
  Lookup lookup("list7", 0);
  table->Get(&lookup);
  EXPECT_TRUE(lookup.has_parts());
  lookup.Finish();
  EXPECT_EQ(lookup.value(), std::string(4 * 60, 'r'));
}

TEST(MemTable, OnlyListsHaveTails) {
  MemoryCounter counter;
  auto table = MemTable::Create(&counter);
  table->PutReference("reference", 0, "reference");
  table->Delete("deleted", 0);
  table->Put("list", 0, "list");
  EXPECT_TRUE(table->Tail("reference", 4).empty());
  EXPECT_TRUE(table->Tail("deleted", 1).empty());
  EXPECT_TRUE(table->Tail("list", 5).empty());
  EXPECT_EQ(table->Tail("list", 3), "ist");
}

TEST(MemTable, PageNeverEndsBetweenPrefixTombstoneAndItsKey) {
  MemoryCounter counter;
  auto table = MemTable::Create(&counter);
  table->DeletePrefix("k");
  table->Put("k", 0, "v");
  table->Put("l", 0, "w");
  MemTable::Copied page;
  table->CopyRange("", false, "", 1, false, &page);
  EXPECT_EQ(page.entries.size(), 2u);
  EXPECT_FALSE(page.end);
  table->CopyRange("k", true, "", 1, true, &page);
  ASSERT_EQ(page.entries.size(), 1u);
  EXPECT_EQ(page.entries[0].value_bytes, 0u);
  EXPECT_TRUE(page.end);
}

TEST(MemTable, LargestKeysSortAndRead) {
  MemoryCounter counter;
  auto table = MemTable::Create(&counter);
  const std::string base(1 << 20, 'k');
  for (int i = 0; i < 20; ++i) {
    std::string key = base;
    key[key.size() - 1] = static_cast<char>(i * 7 % 20);
    table->Put(key, 0, std::to_string(i));
  }
  EXPECT_EQ(ReadAll(*table).size(), 20u);
  table->Seal();
  EXPECT_EQ(ReadAll(*table).size(), 20u);
}

TEST(MemTableConcurrency, ReadersBesideWriterAndSeal) {
  MemoryCounter counter;
  auto table = MemTable::Create(&counter);
  std::atomic<bool> stop{false};
  const auto key_of = [](uint64_t n) { return "prefix/" + std::to_string(n); };
  std::vector<std::thread> readers;
  for (uint64_t t = 0; t < 2; ++t) {
    readers.emplace_back([&, t] {
      std::mt19937_64 random(t);
      while (!stop.load(std::memory_order_relaxed)) {
        const std::string key = key_of(random() % 500);
        Lookup lookup(key, 7);
        table->Get(&lookup);
        lookup.Finish();
        if (lookup.found()) {
          // A value is one repeated byte: torn reads would mix two.
          const Slice v = lookup.value();
          ASSERT_EQ(v.find_first_not_of(v[0]), Slice::npos);
        }
        if (random() % 16 == 0) {
          std::string last;
          auto it = table->NewIterator(false);
          for (it->Seek(key); it->Valid(); it->Next()) {
            ASSERT_LE(last, it->record().key);
            last = it->record().key;
          }
          ASSERT_LE(table->live_bytes(), table->arena_bytes() + (1u << 20));
        }
        (void)table->range_tombstones();
      }
    });
  }
  std::mt19937_64 random(99);
  for (int i = 0; i < 20000; ++i) {
    const std::string key = key_of(random() % 500);
    const std::string value(1 + random() % 1500, static_cast<char>('a' + i % 26));
    switch (random() % 8) {
      case 0:
        table->Delete(key, 7);
        break;
      case 1:
        table->Erase(key);
        break;
      case 2:
        if (i % 50 == 0) table->DeletePrefix("prefix/");
        break;
      case 3:
        if (i % 50 == 0) table->DeleteRange(key, key + "~");
        break;
      default:
        table->Put(key, 7, value);
    }
    if (i % 64 == 0) std::this_thread::yield();
  }
  table->Seal();
  const auto before = ReadAll(*table);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  stop = true;
  for (auto& r : readers) r.join();
  EXPECT_EQ(ReadAll(*table), before);
}

TEST(MemTable, TombstonesAreCharged) {
  MemoryCounter counter;
  auto table = MemTable::Create(&counter);
  uint64_t before = counter.used();
  const std::string pad(1000, 'p');
  for (int i = 0; i < 1000; ++i) {
    const std::string key = std::to_string(10000 + i) + pad;
    table->DeleteRange(key, key + "x");
  }
  EXPECT_GT(counter.used(), before + 2 * 1000 * 1000)
      << "each tombstone must be charged with two keys";
  EXPECT_EQ(counter.used(), table->arena_bytes());
  table->DeleteRange("1", "2");  // replaces all other tombstones
  EXPECT_LT(counter.used(), before + 200 * 1000);
  EXPECT_EQ(counter.used(), table->arena_bytes());
  before = counter.used();
  std::string prefix;
  for (int i = 0; i < 500; ++i) table->DeletePrefix(prefix.append(1, 'q'));
  EXPECT_GT(counter.used(), before + 500 * sizeof(uint32_t));
  EXPECT_EQ(counter.used(), table->arena_bytes());
  table.reset();
  EXPECT_EQ(counter.used(), 0u);
}

}  // namespace
}  // namespace lava
