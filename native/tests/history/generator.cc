// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/history/generator.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/coding.h"
#include "lava/list_format.h"
#include "testing/random.h"

namespace lava::testing {
namespace {

constexpr int32_t kSlots = 3;

struct Weight {
  Op op;
  uint32_t share;
};
// Weights of 1000.
constexpr Weight kWeights[] = {
    {Op::kPut, 290},
    {Op::kDelete, 75},
    {Op::kAppend, 75},
    {Op::kDeletePrefix, 35},
    {Op::kDeleteRange, 15},
    {Op::kBatch, 45},
    {Op::kRefused, 5},
    {Op::kGet, 90},
    {Op::kContains, 25},
    {Op::kContainsPrefix, 25},
    {Op::kGetSeveral, 15},
    {Op::kScan, 100},
    {Op::kReadAll, 3},
    {Op::kTakeSnapshot, 18},
    {Op::kReleaseSnapshot, 8},
    {Op::kCheckpoint, 4},
    {Op::kImport, 3},
    {Op::kReopen, 5},
    {Op::kFlush, 10},
    {Op::kCompactAll, 4},
    {Op::kRunJobs, 130},
    {Op::kDropTable, 4},
    {Op::kSetTtl, 4},
    {Op::kSetTime, 12},
    {Op::kTune, 4},
};
constexpr Weight kWritingWeights[] = {
    {Op::kPut, 330},         {Op::kDelete, 80},       {Op::kAppend, 90},
    {Op::kDeletePrefix, 50}, {Op::kDeleteRange, 20},  {Op::kBatch, 70},
    {Op::kFlush, 60},        {Op::kCompactAll, 8},    {Op::kRunJobs, 240},
    {Op::kDropTable, 10},    {Op::kTakeSnapshot, 12}, {Op::kReleaseSnapshot, 10},
    {Op::kReopen, 10},       {Op::kImport, 10},       {Op::kCheckpoint, 10},
    {Op::kSetTtl, 10},       {Op::kSetTime, 20},      {Op::kTune, 5},
};

class Generator {
 public:
  Generator(uint64_t seed, const GeneratorOptions& options)
      : random_(seed),
        entries_random_(~seed),
        clock_random_(seed ^ 0x5ca1ab1e),
        options_(options) {}

  History Run() {
    History history;
    for (size_t i = 0; i < options_.operations; ++i) {
      history.push_back(Next());
      ShareTheLog(&history.back());
    }
    return history;
  }

 private:
  template <size_t N>
  Op Draw(const Weight (&weights)[N]) {
    uint64_t total = 0;
    for (const Weight& weight : weights) total += weight.share;
    uint64_t dice = random_.Uniform(total);
    for (const Weight& weight : weights) {
      if (dice < weight.share) return weight.op;
      dice -= weight.share;
    }
    return weights[0].op;
  }

  uint32_t Table() {
    static constexpr uint32_t kTables[] = {0, 1, 1, 1, 2, 2, 3, 4, 5, 6};
    return kTables[random_.Uniform(std::size(kTables))];
  }
  uint32_t ListTable() { return random_.OneIn(3) ? 6 : 2; }
  uint32_t MapTable() {
    static constexpr uint32_t kTables[] = {1, 1, 3, 5};
    return kTables[random_.Uniform(std::size(kTables))];
  }
  uint32_t DroppedTable() {
    static constexpr uint32_t kTables[] = {3, 3, 3, 2, 5, 6};
    return kTables[random_.Uniform(std::size(kTables))];
  }
  std::string Prefix() {
    std::string key;
    key.push_back(static_cast<char>(random_.OneIn(8) ? random_.Uniform(kPartitionMax + 1)
                                                     : random_.Uniform(3)));
    key.push_back('k');
    key.push_back(static_cast<char>(random_.Uniform(12) * 20));
    return key;
  }
  std::string Key(uint32_t table) {
    std::string key = Prefix();
    // Long keys that share almost all bytes; some are prefixes of others.
    if (random_.OneIn(25)) key.append(random_.Between(20, 300), 'x');
    if (PrefixBytesOf(table) != 0 ? !random_.OneIn(10) : random_.OneIn(4))
      key.push_back(static_cast<char>(random_.Uniform(8)));
    return key;
  }
  std::string Bytes() {
    if (random_.OneIn(options_.large_one_in)) return random_.Bytes(6000);
    if (random_.OneIn(20)) return std::string(random_.Uniform(3000), 'z');
    return random_.SkewedBytes(60);
  }
  // With TTL: timestamps of now or of some units ago.
  std::string Stamped(uint32_t table) {
    std::string bytes;
    const TtlLayout layout = kHistoryTables[table].ttl_layout;
    if (layout == TtlLayout::kMap) bytes.push_back('\0');
    if (layout != TtlLayout::kNone)
      PutBigEndian(&bytes, (time_ - random_.Uniform(6)) * kTimeUnitMs, 8);
    return bytes + Bytes();
  }
  std::string Value(uint32_t table) {
    if (kHistoryTables[table].kind != TableKind::kList) return Stamped(table);
    std::string value;
    // Joined elements come from canonical savepoints, without boundaries and therefore without
    // expiry.
    const bool joined = !HasTtl(table) && random_.OneIn(8);
    for (uint64_t i = random_.OneIn(4) ? random_.Uniform(5) : 1; i > 0; --i)
      AppendListSegment(joined ? ListSegment::kJoined : ListSegment::kElement, Stamped(table),
                        &value);
    return value;
  }

  Operation Write(Op op) {
    Operation o;
    o.op = op;
    o.table = op == Op::kAppend ? ListTable() : op == Op::kDeletePrefix ? MapTable() : Table();
    o.key = op == Op::kDeletePrefix ? Prefix() : Key(o.table);
    if (op == Op::kPut || op == Op::kAppend) o.value = Value(o.table);
    if (op == Op::kDeleteRange) DrawRange(&o);
    return o;
  }
  void DrawRange(Operation* o) {
    // Usually narrow, so that some data is left.
    if (random_.OneIn(6)) {
      o->upper = Key(o->table);
    } else {
      o->upper = o->key;
      o->upper.back() = static_cast<char>(o->upper.back() + 1);
      o->upper.push_back(static_cast<char>(random_.Uniform(8)));
    }
    if (o->upper < o->key) std::swap(o->upper, o->key);
  }
  void DrawScan(Operation* o) {
    o->entries_max = static_cast<uint32_t>(random_.Between(1, 40));
    o->bytes_max = random_.Between(1, 4096);
    o->keys_only = random_.OneIn(3);
    if (random_.OneIn(3)) o->skip = static_cast<uint32_t>(random_.Uniform(6));
    o->upper = Key(o->table);
    if (PrefixBytesOf(o->table) != 0 && !random_.OneIn(3)) {
      o->prefix = true;
      if (random_.OneIn(2)) o->key.resize(kPrefixBytes);
    } else {
      if (o->upper < o->key) std::swap(o->upper, o->key);
      if (random_.OneIn(4)) o->key.clear();
      if (random_.OneIn(4)) o->upper.clear();
    }
    o->exclusive = !o->key.empty() && random_.OneIn(4);
  }

  // Back by some units, or ahead without the steady clock. Uses a separate generator.
  void StepTheClock(Operation* o) {
    if (clock_random_.OneIn(4)) {
      time_ -= std::min(time_ - kFirstTime / 2, clock_random_.Uniform(6));
      o->number = time_;
    } else if (clock_random_.OneIn(4)) {
      time_ += clock_random_.Uniform(8);
      o->number = time_ | kUnconfirmed;
    }
  }

  // Uses neither weights nor the common generator, because that would change every history.
  void ShareTheLog(Operation* o) {
    if (o->op != Op::kPut && o->op != Op::kAppend && o->op != Op::kRunJobs) return;
    // Lists get several elements between two segments.
    const bool append = o->op == Op::kAppend;
    if (!entries_random_.OneIn(append ? 2 : options_.entries_one_in)) return;
    if (o->op == Op::kPut && kHistoryTables[o->table].kind == TableKind::kList) return;
    o->op = append ? Op::kAppendExternal : o->op == Op::kPut ? Op::kPutExternal : Op::kEntries;
    o->number = entries_random_.Next();
  }

  Operation Next() {
    const Op op = options_.writes_only ? Draw(kWritingWeights) : Draw(kWeights);
    Operation o;
    switch (op) {
      case Op::kPut:
      case Op::kDelete:
      case Op::kAppend:
      case Op::kDeletePrefix:
      case Op::kDeleteRange:
        return Write(op);
      case Op::kBatch:
        for (uint64_t i = random_.Between(1, 12); i > 0; --i) {
          static constexpr Op kInBatch[] = {Op::kPut, Op::kPut, Op::kDelete, Op::kAppend,
                                            Op::kDeletePrefix};
          o.batch.push_back(Write(kInBatch[random_.Uniform(std::size(kInBatch))]));
        }
        break;
      case Op::kGetSeveral:
        o.table = Table();
        for (uint64_t i = random_.Between(1, 12); i > 0; --i) {
          o.batch.emplace_back();
          o.batch.back().table = o.table;
          o.batch.back().key = Key(o.table);
        }
        break;
      case Op::kContainsPrefix:
        o.table = MapTable();
        o.key = Prefix();
        break;
      case Op::kGet:
      case Op::kContains:
      case Op::kScan:
        o.table = Table();
        o.key = Key(o.table);
        if (op == Op::kScan) DrawScan(&o);
        break;
      case Op::kRefused:
        o.number = random_.Next();
        break;
      case Op::kTakeSnapshot:
      case Op::kReleaseSnapshot:
      case Op::kCheckpoint:
        o.slot = static_cast<int32_t>(random_.Uniform(kSlots));
        break;
      case Op::kImport:
        o.slot = static_cast<int32_t>(random_.Uniform(kSlots));
        o.number = random_.Next();
        break;
      case Op::kRunJobs:
        o.number = random_.OneIn(8) ? 20 : 1;
        break;
      case Op::kDropTable:
        o.table = DroppedTable();
        break;
      case Op::kTune:
        o.table = Table();
        o.number = random_.Next();
        // Not a weight, because that would change every history.
        if (o.number >> 63 != 0) {
          o.op = Op::kTuneHost;
          return o;
        }
        break;
      case Op::kSetTtl: {
        o.table = 4 + static_cast<uint32_t>(random_.Uniform(3));
        uint64_t& units = ttl_[o.table - 4];
        units = units == 0 ? 8 : std::max<uint64_t>(1, units / 2);
        o.number = units;
        break;
      }
      case Op::kSetTime:
        time_ += random_.Uniform(3);
        o.number = time_;
        StepTheClock(&o);
        break;
      case Op::kPutExternal:
      case Op::kAppendExternal:
      case Op::kEntries:
      case Op::kTuneHost:
      case Op::kReopen:
      case Op::kReadAll:
      case Op::kFlush:
      case Op::kCompactAll:
        break;
    }
    o.op = op;
    const bool reads = op == Op::kGet || op == Op::kContains || op == Op::kContainsPrefix ||
                       op == Op::kGetSeveral || op == Op::kScan || op == Op::kReadAll;
    if (reads && random_.OneIn(4)) o.slot = static_cast<int32_t>(random_.Uniform(kSlots));
    return o;
  }

  Random random_, entries_random_, clock_random_;
  const GeneratorOptions options_;
  uint64_t time_ = kFirstTime;
  std::array<uint64_t, 3> ttl_{};
};

}  // namespace

History GenerateHistory(uint64_t seed, const GeneratorOptions& options) {
  return Generator(seed, options).Run();
}

}  // namespace lava::testing
