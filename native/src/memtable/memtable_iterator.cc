// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "memtable/memtable_iterator.h"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "base/check.h"
#include "base/record.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "memtable/memtable_impl.h"
#include "memtable/tree_index.h"

namespace lava {

namespace {

class SealedIterator final : public RecordIterator {
 public:
  explicit SealedIterator(const MemTableImpl* table) : table_(*table) {
    LAVA_DCHECK(table->sealed());
    table_.Order();
  }
  bool Valid() const override { return position_.valid(); }
  void SeekToFirst() override { Set(table_.FirstSealed()); }
  void Seek(Slice target) override { Set(table_.SeekSealed({target, true})); }
  void Next() override { Set(table_.NextSealed(position_)); }
  const Record& record() const override { return record_; }
  Status status() const override { return Status::OK(); }

 private:
  void Set(TreeIndex::Position position) {
    position_ = position;
    if (position.valid()) table_.RecordAt(position, &record_);
  }
  const MemTableImpl& table_;
  TreeIndex::Position position_;
  Record record_;
};

class PagingIterator final : public RecordIterator {
 public:
  PagingIterator(const MemTable* table, bool keys_only) : table_(*table), keys_only_(keys_only) {}
  bool Valid() const override { return index_ < page_.entries.size(); }
  void SeekToFirst() override { Seek(Slice()); }
  void Seek(Slice target) override {
    page_entries_ = kPageEntriesMin;
    Load(target, false);
  }
  void Next() override {
    if (++index_ < page_.entries.size()) return Set();
    if (page_.end) return;
    from_.assign(record_.key);
    page_entries_ = std::min(page_entries_ * 2, kPageEntriesMax);
    Load(from_, true);
  }
  const Record& record() const override { return record_; }
  Status status() const override { return Status::OK(); }

 private:
  // Most walks are short: a map of ten entries should not copy a thousand.
  static constexpr size_t kPageEntriesMin = 16;
  static constexpr size_t kPageEntriesMax = 512;

  void Load(Slice from, bool exclusive) {
    table_.CopyRange(from, exclusive, Slice(), page_entries_, keys_only_, &page_);
    index_ = 0;
    if (!page_.entries.empty()) Set();
  }
  void Set() {
    const MemTable::Copied::Entry& e = page_.entries[index_];
    const Slice bytes(page_.bytes);
    record_.key = bytes.substr(e.key_offset, e.key_bytes);
    record_.kind = e.kind;
    record_.prefix_bytes = e.prefix_bytes;
    record_.value = bytes.substr(e.value_offset, e.value_bytes);
  }

  const MemTable& table_;
  const bool keys_only_;
  MemTable::Copied page_;
  size_t index_ = 0;
  size_t page_entries_ = kPageEntriesMin;
  std::string from_;
  Record record_;
};

}  // namespace

std::unique_ptr<RecordIterator> NewSealedIterator(const MemTableImpl* table) {
  return std::make_unique<SealedIterator>(table);
}

std::unique_ptr<RecordIterator> NewPagingIterator(const MemTable* table, bool keys_only) {
  return std::make_unique<PagingIterator>(table, keys_only);
}

}  // namespace lava
