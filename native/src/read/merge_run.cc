// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "read/merge_run.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/range_tombstones.h"
#include "base/record.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "memtable/memtable.h"
#include "read/readers.h"
#include "table/table_reader.h"

namespace lava {

namespace {

const RangeTombstone* Find(const RangeTombstoneSet& set, Slice key) {
  const auto ranges = set.ranges();
  auto it = std::upper_bound(ranges.begin(), ranges.end(), key,
                             [](Slice k, const RangeTombstone& r) { return k < r.begin; });
  if (it == ranges.begin()) return nullptr;
  --it;
  return key < it->end ? &*it : nullptr;
}

void AddAll(const RangeTombstoneSet& from, RangeTombstoneSet* to) {
  for (const RangeTombstone& r : from.ranges()) to->Add(r.begin, r.end);
}

bool Within(const KeyFileEntry& entry, Slice key) {
  return key >= entry.lower && (entry.upper.empty() || key < entry.upper);
}

// The part of the file's range tombstones that is within the entry's bounds.
RangeTombstoneSet ShownTombstones(const KeyFileEntry& entry, const TableReader& reader) {
  const RangeTombstoneSet& all = reader.range_tombstones();
  return entry.clipped() ? all.Clip(entry.lower, entry.upper) : all;
}

class MemTableRun final : public MergeRun {
 public:
  MemTableRun(std::shared_ptr<const MemTable> table, bool keys_only)
      : table_(std::move(table)),
        records_(table_->NewIterator(keys_only)),
        has_prefix_deletes_(table_->has_prefix_deletes()) {
    if (table_->has_range_tombstones()) tombstones_ = table_->range_tombstones();
  }
  RecordIterator& records() override { return *records_; }
  const RangeTombstone* Covering(Slice key) const override { return Find(tombstones_, key); }
  void AddRangeTombstones(RangeTombstoneSet* set) const override { AddAll(tombstones_, set); }
  bool has_range_tombstones() const override { return !tombstones_.empty(); }
  bool has_prefix_deletes() const override { return has_prefix_deletes_; }
  Result<bool> HasPrefixDelete(Slice prefix) const override {
    return table_->HasPrefixDelete(prefix);
  }

 private:
  const std::shared_ptr<const MemTable> table_;
  const std::unique_ptr<RecordIterator> records_;
  const bool has_prefix_deletes_;
  RangeTombstoneSet tombstones_;
};

// The records of a file within an entry's bounds.
class ClippedIterator final : public RecordIterator {
 public:
  ClippedIterator(const KeyFileEntry& entry, const TableReader& reader,
                  const TableReader::IterateOptions& options)
      : entry_(entry), clipped_(entry.clipped()), base_(reader.NewIterator(options)) {}
  bool Valid() const override {
    return base_->Valid() &&
           (!clipped_ || entry_.upper.empty() || base_->record().key < entry_.upper);
  }
  void SeekToFirst() override {
    if (clipped_)
      base_->Seek(entry_.lower);
    else
      base_->SeekToFirst();
  }
  void Seek(Slice target) override {
    base_->Seek(clipped_ ? std::max<Slice>(target, entry_.lower) : target);
  }
  void Next() override { base_->Next(); }
  const Record& record() const override { return base_->record(); }
  Status status() const override { return base_->status(); }

 private:
  const KeyFileEntry& entry_;
  const bool clipped_;
  const std::unique_ptr<RecordIterator> base_;
};

class FileRun final : public MergeRun {
 public:
  FileRun(const KeyFileEntry& entry, const TableReader& reader,
          const TableReader::IterateOptions& options)
      : entry_(entry), reader_(reader), records_(entry, reader, options) {
    if (entry.file->range_tombstones != 0) tombstones_ = ShownTombstones(entry, reader);
  }
  RecordIterator& records() override { return records_; }
  const RangeTombstone* Covering(Slice key) const override { return Find(tombstones_, key); }
  void AddRangeTombstones(RangeTombstoneSet* set) const override { AddAll(tombstones_, set); }
  bool has_range_tombstones() const override { return !tombstones_.empty(); }
  bool has_prefix_deletes() const override { return entry_.file->prefix_deletes != 0; }
  Result<bool> HasPrefixDelete(Slice prefix) const override {
    if (!Within(entry_, prefix)) return false;
    return reader_.HasPrefixDelete(prefix);
  }

 private:
  const KeyFileEntry& entry_;
  const TableReader& reader_;
  ClippedIterator records_;
  RangeTombstoneSet tombstones_;
};

// The first entry whose upper bound is greater than the key.
FileList::const_iterator FindEntry(const FileRange& entries, Slice key) {
  return entries.PartitionPoint(
      [key](const KeyFileEntry& e) { return !e.upper.empty() && Slice(e.upper) <= key; });
}

class LevelIterator final : public RecordIterator {
 public:
  LevelIterator(const FileRange& entries, const TableReader::IterateOptions& options)
      : entries_(entries), options_(options) {}
  bool Valid() const override { return current_ != nullptr && current_->Valid(); }
  void SeekToFirst() override { Enter(entries_.begin(), nullptr); }
  void Seek(Slice target) override { Enter(FindEntry(entries_, target), &target); }
  void Next() override {
    current_->Next();
    SkipEmpty();
  }
  const Record& record() const override { return current_->record(); }
  Status status() const override { return current_ == nullptr ? missing_ : current_->status(); }

 private:
  void Enter(FileList::const_iterator at, const Slice* target) {
    if (at == entries_.end() || !missing_.ok()) {
      current_.reset();
      return;
    }
    // A seek within the current file reuses its iterator.
    const bool is_current = current_ != nullptr && at == at_;
    at_ = at;
    if (!is_current && !Open()) return;
    if (target != nullptr)
      current_->Seek(*target);
    else
      current_->SeekToFirst();
    SkipEmpty();
  }
  // Opens the file at at_. False if it is missing.
  bool Open() {
    const TableReader* const reader = ReaderOf(*at_);
    if (reader == nullptr) missing_ = NeedsFile(*at_->file);
    current_ =
        reader == nullptr ? nullptr : std::make_unique<ClippedIterator>(*at_, *reader, options_);
    return current_ != nullptr;
  }
  // An error stops the walk: it must not continue after unread records.
  void SkipEmpty() {
    while (current_ != nullptr && !current_->Valid() && current_->status().ok()) {
      if (++at_ == entries_.end()) {
        current_.reset();
        return;
      }
      if (!Open()) return;
      current_->SeekToFirst();
    }
  }

  const FileRange entries_;
  const TableReader::IterateOptions options_;
  FileList::const_iterator at_;  // position of current_
  std::unique_ptr<ClippedIterator> current_;
  Status missing_;  // why the walk ended for good
};

class LevelRun final : public MergeRun {
 public:
  LevelRun(const FileRange& entries, const TableReader::IterateOptions& options)
      : entries_(entries), records_(entries, options) {
    for (const KeyFileEntry& e : entries) {
      has_range_tombstones_ |= e.file->range_tombstones != 0;
      has_prefix_deletes_ |= e.file->prefix_deletes != 0;
    }
  }
  RecordIterator& records() override { return records_; }
  const RangeTombstone* Covering(Slice key) const override {
    const KeyFileEntry* entry = EntryOf(key);
    if (entry == nullptr || entry->file->range_tombstones == 0) return nullptr;
    // A walk that reaches a missing file fails, so its tombstones do not count.
    const TableReader* const reader = ReaderOf(*entry);
    // Both lookups use the unclipped tombstones: the key is within the bounds anyway.
    return reader == nullptr ? nullptr : Find(reader->range_tombstones(), key);
  }
  void AddRangeTombstones(RangeTombstoneSet* set) const override {
    for (const KeyFileEntry& e : entries_) {
      const TableReader* const reader = e.file->range_tombstones == 0 ? nullptr : ReaderOf(e);
      if (reader != nullptr) AddAll(ShownTombstones(e, *reader), set);
    }
  }
  bool has_range_tombstones() const override { return has_range_tombstones_; }
  bool has_prefix_deletes() const override { return has_prefix_deletes_; }
  Result<bool> HasPrefixDelete(Slice prefix) const override {
    const KeyFileEntry* entry = EntryOf(prefix);
    if (entry == nullptr || entry->file->prefix_deletes == 0) return false;
    LAVA_ASSIGN_OR_RETURN(const TableReader* const reader, RequireReader(*entry));
    return reader->HasPrefixDelete(prefix);
  }

 private:
  const KeyFileEntry* EntryOf(Slice key) const {
    const auto at = FindEntry(entries_, key);
    return at == entries_.end() || key < at->lower ? nullptr : &*at;
  }
  const FileRange entries_;
  LevelIterator records_;
  bool has_range_tombstones_ = false;
  bool has_prefix_deletes_ = false;
};

}  // namespace

std::unique_ptr<MergeRun> NewMemTableRun(std::shared_ptr<const MemTable> table, bool keys_only) {
  LAVA_CHECK(table != nullptr);
  return std::make_unique<MemTableRun>(std::move(table), keys_only);
}

Result<std::unique_ptr<MergeRun>> NewFileRun(const KeyFileEntry& entry,
                                             const TableReader::IterateOptions& options) {
  LAVA_CHECK(entry.file != nullptr);
  LAVA_ASSIGN_OR_RETURN(const TableReader* const reader, RequireReader(entry));
  return std::unique_ptr<MergeRun>(std::make_unique<FileRun>(entry, *reader, options));
}

std::unique_ptr<MergeRun> NewLevelRun(const FileRange& entries,
                                      const TableReader::IterateOptions& options) {
  return std::make_unique<LevelRun>(entries, options);
}

}  // namespace lava
