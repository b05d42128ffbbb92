// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "read/merging_iterator.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/list_parts.h"
#include "base/range_tombstones.h"
#include "base/record.h"
#include "lava/list_format.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "os/job_break.h"
#include "read/merge_run.h"
#include "table/table_writer.h"

namespace lava {

namespace {

// The age of a run is its index: a smaller age is newer.
constexpr uint32_t kNoAge = UINT32_MAX;
// Hidden records of a run that are stepped over in a row before it seeks to the deletion's end.
constexpr uint32_t kStepsBeforeSeek = 8;

class MergingIterator final : public RecordIterator {
 public:
  MergingIterator(std::vector<std::unique_ptr<MergeRun>> runs, const MergeOptions& options)
      : options_(options),
        break_(options.cancelled, options.pacer),
        runs_(std::move(runs)),
        heads_(runs_.size(), nullptr),
        hidden_steps_(runs_.size(), 0) {
    LAVA_CHECK(!options.compaction || options.older != nullptr);
    records_.reserve(runs_.size());
    for (uint32_t age = 0; age < runs_.size(); ++age) {
      records_.push_back(&runs_[age]->records());
      if (runs_[age]->has_range_tombstones()) range_runs_.push_back(age);
    }
  }

  bool Valid() const override { return valid_; }
  void SeekToFirst() override {
    Reset();
    for (RecordIterator* records : records_) records->SeekToFirst();
    Start();
  }
  void Seek(Slice target) override {
    Reset();
    SeekAll(target);
    Start();
  }
  void Next() override {
    LAVA_DCHECK(valid_);
    AdvanceGroup();
    FindNext();
  }
  const Record& record() const override { return record_; }
  Status status() const override { return status_; }

 private:
  // A prefix under which all records older than age are hidden.
  struct Deleted {
    std::string prefix;
    uint32_t age;  // of the newest prefix delete among this one and those around it
  };

  const Record& At(uint32_t age) const { return *heads_[age]; }
  bool Later(uint32_t a, uint32_t b) const {
    const Record& x = At(a);
    const Record& y = At(b);
    const int c = x.key.compare(y.key);
    if (c != 0) return c > 0;
    const bool x_prefix = x.kind == RecordKind::kPrefixDelete;
    const bool y_prefix = y.kind == RecordKind::kPrefixDelete;
    return x_prefix != y_prefix ? y_prefix : a > b;
  }

  void Reset();
  void SeekAll(Slice target);
  void Start();
  void LearnPrefixDeletes(Slice target);
  void SeekPrefixDeletes(Slice target);
  bool Look(uint32_t age);
  void Push(uint32_t age);
  uint32_t Pop();
  void AdvanceLone(uint32_t age);
  void FindNext();
  bool StepOver();
  bool TakePrefixDelete(uint32_t age);
  void GatherGroup();
  void TellDropped() const;
  bool TakeGroup();
  bool ShowFolded(RecordKind base, Slice base_value);
  bool FoldedBytes(Slice base_value, uint64_t* bytes);
  void AdvanceGroup();
  void SkipHidden(uint32_t age, Slice key);
  std::string HiddenEnd(uint32_t age, Slice key) const;
  bool PrefixDeleteReachesOver(uint32_t age, Slice key, Slice end);
  const RangeTombstone* CoveringBefore(Slice key, uint32_t age, uint32_t* by) const;
  uint32_t HideAge(Slice key) const {
    uint32_t age = deleted_.empty() ? kNoAge : deleted_.back().age;
    CoveringBefore(key, age, &age);
    return age;
  }
  void Fail(Status status) {
    status_ = std::move(status);
    valid_ = false;
    heap_.clear();
    lone_ = kNoAge;
    group_.clear();
  }

  const MergeOptions options_;
  JobBreak break_;
  const std::vector<std::unique_ptr<MergeRun>> runs_;
  std::vector<RecordIterator*> records_;  // of the runs
  // Current records of the runs in heap_, lone_ and group_. Cached once per move, because a run
  // passes the call through several layers.
  std::vector<const Record*> heads_;
  std::vector<uint32_t> range_runs_;  // runs with range tombstones, newest first
  std::vector<uint32_t> heap_;        // ordered by current record
  uint32_t lone_ = kNoAge;            // the run whose record precedes all records of the heap
  std::vector<uint32_t> group_;       // runs at the visible record, newest first
  uint32_t group_hide_ = kNoAge;      // runs of the group older than this are hidden
  std::vector<Deleted> deleted_;      // each is a prefix of the next, and of the current key
  std::vector<uint32_t> hidden_steps_;
  bool tell_shown_ = true;       // whether to call options_.stepped_over
  std::vector<Slice> operands_;  // of the current list, newest first
  bool parts_ = false;           // whether some of the list is in value files
  std::string folded_;
  Record record_;
  bool valid_ = false;
  Status status_;
};

void MergingIterator::Reset() {
  status_ = Status::OK();
  valid_ = false;
  heap_.clear();
  lone_ = kNoAge;
  group_.clear();
  deleted_.clear();
  std::fill(hidden_steps_.begin(), hidden_steps_.end(), 0);
}

void MergingIterator::Start() {
  tell_shown_ = true;
  for (uint32_t age = 0; age < runs_.size() && status_.ok(); ++age) Push(age);
  FindNext();
}

// A walk that starts inside a prefix does not pass the prefix delete, so it is looked up here.
void MergingIterator::SeekAll(Slice target) {
  const bool is_long = options_.prefix_bytes_hint == 0 && target.size() > options_.long_key_bytes;
  if (is_long) SeekPrefixDeletes(target);
  for (RecordIterator* records : records_) records->Seek(target);
  if (!is_long) LearnPrefixDeletes(target);
}

// Looks up each prefix of the target. The cost is quadratic in its length, but little is read.
void MergingIterator::LearnPrefixDeletes(Slice target) {
  const size_t first =
      options_.prefix_bytes_hint != 0 ? options_.prefix_bytes_hint : options_.prefix_bytes_min;
  const size_t last = options_.prefix_bytes_hint != 0 ? first : target.size();
  uint32_t newest = kNoAge;
  // A prefix delete of the target itself is found by the run's iterator.
  for (size_t bytes = first; bytes <= last && bytes < target.size(); ++bytes) {
    const Slice prefix = target.substr(0, bytes);
    for (uint32_t age = 0; age < runs_.size() && age < newest; ++age) {
      if (!runs_[age]->has_prefix_deletes()) continue;
      Result<bool> has = runs_[age]->HasPrefixDelete(prefix);
      if (!has.ok()) return Fail(std::move(has).status());
      if (!*has) continue;
      newest = age;
      deleted_.push_back({std::string(prefix), age});
    }
  }
}

// Moves each run from one record that may be a prefix of the target to the next. This takes few
// seeks, whatever the target's length.
void MergingIterator::SeekPrefixDeletes(Slice target) {
  std::map<size_t, uint32_t> newest_by_bytes;
  for (uint32_t age = 0; age < runs_.size() && status_.ok(); ++age) {
    if (!runs_[age]->has_prefix_deletes()) continue;
    RecordIterator& records = *records_[age];
    for (size_t bytes = options_.prefix_bytes_min; bytes < target.size();) {
      records.Seek(target.substr(0, bytes));
      if (!records.Valid()) {
        if (Status status = records.status(); !status.ok()) return Fail(std::move(status));
        break;
      }
      const Record& found = records.record();
      const size_t shared = static_cast<size_t>(
          std::mismatch(found.key.begin(), found.key.end(), target.begin(), target.end()).first -
          found.key.begin());
      if (shared == target.size() || (shared < found.key.size() && found.key > target)) break;
      // A prefix of the target that follows this record is longer than the bytes they share.
      if (shared == found.key.size() && found.kind == RecordKind::kPrefixDelete)
        newest_by_bytes.try_emplace(shared, age);
      bytes = shared + 1;
    }
  }
  uint32_t newest = kNoAge;
  for (const auto& [bytes, age] : newest_by_bytes) {
    if (age >= newest) continue;
    newest = age;
    deleted_.push_back({std::string(target.substr(0, bytes)), age});
  }
}

// False when the run has ended.
bool MergingIterator::Look(uint32_t age) {
  RecordIterator& records = *records_[age];
  if (!records.Valid()) {
    if (Status status = records.status(); !status.ok()) Fail(std::move(status));
    return false;
  }
  heads_[age] = &records.record();
  return true;
}

void MergingIterator::Push(uint32_t age) {
  if (!Look(age)) return;
  heap_.push_back(age);
  std::push_heap(heap_.begin(), heap_.end(),
                 [this](uint32_t a, uint32_t b) { return Later(a, b); });
}

uint32_t MergingIterator::Pop() {
  if (lone_ != kNoAge) return std::exchange(lone_, kNoAge);
  std::pop_heap(heap_.begin(), heap_.end(), [this](uint32_t a, uint32_t b) { return Later(a, b); });
  const uint32_t age = heap_.back();
  heap_.pop_back();
  return age;
}

void MergingIterator::FindNext() {
  valid_ = false;
  while (status_.ok() && (lone_ != kNoAge || !heap_.empty())) {
    const Record& next = At(lone_ != kNoAge ? lone_ : heap_.front());
    if (Status status = break_.Look(next.key.size() + next.value.size()); !status.ok()) [[unlikely]]
      return Fail(std::move(status));
    while (!deleted_.empty() && !next.key.starts_with(deleted_.back().prefix)) deleted_.pop_back();
    if (next.kind == RecordKind::kPrefixDelete) {
      const uint32_t age = Pop();
      group_.assign(1, age);
      group_hide_ = kNoAge;
      valid_ = TakePrefixDelete(age);
    } else {
      GatherGroup();
      if (options_.drop_cache != nullptr && group_.size() > 1) TellDropped();
      valid_ = TakeGroup();
    }
    if (valid_) {
      if (options_.stepped_over != nullptr && std::exchange(tell_shown_, false)) [[unlikely]]
        options_.stepped_over->Shown(record_.key);
      return;
    }
    if (options_.stepped_over == nullptr) {
      AdvanceGroup();
    } else if (!status_.ok() || !StepOver()) {
      return;
    }
  }
  if (options_.stepped_over != nullptr && status_.ok()) options_.stepped_over->Ended();
}

// Steps over the group, which is not visible. False: the walk has ended.
bool MergingIterator::StepOver() {
  switch (options_.stepped_over->Step(At(group_[0]).key)) {
    case SteppedOver::Next::kGoOn:
      AdvanceGroup();
      break;
    case SteppedOver::Next::kSeek: {
      const Slice target = options_.stepped_over->target();
      Reset();
      SeekAll(target);
      for (uint32_t age = 0; age < runs_.size() && status_.ok(); ++age) Push(age);
      break;
    }
    case SteppedOver::Next::kEnd:
      Reset();
      return false;
  }
  tell_shown_ = true;
  return true;
}

// Whether the prefix delete at the run's current position is part of the output.
bool MergingIterator::TakePrefixDelete(uint32_t age) {
  const Record& found = At(age);
  if (!deleted_.empty() && deleted_.back().age < age) return false;
  uint32_t by;
  const RangeTombstone* covering = CoveringBefore(found.key, age, &by);
  // A prefix delete that reaches beyond the range that covers its position still has effect there.
  if (covering != nullptr && !Slice(covering->end).starts_with(found.key)) return false;
  deleted_.push_back({std::string(found.key), age});
  if (!options_.compaction) return false;
  record_ = found;
  return options_.older->MayHoldRange(found.key, PrefixEnd(found.key));
}

void MergingIterator::GatherGroup() {
  const bool lone = lone_ != kNoAge;
  group_.clear();
  group_.push_back(Pop());
  const Slice key = At(group_[0]).key;
  while (!lone && !heap_.empty() && At(heap_.front()).key == key) group_.push_back(Pop());
  group_hide_ = HideAge(key);
}

// Reports a reference to a value that a newer update or delete has replaced.
void MergingIterator::TellDropped() const {
  const bool dropped = std::any_of(group_.begin() + 1, group_.end(), [this](uint32_t age) {
    return At(age).kind == RecordKind::kPutReference;
  });
  if (dropped) options_.drop_cache->Dropped(At(group_[0]).key);
}

// Whether the records of one key, newest first in group_, yield a visible record.
bool MergingIterator::TakeGroup() {
  if (group_[0] > group_hide_) return false;
  const Record& newest = At(group_[0]);
  record_.key = newest.key;
  record_.prefix_bytes = newest.prefix_bytes;
  operands_.clear();
  parts_ = false;
  // The record below the operands; kAppend stands for "unknown".
  RecordKind base = group_hide_ == kNoAge ? RecordKind::kAppend : RecordKind::kDelete;
  Slice base_value;
  for (const uint32_t age : group_) {
    if (age > group_hide_) break;
    const Record& r = At(age);
    parts_ = parts_ || HasParts(r.kind);
    if (IsAppend(r.kind)) {
      operands_.push_back(r.value);
      continue;
    }
    base = WithoutParts(r.kind);
    base_value = r.value;
    break;
  }
  if (operands_.empty() && base == RecordKind::kDelete) {
    record_.kind = RecordKind::kDelete;
    record_.value = Slice();
    // If a range tombstone covers the key, it is carried over and replaces this delete.
    return options_.compaction && group_hide_ == kNoAge && options_.older->MayHoldKey(newest.key);
  }
  return ShowFolded(base, base_value);
}

bool MergingIterator::ShowFolded(RecordKind base, Slice base_value) {
  record_.kind = base == RecordKind::kPutReference ? RecordKind::kPutReference : RecordKind::kPut;
  if (base == RecordKind::kPutReference && !operands_.empty()) {
    Fail(Status::Corruption("a list stands on a reference to a value file: some file is damaged"));
    return false;
  }
  if (options_.compaction && base == RecordKind::kAppend &&
      options_.older->MayHoldKey(record_.key)) {
    record_.kind = RecordKind::kAppend;
  }
  uint64_t bytes = 0;
  if (options_.keys_only && base != RecordKind::kPutReference) {
    record_.value = Slice();
    return true;
  }
  if ((parts_ || !operands_.empty()) && !FoldedBytes(base_value, &bytes)) return false;
  if (bytes > options_.list_bytes_max) {
    folded_.clear();
    AppendTooLongSegment(bytes, options_.list_bytes_max, &folded_);
    record_.value = folded_;
    return true;
  }
  if (parts_) record_.kind = WithParts(record_.kind);
  if (operands_.empty()) {
    record_.value = base_value;
  } else if (operands_.size() == 1 && base_value.empty()) {
    record_.value = operands_[0];
  } else {
    folded_.assign(base_value);
    for (size_t i = operands_.size(); i > 0; --i) folded_.append(operands_[i - 1]);
    record_.value = folded_;
  }
  return true;
}

// Bytes of the folded list, including its parts in value files. False after an error.
bool MergingIterator::FoldedBytes(Slice base_value, uint64_t* bytes) {
  *bytes = 0;
  const auto add = [&](Slice list) {
    uint64_t more = list.size();
    if (parts_) {
      if (Status status = WholeListBytes(list, &more); !status.ok()) {
        Fail(std::move(status));
        return false;
      }
    }
    *bytes += more;
    return true;
  };
  for (const Slice operand : operands_)
    if (!add(operand)) return false;
  return add(base_value);
}

void MergingIterator::AdvanceGroup() {
  if (group_.size() == 1 && group_[0] <= group_hide_) return AdvanceLone(group_[0]);
  // Oldest first: the newest run's record holds the key that is used to skip the others.
  for (size_t i = group_.size(); i > 0 && status_.ok(); --i) {
    const uint32_t age = group_[i - 1];
    if (age > group_hide_) {
      SkipHidden(age, At(group_[0]).key);
    } else {
      hidden_steps_[age] = 0;
      records_[age]->Next();
    }
  }
  // Pushed after all have moved, because the heap compares current records.
  std::vector<uint32_t> moved;
  moved.swap(group_);
  for (size_t i = 0; i < moved.size() && status_.ok(); ++i) Push(moved[i]);
  moved.clear();
  if (status_.ok()) group_.swap(moved);
}

// Usually the oldest run has most of the records, and the next record is from it again. One
// comparison detects this case, and the heap stays unchanged.
void MergingIterator::AdvanceLone(uint32_t age) {
  group_.clear();
  hidden_steps_[age] = 0;
  records_[age]->Next();
  if (!Look(age)) return;
  if (heap_.empty() || At(age).key < At(heap_.front()).key)
    lone_ = age;
  else
    Push(age);
}

// Advances a run whose current record is hidden.
void MergingIterator::SkipHidden(uint32_t age, Slice key) {
  RecordIterator& records = *records_[age];
  if (++hidden_steps_[age] < kStepsBeforeSeek) return records.Next();
  hidden_steps_[age] = 0;
  const std::string end = HiddenEnd(age, key);
  if (end.empty() || PrefixDeleteReachesOver(age, key, end)) return records.Next();
  if (status_.ok()) records.Seek(end);
}

// The end of the deletion that hides this run's record; empty if unknown.
std::string MergingIterator::HiddenEnd(uint32_t age, Slice key) const {
  for (const Deleted& d : deleted_)
    if (d.age < age) return PrefixEnd(d.prefix);
  uint32_t by;
  const RangeTombstone* covering = CoveringBefore(key, age, &by);
  return covering == nullptr ? std::string() : covering->end;
}

// Whether the run has a prefix delete between the key and the end that reaches beyond the end. The
// run must not seek past such a prefix delete.
bool MergingIterator::PrefixDeleteReachesOver(uint32_t age, Slice key, Slice end) {
  if (!runs_[age]->has_prefix_deletes()) return false;
  if (end.size() > options_.long_key_bytes) return true;  // the check costs more than a few steps
  for (size_t bytes = 1; bytes < end.size(); ++bytes) {
    const Slice prefix = end.substr(0, bytes);
    if (prefix < key) continue;
    Result<bool> has = runs_[age]->HasPrefixDelete(prefix);
    if (!has.ok()) {
      Fail(std::move(has).status());
      return true;
    }
    if (*has) return true;
  }
  return false;
}

// The range tombstone over the key in the newest run that is newer than age and has one.
const RangeTombstone* MergingIterator::CoveringBefore(Slice key, uint32_t age, uint32_t* by) const {
  for (const uint32_t run : range_runs_) {
    if (run >= age) return nullptr;
    if (const RangeTombstone* t = runs_[run]->Covering(key); t != nullptr) {
      *by = run;
      return t;
    }
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<RecordIterator> NewMergingIterator(std::vector<std::unique_ptr<MergeRun>> runs,
                                                   const MergeOptions& options) {
  return std::make_unique<MergingIterator>(std::move(runs), options);
}

}  // namespace lava
