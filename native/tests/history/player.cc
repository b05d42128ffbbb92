// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/history/player.h"

#include <algorithm>

#include "base/coding.h"
#include "base/hash.h"
#include "lava/list_format.h"

namespace lava::testing {
namespace {

Operation WholeScan(uint32_t table, int32_t slot) {
  Operation scan;
  scan.op = Op::kScan;
  scan.table = table;
  scan.slot = slot;
  scan.entries_max = 100;
  scan.bytes_max = 1 << 20;
  return scan;
}

std::string InWords(const Status& status) {
  // The texts of refusals differ between stores.
  if (status.IsInvalidArgument()) return "refused";
  return status.ok() ? "done" : status.ToString();
}

// Whether a concurrent job expired and dropped data between two reads of it. The data must then
// stay absent.
bool MayHaveGone(uint32_t table, bool was_there, bool is_there_again) {
  return HasTtl(table) && was_there && !is_there_again;
}

void Add(const Model::Entry& entry, std::string* words) {
  PutVarint64(words, entry.first.size());
  *words += entry.first;
  PutVarint64(words, entry.second.size());
  *words += entry.second;
}

}  // namespace

Store::ImportPlan PlanOf(const Operation& import) {
  uint64_t draw = import.number;
  const auto next = [&draw](uint64_t n) {
    const uint64_t drawn = draw % n;
    draw /= n;
    return drawn;
  };
  const size_t parts = 1 + next(3);
  Store::ImportPlan plan;
  uint32_t first = 0;
  for (size_t i = 0; i < parts; ++i) {
    Store::ImportPart part;
    part.slot = i == 0 ? import.slot : static_cast<int32_t>(next(4)) - 1;
    part.first = first;
    // Most keys are in the first three partitions.
    part.last = i + 1 == parts ? kPartitionMax : first + static_cast<uint32_t>(next(2));
    first = part.last + 1;
    if (next(6) != 0) plan.push_back(part);
  }
  if (next(2) == 0) std::reverse(plan.begin(), plan.end());
  return plan;
}

Player::Player(Store* store)
    : store_(store), written_(std::make_shared<std::unordered_map<uint64_t, size_t>>()) {
  store_->SetTime(times_.now_ms, /*confirmed=*/true);
}

void Player::SetTime(int64_t now_ms, bool confirmed) {
  times_.now_ms = now_ms;
  if (confirmed)
    for (int64_t& latest : times_.latest_ms) latest = std::max(latest, now_ms);
  // An unconfirmed jump drops no earlier data, but data written after it ages normally.
  times_.latest_ms.push_back(now_ms);
  store_->SetTime(now_ms, confirmed);
}

void Player::NoteStamped(uint32_t table, Slice bytes) {
  written_->try_emplace(Hash64(bytes, table), times_.latest_ms.size() - 1);
}

// Records when values are written: equal bytes may belong to an earlier value.
void Player::Note(const Operation& write) {
  for (const Operation& one : write.batch) Note(one);
  if (write.value.empty() || !HasTtl(write.table)) return;
  if (kHistoryTables[write.table].ttl_layout != TtlLayout::kList)
    return NoteStamped(write.table, write.value);
  Slice rest = write.value, element;
  ListSegment kind;
  while (!rest.empty() && NextListSegment(&rest, &kind, &element).ok())
    NoteStamped(write.table, element);
}

// Whether the value has expired, or a store may have dropped it while the clock was ahead of now.
bool Player::MayHaveExpired(uint32_t table, Slice bytes, size_t offset) const {
  const int64_t ttl_ms = times_.ttl_ms[table];
  if (ttl_ms == 0 || bytes.size() < offset + 8) return false;
  const auto stamp = static_cast<int64_t>(DecodeBigEndian(bytes.data() + offset, 8));
  const auto written = written_->find(Hash64(bytes, table));
  const size_t since = written == written_->end() ? 0 : written->second;
  return stamp + ttl_ms <= std::max(times_.now_ms, times_.latest_ms[since]);
}

// Whether anything is left of a value; for a list, its remaining elements.
bool Player::Live(uint32_t table, std::string* value) const {
  const auto expired = [&](Slice bytes, size_t offset) {
    return MayHaveExpired(table, bytes, offset);
  };
  switch (kHistoryTables[table].ttl_layout) {
    case TtlLayout::kNone:
      return true;
    case TtlLayout::kValue:
      return !expired(*value, 0);
    case TtlLayout::kMap:
      return !expired(*value, 1);
    case TtlLayout::kList:
      break;
  }
  std::string left;
  Slice rest = *value, element;
  ListSegment kind;
  while (!rest.empty()) {
    if (!NextListSegment(&rest, &kind, &element).ok()) return true;
    if (!expired(element, 0)) AppendListSegment(kind, element, &left);
  }
  *value = left;
  // An empty list counts as absent here, because it cannot be distinguished from one whose elements
  // have expired.
  return !left.empty();
}

std::string Player::GetInWords(uint32_t table, const std::string& key, int32_t slot) {
  Result<Store::Value> value = store_->Get(table, key, slot);
  if (!value.ok()) return value.status().ToString();
  if (!value->has_value() || !Live(table, &**value)) return "absent";
  return "=" + **value;
}

std::string Player::ContainsInWords(const Operation& o, int32_t slot) {
  const Result<bool> found = store_->Contains(o.table, o.key, slot);
  if (!found.ok()) return found.status().ToString();
  // Expired data may exist or not, but then for a read as well.
  const Result<Store::Value> value = store_->Get(o.table, o.key, slot);
  if (!value.ok()) return value.status().ToString();
  if (value.value().has_value() != *found) {
    const Result<bool> again = store_->Contains(o.table, o.key, slot);
    if (!again.ok()) return again.status().ToString();
    if (!MayHaveGone(o.table, *found, *again)) return "contains and get disagree";
  }
  if (HasTtl(o.table)) return "";
  return *found ? "there" : "absent";
}

std::string Player::ContainsPrefixInWords(const Operation& o, int32_t slot) {
  const Result<bool> found = store_->ContainsPrefix(o.table, o.key, slot);
  if (!found.ok()) return found.status().ToString();
  Operation scan = WholeScan(o.table, slot);
  scan.key = o.key;
  scan.prefix = true;
  const auto entries = store_->Scan(scan);
  if (!entries.ok()) return entries.status().ToString();
  if (entries.value().empty() == *found) {
    const Result<bool> again = store_->ContainsPrefix(o.table, o.key, slot);
    if (!again.ok()) return again.status().ToString();
    if (!MayHaveGone(o.table, *found, *again)) return "contains prefix and scan disagree";
  }
  if (HasTtl(o.table)) return "";
  return *found ? "there" : "absent";
}

std::string Player::GetSeveralInWords(const Operation& o, int32_t slot) {
  std::string words;
  for (const Operation& one : o.batch) {
    auto value = store_->Get(o.table, one.key, slot);
    if (!value.ok()) return value.status().ToString();
    const bool live = value->has_value() && Live(o.table, &**value);
    words += live ? "=" + **value + ";" : std::string("absent;");
  }
  return words;
}

Result<std::vector<Model::Entry>> Player::LiveEntries(const Operation& scan) {
  LAVA_ASSIGN_OR_RETURN(std::vector<Model::Entry> entries, store_->Scan(scan));
  if (HasTtl(scan.table))
    std::erase_if(entries, [&](Model::Entry& entry) { return !Live(scan.table, &entry.second); });
  return entries;
}

// Expired data may be among the keys or not.
std::string Player::KeysWithTtlInWords(const Operation& o) {
  const auto keys = store_->Scan(o);
  if (!keys.ok()) return keys.status().ToString();
  Operation whole = o;
  whole.keys_only = false;
  const auto entries = LiveEntries(whole);
  if (!entries.ok()) return entries.status().ToString();
  std::string words = std::to_string(entries.value().size()) + " keys ";
  auto key = keys.value().begin();
  for (const Model::Entry& entry : entries.value()) {
    while (key != keys.value().end() && key->first != entry.first) ++key;
    if (key == keys.value().end()) return "a scan of keys and one of entries disagree";
    if (!key->second.empty()) return "a scan of keys shows a value";
    ++key;
    Add({entry.first, ""}, &words);
  }
  return words;
}

std::string Player::ScanInWords(const Operation& o) {
  if (o.keys_only && HasTtl(o.table)) return KeysWithTtlInWords(o);
  const auto entries = LiveEntries(o);
  if (!entries.ok()) return entries.status().ToString();
  std::string words = std::to_string(entries.value().size()) + " entries ";
  for (const Model::Entry& entry : entries.value()) Add(entry, &words);
  return words;
}

std::string Player::ReadAllInWords(int32_t slot) {
  std::string words;
  for (uint32_t table = 0; table < kHistoryTableCount; ++table) {
    const auto entries = LiveEntries(WholeScan(table, slot));
    if (!entries.ok()) return entries.status().ToString();
    words += std::string(kHistoryTables[table].name) + " " +
             std::to_string(entries.value().size()) + " entries ";
    for (const Model::Entry& entry : entries.value()) {
      Add(entry, &words);
      const std::string answer = GetInWords(table, entry.first, slot);
      if (IsError(answer)) return answer;
      if (answer != "=" + entry.second)
        return words + " a scan and a get of " + Hex(entry.first) + " disagree";
    }
  }
  return words;
}

Result<uint64_t> Player::Digest() {
  std::string words;
  for (uint32_t table = 0; table < kHistoryTableCount; ++table) {
    LAVA_ASSIGN_OR_RETURN(const std::vector<Model::Entry> entries,
                          LiveEntries(WholeScan(table, -1)));
    PutVarint64(&words, entries.size());
    for (const Model::Entry& entry : entries) Add(entry, &words);
  }
  return Hash64(words, 0);
}

bool IsError(const std::string& words) {
  for (const Status::Code code :
       {Status::Code::kCorruption, Status::Code::kIOError, Status::Code::kMemoryLimit,
        Status::Code::kNoSpace, Status::Code::kClosed, Status::Code::kAborted})
    if (words.starts_with(std::string(CodeName(code)) + ": ")) return true;
  return false;
}

std::string Player::Apply(const Operation& o) {
  const int32_t slot = o.slot >= 0 && store_->HasSnapshot(o.slot) ? o.slot : -1;
  return Answer(o, slot);
}

std::string Player::Answer(const Operation& o, int32_t slot) {
  Note(o);
  switch (o.op) {
    case Op::kPut:
    case Op::kDelete:
    case Op::kAppend:
    case Op::kDeletePrefix:
    case Op::kDeleteRange:
    case Op::kPutExternal:
    case Op::kAppendExternal:
      return InWords(store_->Write(o));
    case Op::kBatch:
      return InWords(store_->WriteBatch(o.batch));
    case Op::kRefused:
      return InWords(store_->Refused(o.number));
    case Op::kGet:
      return GetInWords(o.table, o.key, slot);
    case Op::kContains:
      return ContainsInWords(o, slot);
    case Op::kContainsPrefix:
      return ContainsPrefixInWords(o, slot);
    case Op::kGetSeveral:
      return GetSeveralInWords(o, slot);
    case Op::kScan: {
      Operation scan = o;
      scan.slot = slot;
      return ScanInWords(scan);
    }
    case Op::kReadAll:
      return ReadAllInWords(slot);
    case Op::kTakeSnapshot:
      return InWords(store_->TakeSnapshot(o.slot));
    case Op::kReleaseSnapshot:
      store_->ReleaseSnapshot(o.slot);
      return "";
    case Op::kCheckpoint:
      return slot < 0 ? "" : InWords(store_->Checkpoint(slot));
    case Op::kImport:
      return InWords(store_->Import(PlanOf(o)));
    case Op::kReopen:
      return InWords(store_->Reopen());
    case Op::kFlush:
      return InWords(store_->Flush());
    case Op::kCompactAll:
      return InWords(store_->CompactAll());
    case Op::kRunJobs:
      store_->RunJobs(o.number);
      return "";
    case Op::kDropTable:
      return InWords(store_->DropTable(o.table));
    case Op::kSetTtl: {
      const int64_t ttl_ms = static_cast<int64_t>(o.number) * kTimeUnitMs;
      const Status status = store_->SetTtl(o.table, ttl_ms);
      if (status.ok()) times_.ttl_ms[o.table] = ttl_ms;
      return InWords(status);
    }
    case Op::kTune:
      return InWords(store_->Tune(o.table, o.number));
    case Op::kTuneHost:
      store_->TuneHost(o.number);
      return "";
    case Op::kEntries:
      return InWords(store_->Entries(o.number));
    case Op::kSetTime:
      SetTime(static_cast<int64_t>(o.number & ~kUnconfirmed) * kTimeUnitMs,
              (o.number & kUnconfirmed) == 0);
      return "";
  }
  return "unknown";
}

std::string Player::AtEnd() {
  std::string words;
  for (int32_t slot = 0; slot < 8; ++slot) {
    if (!store_->HasSnapshot(slot)) continue;
    words += "snapshot " + ReadAllInWords(slot);
    store_->ReleaseSnapshot(slot);
  }
  const Status compacted = store_->CompactAll();
  if (!compacted.ok()) return compacted.ToString();
  words += ReadAllInWords(-1);
  const Status status = store_->CheckAtEnd();
  return status.ok() ? words : status.ToString();
}

}  // namespace lava::testing
