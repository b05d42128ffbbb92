// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lava/options.h"
#include "lava/slice.h"

namespace lava::testing {

/// The tables of all histories, by number. Keys have one partition byte; a store with two adds a
/// leading zero.
struct HistoryTable {
  const char* name;
  TableKind kind;
  TtlLayout ttl_layout;
};
inline constexpr HistoryTable kHistoryTables[] = {
    {"value", TableKind::kValue, TtlLayout::kNone},
    {"map", TableKind::kMap, TtlLayout::kNone},
    {"list", TableKind::kList, TtlLayout::kNone},
    {"dropped", TableKind::kMap, TtlLayout::kNone},
    {"ttl-value", TableKind::kValue, TtlLayout::kValue},
    {"ttl-map", TableKind::kMap, TtlLayout::kMap},
    {"ttl-list", TableKind::kList, TtlLayout::kList},
};
inline constexpr uint32_t kHistoryTableCount = std::size(kHistoryTables);
inline constexpr uint32_t kPartitionMax = 15;
/// Partition, a letter and a byte: the prefix by which a map's keys may be deleted.
inline constexpr uint32_t kPrefixBytes = 3;
inline uint32_t PrefixBytesOf(uint32_t table) {
  return kHistoryTables[table].kind == TableKind::kMap ? kPrefixBytes : 0;
}
inline bool HasTtl(uint32_t table) { return kHistoryTables[table].ttl_layout != TtlLayout::kNone; }

/// The unit of the histories' clock. It is so coarse that the duration of a store's operations does
/// not matter.
inline constexpr int64_t kTimeUnitMs = 1'000'000'000;
inline constexpr uint64_t kFirstTime = 100;  // units
/// Added to a time ahead of the time that the steady clock confirms.
inline constexpr uint64_t kUnconfirmed = 1ull << 32;

enum class Op : uint8_t {
  kPut,
  kDelete,
  kAppend,
  kDeletePrefix,    // key: the prefix
  kDeleteRange,     // key to upper
  kPutExternal,     // a put whose value ends an entry; number: see LavaStore::PutExternal
  kAppendExternal,  // an append whose only element ends one
  kBatch,
  kRefused,  // number: kind of mistake
  kGet,      // from here on with slot, -1 for the newest state
  kContains,
  kContainsPrefix,
  kGetSeveral,  // batch: the keys
  kScan,
  kReadAll,  // every table, by a scan and by point reads
  kTakeSnapshot,
  kReleaseSnapshot,
  kCheckpoint,  // of a slot: flushed, and its files and metadata checked
  kImport,      // slot and number (another slot) divided by partition; see Store::Import
  kReopen,
  kFlush,
  kCompactAll,
  kRunJobs,  // number: how many, if jobs run on request
  kDropTable,
  kSetTtl,    // number: units
  kTune,      // number: see Store::Tune
  kTuneHost,  // number: see Store::TuneHost
  kEntries,   // number: see Store::Entries
  kSetTime,   // number: units, which may be fewer than before; see kUnconfirmed
};
inline constexpr uint32_t kOpCount = static_cast<uint32_t>(Op::kSetTime) + 1;
const char* OpName(Op op);

/// One step of a history. It contains everything that it needs, so that any other step can be
/// removed.
struct Operation {
  Op op = Op::kGet;
  uint32_t table = 0;
  int32_t slot = -1;
  uint64_t number = 0;
  std::string key, upper, value;
  // kScan
  bool exclusive = false, prefix = false, keys_only = false;
  uint32_t skip = 0, entries_max = 0;
  uint64_t bytes_max = 0;
  std::vector<Operation> batch;
};

using History = std::vector<Operation>;

/// One line, with keys in hexadecimal and values by their length.
std::string Describe(const Operation& operation);
std::string Hex(Slice bytes);

}  // namespace lava::testing
