// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "read/merging_iterator.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/list_parts.h"
#include "lava/list_format.h"
#include "memtable/memtable.h"
#include "testing/random.h"

namespace lava {
namespace {

class Older final : public OlderData {
 public:
  explicit Older(bool any) : any_(any) {}
  bool MayHoldKey(Slice) const override { return any_; }
  bool MayHoldRange(Slice, Slice) const override { return any_; }

 private:
  const bool any_;
};

// A run as text: "+key=value", "-key", "&key=tail" (append), "!prefix" (prefix delete) and
// "[begin,end)"; they are applied in order.
std::shared_ptr<MemTable> MakeRun(MemoryCounter* counter, const std::string& text) {
  auto table = MemTable::Create(counter);
  std::istringstream words(text);
  for (std::string w; words >> w;) {
    const size_t split = w.find_first_of("=,");
    const std::string a = w.substr(1, split - 1);
    const std::string b = split == std::string::npos ? "" : w.substr(split + 1);
    switch (w[0]) {
      case '+':
        table->Put(a, 0, b);
        break;
      case '-':
        table->Delete(a, 0);
        break;
      case '&':
        table->Append(a, 0, b);
        break;
      case '!':
        table->DeletePrefix(a);
        break;
      default:
        table->DeleteRange(a, b.substr(0, b.size() - 1));
    }
  }
  table->Seal();
  return table;
}

class MergingIteratorTest : public ::testing::Test {
 protected:
  std::unique_ptr<RecordIterator> Merge(const std::vector<std::string>& newest_first,
                                        MergeOptions options = {}) {
    std::vector<std::unique_ptr<MergeRun>> runs;
    for (const std::string& text : newest_first)
      runs.push_back(NewMemTableRun(MakeRun(&counter_, text), false));
    return NewMergingIterator(std::move(runs), options);
  }
  static std::string Rest(RecordIterator& it) {
    std::string text;
    for (; it.Valid(); it.Next()) {
      const Record& r = it.record();
      text += text.empty() ? "" : " ";
      text += " +-&!"[static_cast<int>(r.kind)];
      text.append(r.key);
      if (!r.value.empty()) text.append("=").append(r.value);
    }
    EXPECT_TRUE(it.status().ok());
    return text;
  }
  std::string View(const std::vector<std::string>& runs) {
    const auto it = Merge(runs);
    it->SeekToFirst();
    return Rest(*it);
  }
  std::string Compacted(const std::vector<std::string>& runs, bool older_may_exist) {
    const Older older(older_may_exist);
    MergeOptions options;
    options.compaction = true;
    options.older = &older;
    const auto it = Merge(runs, options);
    it->SeekToFirst();
    return Rest(*it);
  }
  std::string From(const std::vector<std::string>& runs, Slice target, uint32_t hint = 0,
                   size_t long_key_bytes = 512) {
    MergeOptions options;
    options.prefix_bytes_hint = hint;
    options.long_key_bytes = long_key_bytes;
    const auto it = Merge(runs, options);
    it->Seek(target);
    return Rest(*it);
  }
  MemoryCounter counter_;
};

TEST_F(MergingIteratorTest, NewestRecordWins) {
  EXPECT_EQ(View({"+a=1 -b", "+a=2 +b=2 +c=2", "+c=3 +d=3"}), "+a=1 +c=2 +d=3");
  EXPECT_EQ(View({}), "");
  EXPECT_EQ(View({"", "-a"}), "");
}

TEST_F(MergingIteratorTest, ListsFoldDownToTheirBase) {
  EXPECT_EQ(View({"&a=3", "&a=2", "+a=1", "+a=0"}), "+a=123");
  EXPECT_EQ(View({"&a=3", "-a", "+a=1"}), "+a=3");
  EXPECT_EQ(View({"&a=3", "&a=2"}), "+a=23");
  EXPECT_EQ(View({"&a=3", "!a", "+a=1"}), "+a=3");
  EXPECT_EQ(View({"&a=3", "[a,b)", "&a=1"}), "+a=3");
}

TEST_F(MergingIteratorTest, AListPastTheLimitIsMarkedAndTheMergeGoesOn) {
  std::string too_long;
  AppendTooLongSegment(4, 3, &too_long);
  for (const bool older_may_exist : {false, true}) {
    const Older older(older_may_exist);
    MergeOptions options;
    options.compaction = true;
    options.older = &older;
    options.list_bytes_max = 3;
    const auto it = Merge({"&a=4 &b=4 +d=x", "&a=3 &b=3", "+a=12 &b=12 &c=123"}, options);
    it->SeekToFirst();
    EXPECT_EQ(Rest(*it), "+a=" + too_long + (older_may_exist ? " &" : " +") + "b=" + too_long +
                             (older_may_exist ? " &" : " +") + "c=123 +d=x");
  }
}

TEST_F(MergingIteratorTest, WhatAListHasElsewhereCountsForTheLimitInOneRunToo) {
  std::string part, too_long;
  AppendListReference({FileId{{1, 2}, 3}, 1001, std::nullopt}, &part);
  AppendTooLongSegment(1001, 1000, &too_long);
  for (const uint64_t limit : {1000, 1001}) {
    const auto table = MemTable::Create(&counter_);
    table->Append("a", 0, "element");
    table->ReplaceTail("a", 7, part);
    table->Seal();
    MergeOptions options;
    options.list_bytes_max = limit;
    std::vector<std::unique_ptr<MergeRun>> runs;
    runs.push_back(NewMemTableRun(table, false));
    const auto it = NewMergingIterator(std::move(runs), options);
    it->SeekToFirst();
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->record().value, limit == 1000 ? too_long : part);
    EXPECT_EQ(HasParts(it->record().kind), limit == 1001);
  }
}

TEST_F(MergingIteratorTest, PrefixDeleteHidesOlderRunsOnly) {
  EXPECT_EQ(View({"!m +mx=1", "+m=2 +mx=2 +my=2 +n=2"}), "+mx=1 +n=2");
  EXPECT_EQ(View({"+ma=0", "!m", "+ma=2 +mb=2", "!mb +mc=3"}), "+ma=0");
  // Nested prefixes: the inner delete is newer, then older, than the outer one.
  EXPECT_EQ(View({"!mm", "+mma=1 +mx=1", "!m", "+mmb=2 +my=2"}), "+mx=1");
  EXPECT_EQ(View({"!m", "+mx=1 !mm", "+mma=2"}), "");
}

TEST_F(MergingIteratorTest, RangeDeleteHidesOlderRunsOnly) {
  EXPECT_EQ(View({"[b,d) +c=1", "+a=2 +b=2 +c=2 +d=2"}), "+a=2 +c=1 +d=2");
  EXPECT_EQ(View({"+b=0", "[a,c)", "+b=2 +bb=2 +c=2"}), "+b=0 +c=2");
}

TEST_F(MergingIteratorTest, LongDeletionsAreJumpedOver) {
  std::string many, keys;
  for (int i = 100; i < 200; ++i) many += "+m" + std::to_string(i) + "=x ";
  EXPECT_EQ(View({"!m", many + "+n=1"}), "+n=1");
  EXPECT_EQ(View({"[m,m2)", many + "+n=1"}), "+n=1");
  EXPECT_EQ(View({"[m,m15)", many + "!m15 +m15z=1", "+m150=2 +m16=2"}).substr(0, 14),
            "+m15z=1 +m16=2");
  // A seek must not skip a prefix delete that begins inside the range and reaches beyond its end.
  EXPECT_EQ(View({"[m,q15)", many + "!q +q19=1", "+q18=2 +r=2"}), "+q19=1 +r=2");
}

TEST_F(MergingIteratorTest, SeekIntoADeletedPrefixLearnsOfIt) {
  const std::vector<std::string> runs = {"+mz=1", "!m", "+ma=2 +mb=2 +mc=2 +n=2"};
  EXPECT_EQ(From(runs, "mb"), "+mz=1 +n=2");
  EXPECT_EQ(From(runs, "mb", 1), "+mz=1 +n=2");
  EXPECT_EQ(From(runs, "m"), "+mz=1 +n=2");
  EXPECT_EQ(From(runs, "n"), "+n=2");
  // The newest tombstone decides, whatever its prefix.
  EXPECT_EQ(From({"!mm", "+mma=1 +mx=1", "!m", "+mmb=2 +my=2"}, "mma"), "+mx=1");
}

TEST_F(MergingIteratorTest, ALongTargetLearnsOfTheSamePrefixDeletesAsAShortOne) {
  testing::Random random(7);
  const auto key = [&] {
    std::string made;
    for (uint64_t i = random.Uniform(6) + 1; i > 0; --i)
      made += static_cast<char>('a' + random.Uniform(3));
    return made;
  };
  size_t shown = 0;
  for (int round = 0; round < 500; ++round) {
    std::vector<std::string> runs(1 + random.Uniform(4));
    for (std::string& run : runs)
      for (uint64_t i = random.Uniform(12); i > 0; --i)
        run += (random.OneIn(3) ? "!" + key() : "+" + key() + "=" + std::to_string(i)) + " ";
    for (int i = 0; i < 10; ++i) {
      const std::string target = key();
      const std::string found = From(runs, target, 0, 0);
      ASSERT_EQ(found, From(runs, target)) << target;
      shown += found.size();
    }
  }
  EXPECT_GT(shown, 10'000u);
}

// A seek used to look up each prefix of the target, at quadratic cost.
TEST_F(MergingIteratorTest, ASeekToALongKeyTakesSeeksAndNotALookupForEachByte) {
  std::string target(4 << 20, 'k');
  EXPECT_EQ(From({"!" + target.substr(0, 1 << 20), "+a=1 +" + target + "=2 +z=3"}, target), "+z=3");
  target[2 << 20] = 'j';
  EXPECT_EQ(From({"!b", "+" + target + "=2 +z=3"}, target), "+" + target + "=2 +z=3");
}

TEST_F(MergingIteratorTest, SeeksGoBothWays) {
  const auto it = Merge({"!m", "+a=1 +mb=2 +n=2"});
  it->Seek("mc");
  EXPECT_EQ(Rest(*it), "+n=2");
  it->Seek("a");
  EXPECT_EQ(Rest(*it), "+a=1 +n=2");
}

TEST_F(MergingIteratorTest, ACancelledWalkEndsAmongRecordsThatAreNotShown) {
  std::string deletes;
  for (int i = 10000; i < 12000; ++i) deletes += " -" + std::to_string(i);
  const Older older(false);
  std::atomic<bool> cancelled{false};
  MergeOptions options;
  options.compaction = true;
  options.older = &older;
  options.cancelled = &cancelled;
  const auto it = Merge({deletes, "+z=1"}, options);
  it->SeekToFirst();
  EXPECT_EQ(Rest(*it), "+z=1");
  cancelled = true;
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_EQ(it->status().code(), Status::Code::kAborted) << it->status().ToString();
}

TEST_F(MergingIteratorTest, CompactionKeepsWhatHidesOlderData) {
  EXPECT_EQ(Compacted({"-a &b=2 !m +mx=1", "+a=1 +mx=2 +my=2 -z"}, true), "-a &b=2 !m +mx=1 -z");
  EXPECT_EQ(Compacted({"-a &b=2 !m +mx=1", "+a=1 +mx=2 +my=2 -z"}, false), "+b=2 +mx=1");
}

TEST_F(MergingIteratorTest, CompactionMakesPutsWhereTheBaseIsKnown) {
  EXPECT_EQ(Compacted({"&a=2", "+a=1"}, true), "+a=12");
  EXPECT_EQ(Compacted({"&a=2", "-a"}, true), "+a=2");
  EXPECT_EQ(Compacted({"&a=2", "&a=1"}, true), "&a=12");
  EXPECT_EQ(Compacted({"&a=2", "[a,b)"}, true), "+a=2");
  EXPECT_EQ(Compacted({"&ma=2", "!m"}, true), "!m +ma=2");
}

TEST_F(MergingIteratorTest, CompactionDropsCoveredTombstones) {
  EXPECT_EQ(Compacted({"!m", "-mx !mm", "!m"}, true), "!m");
  EXPECT_EQ(Compacted({"-mx", "!m"}, true), "!m");
  // A prefix delete that reaches beyond the range covering its position still has effect there.
  EXPECT_EQ(Compacted({"[m,mm)", "!m +mz=1", "+mza=2"}, true), "!m +mz=1");
  EXPECT_EQ(Compacted({"[m,n)", "!m +mz=1"}, true), "");
}

TEST_F(MergingIteratorTest, KeysOnlyHasNoValues) {
  MergeOptions options;
  options.keys_only = true;
  const auto it = Merge({"&a=2", "+a=1 +b=2"}, options);
  it->SeekToFirst();
  EXPECT_EQ(Rest(*it), "+a +b");
}

class FailingRun final : public MergeRun, public RecordIterator {
 public:
  RecordIterator& records() override { return *this; }
  const RangeTombstone* Covering(Slice) const override { return nullptr; }
  void AddRangeTombstones(RangeTombstoneSet*) const override {}
  bool has_range_tombstones() const override { return false; }
  bool has_prefix_deletes() const override { return true; }
  Result<bool> HasPrefixDelete(Slice) const override { return Status::IOError("prefix"); }
  bool Valid() const override { return steps_ < 2; }
  void SeekToFirst() override { steps_ = 0; }
  void Seek(Slice) override { steps_ = 0; }
  void Next() override { ++steps_; }
  const Record& record() const override { return steps_ == 0 ? first_ : second_; }
  Status status() const override { return steps_ < 2 ? Status::OK() : Status::Corruption("block"); }

 private:
  int steps_ = 0;
  const Record first_{"a", RecordKind::kPut, 0, "1"};
  const Record second_{"c", RecordKind::kPut, 0, "1"};
};

TEST_F(MergingIteratorTest, AnErrorOfOneRunEndsTheWalk) {
  std::vector<std::unique_ptr<MergeRun>> runs;
  runs.push_back(std::make_unique<FailingRun>());
  runs.push_back(NewMemTableRun(MakeRun(&counter_, "+b=1 +x=1"), false));
  const auto it = NewMergingIterator(std::move(runs), {});
  int seen = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) ++seen;
  EXPECT_EQ(seen, 3);
  EXPECT_TRUE(it->status().IsCorruption());
  it->Seek("bb");
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsIOError());
}

}  // namespace
}  // namespace lava
