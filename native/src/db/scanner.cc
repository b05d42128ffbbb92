// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/scanner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/internal_key.h"
#include "base/record.h"
#include "base/value_reference.h"
#include "db/counters.h"
#include "db/dead_ranges.h"
#include "db/file_runs.h"
#include "db/read_logged.h"
#include "db/read_view.h"
#include "db/scan_page.h"
#include "db/table_impl.h"
#include "lava/db.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "memory/memory_counter.h"
#include "memtable/memtable.h"
#include "read/list_layout.h"
#include "read/merge_run.h"
#include "read/merging_iterator.h"
#include "read/value_fetch.h"
#include "table/table_reader.h"
#include "table/table_writer.h"

namespace lava {

// The internal keys of a scan: [from, upper); without `from` if exclusive.
struct Scanner::Range {
  std::string from, upper;
  bool exclusive = false;
  std::string prefix;  // internal prefix; empty without a prefix
};

// Records of the active memtable that are copied together. Each thread reuses the memory, so that a
// page needs no allocation. A thread has at most one ActivePage at a time.
struct Scanner::ActivePage {
  static constexpr size_t kRecordsMax = 128;
  static constexpr size_t kKeptBytesMax = 256 << 10;

  explicit ActivePage(ScanPageWriter* page_writer) : writer(page_writer) {}
  ~ActivePage() {
    if (copied.bytes.capacity() > kKeptBytesMax) copied = {};
  }
  void Copy(const MemTable& active, Slice from, bool exclusive, Slice upper, bool keys_only) {
    copied.bytes.clear();
    copied.entries.clear();
    copied.end = false;
    // One record more than fits shows whether the page is the last one.
    count = std::min<size_t>(kRecordsMax, size_t{writer->entries_left()} + 1);
    active.CopyRange(from, exclusive, upper, count, keys_only, &copied);
  }

  ScanPageWriter* const writer;
  size_t count = 0;
  MemTable::Copied& copied = ThreadCopied();

 private:
  static MemTable::Copied& ThreadCopied() {
    thread_local MemTable::Copied copied;
    return copied;
  }
};

namespace {

bool IsDeletion(RecordKind kind) {
  return kind == RecordKind::kDelete || kind == RecordKind::kPrefixDelete;
}

// False: the run has nothing in the range and can be skipped.
bool Matters(const MemTable& run, Slice lower, Slice upper, bool is_prefix) {
  if (run.has_range_tombstones()) return true;
  // A prefix deletion that begins before the range may reach into the range, but not into the range
  // of a prefix.
  if (!is_prefix && run.has_prefix_deletes()) return true;
  MemTable::Copied copied;
  run.CopyRange(lower, false, upper, 1, true, &copied);
  return !copied.entries.empty();
}

// Adds the sealed runs with records in the range, newest first.
void AddSealedRuns(const ReadView& view, Slice lower, Slice upper, bool is_prefix, bool keys_only,
                   std::vector<std::unique_ptr<MergeRun>>* runs) {
  for (const std::shared_ptr<SealedRun>& run : view.sealed) {
    if (Matters(*run->memtable, lower, upper, is_prefix))
      runs->push_back(NewMemTableRun(run->memtable, keys_only));
  }
}

// Adds the runs in files, which are older than the sealed ones.
Status AddFileRuns(const Version& version, Slice lower, Slice upper, Slice prefix,
                   const TableReader::IterateOptions& options, const ExpectedEntries& expected,
                   std::vector<std::unique_ptr<MergeRun>>* runs) {
  return ForEachFileRun(version, lower, upper, prefix, options, expected,
                        [&](std::unique_ptr<MergeRun> run) -> Result<bool> {
                          runs->push_back(std::move(run));
                          return true;
                        });
}

// Reads the value of a memtable's record that refers to a log segment of the memtable.
Status ReadFromMemtable(const ReadView& view, Slice key, RecordKind kind, Slice stored,
                        std::string* value) {
  if (HasParts(kind)) {
    ListLayout list;
    LAVA_RETURN_IF_ERROR(list.Read(stored));
    return ReadList(view, key, list, value);
  }
  ValueReference reference;
  if (!DecodeReference(stored, &reference) || !reference.is_logged())
    return Status::Corruption("a memtable's reference is malformed");
  return ReadLoggedValue(view, key, reference, value);
}

// Options for reading files without filling the cache. Files are read ahead if the budget grants
// the memory.
TableReader::IterateOptions PastTheCache(const Version& version, MemoryCounter* counter,
                                         ScopedCharge* memory) {
  constexpr uint32_t kReadaheadBytes = 128 << 10;
  uint64_t runs = version.levels[0].size();
  for (uint32_t n = 1; n < kLevelCountMax; ++n) runs += version.levels[n].empty() ? 0 : 1;
  const bool granted = memory->Try(counter, runs * kReadaheadBytes);
  return {
      .fill_cache = false, .readahead_bytes = granted ? kReadaheadBytes : 0, .look_in_cache = true};
}

// Fills a page with the records of a scan. The walk over the keys reserves space in the page for
// values of value files. The values are fetched together at the end.
class PageFiller {
 public:
  PageFiller(const ReadView& view, uint64_t table, bool keys_only, ScanPageWriter* writer,
             Counters* counters, MemoryCounter* memory)
      : view_(view),
        version_(*view.version),
        table_(table),
        keys_only_(keys_only),
        writer_(*writer),
        values_(version_, memory),
        memory_(memory),
        counters_(*counters) {}

  /// The following records belong to this table.
  void SetTable(uint64_t table) { table_ = table; }

  /// False if the record does not fit into the page.
  Result<bool> Add(const Record& record) {
    if (HasParts(record.kind) && !keys_only_) return AddList(record);
    if (record.kind != RecordKind::kPutReference)
      return writer_.Add(record.key, keys_only_ ? Slice() : record.value);
    ValueReference reference;
    if (!DecodeReference(record.value, &reference))
      return Status::Corruption("a reference to a value file is malformed");
    if (HasExpired(version_, table_, reference)) return true;  // nothing to show
    if (keys_only_) return writer_.Add(record.key, Slice());
    LAVA_RETURN_IF_ERROR(values_.CheckSize(reference));
    ChargeLarge(record.key, reference.raw_bytes);
    uint64_t offset;
    if (!writer_.Reserve(record.key, reference.raw_bytes, &offset)) return false;
    if (reference.is_logged()) {
      logged_.push_back({std::string(record.key), {reference, offset}});
    } else {
      values_.Add(record.key, reference, offset);
    }
    fetched_bytes_ += reference.raw_bytes;
    return true;
  }
  Result<bool> AddList(const Record& record) {
    LAVA_RETURN_IF_ERROR(list_.Read(record.value));
    for (const ListLayout::Part& part : list_.parts())
      if (part.reference) LAVA_RETURN_IF_ERROR(values_.CheckSize(*part.reference));
    ChargeLarge(record.key, list_.bytes());
    uint64_t offset;
    if (!writer_.Reserve(record.key, list_.bytes(), &offset)) return false;
    std::vector<ListLayout::Logged> logged;
    list_.Place(record.key, writer_.bytes(), offset, &values_, &logged);
    for (const ListLayout::Logged& part : logged)
      logged_.push_back({std::string(record.key), part});
    fetched_bytes_ += list_.bytes();
    return true;
  }
  Status Finish(bool done) {
    for (const Logged& logged : logged_)
      LAVA_RETURN_IF_ERROR(ReadLoggedTo(view_, logged.key, logged.value, writer_.bytes()));
    if (writer_.goes_on()) values_.GoesOn(done ? 0 : writer_.pages_left());
    if (!values_.empty()) LAVA_RETURN_IF_ERROR(values_.Run(writer_.bytes()));
    if (fetched_bytes_ > 0) {
      Counters::Add(&counters_.scan_value_bytes, fetched_bytes_);
    }
    writer_.Finish(done);
    return Status::OK();
  }

 private:
  struct Logged {
    std::string key;
    ListLayout::Logged value;
  };

  // Charges an entry that is larger than a usual page. Such an entry has a page for itself.
  void ChargeLarge(Slice key, uint64_t value_bytes) {
    constexpr uint64_t kUsualPageBytes = 1 << 20;
    if (value_bytes > kUsualPageBytes && writer_.Fits(key, value_bytes)) [[unlikely]]
      large_.emplace_back(memory_, value_bytes);
  }

  const ReadView& view_;
  const Version& version_;
  uint64_t table_;
  const bool keys_only_;
  ScanPageWriter& writer_;
  ValueFetch values_;
  MemoryCounter* const memory_;
  std::list<ScopedCharge> large_;
  ListLayout list_;
  std::vector<Logged> logged_;
  uint64_t fetched_bytes_ = 0;
  Counters& counters_;
};

}  // namespace

Status Scanner::MakeRange(const TableImpl& table, const ScanRequest& request, Range* range) const {
  const uint32_t bytes = context_.partitions->bytes();
  if (request.entries_max == 0)
    return Status::InvalidArgument("scan of table '" + table.name() + "': entries_max is 0");
  if (request.prefix_bytes != 0 &&
      (request.prefix_bytes < bytes || request.prefix_bytes > request.lower.size()))
    return Status::InvalidArgument("scan of table '" + table.name() + "': prefix_bytes " +
                                   std::to_string(request.prefix_bytes) +
                                   " is not between the partition's and the lower bound's");
  if (!request.lower.empty())
    LAVA_RETURN_IF_ERROR(context_.partitions->CheckBound(table, request.lower, "lower"));
  if (request.prefix_bytes == 0 && !request.upper.empty())
    LAVA_RETURN_IF_ERROR(context_.partitions->CheckBound(table, request.upper, "upper"));
  const auto internal = [&](Slice user_key) {
    return std::string(InternalKey(bytes, table.id_bytes(), user_key).slice());
  };
  range->from = request.lower.empty() ? TableStart(context_.partitions->first(), bytes, table.id())
                                      : internal(request.lower);
  range->exclusive = request.lower_exclusive && !request.lower.empty();
  if (request.prefix_bytes != 0) {
    range->prefix = internal(request.lower.substr(0, request.prefix_bytes));
    range->upper = PrefixEnd(range->prefix);
  } else if (request.upper.empty()) {
    range->upper = TableStart(context_.partitions->last(), bytes, table.id() + 1);
  } else {
    range->upper = internal(request.upper);
  }
  return Status::OK();
}

// A prefix scan of the newest state remembers ranges without visible records, and later scans jump
// over them.
Status Scanner::Scan(Table* table, const ScanRequest& request, ScanPage* page,
                     Snapshot* snapshot) const {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(context_.tables->Check(table, &impl));
  Range range;
  LAVA_RETURN_IF_ERROR(MakeRange(*impl, request, &range));
  Counters::Add(&context_.counters->scans, 1);
  DeadRanges* const ranges = snapshot == nullptr && !range.prefix.empty() ? &impl->dead() : nullptr;
  std::optional<DeadRanges::Walk> walk;
  bool remembers = ranges != nullptr && impl->meets_dead();
  while (true) {
    if (remembers) walk.emplace(ranges, range.from, range.upper);
    DeadSteps steps(ranges, range.upper);
    if (walk) steps.UseWalk(&*walk);
    Status status = ScanView(impl, request, &range, page, snapshot, &steps);
    if (steps.total() > 0) Counters::Add(&context_.counters->records_stepped_over, steps.total());
    if (steps.met_many()) impl->SetMeetsDead();
    if (!status.ok() || !steps.begins_again()) return status;
    remembers = true;
  }
}

Status Scanner::ScanView(TableImpl* impl, const ScanRequest& request, Range* scanned,
                         ScanPage* page, Snapshot* snapshot, DeadSteps* steps) const {
  Range& range = *scanned;
  LAVA_ASSIGN_OR_RETURN(const ViewRef view, context_.ViewOf(snapshot));
  ScanPageWriter writer(request, context_.partitions->bytes(), page);
  const bool empty = range.from >= range.upper && !range.upper.empty();
  if (empty || !steps->Begin(&range.from, &range.exclusive)) {
    writer.Finish(true);
    return Status::OK();
  }
  const bool is_prefix = !range.prefix.empty();
  const Slice lower = is_prefix ? Slice(range.prefix) : Slice(range.from);
  ScopedCharge windows;  // outlives the runs that use it
  TableReader::IterateOptions files;
  files.goes_on = request.lower_exclusive;
  files.ahead_memory = context_.memory;
  if (!request.fill_cache) files = PastTheCache(*view->version, context_.memory, &windows);
  std::vector<std::unique_ptr<MergeRun>> runs;
  // The active memtable is copied before the other runs are checked. If no other run has records in
  // the range, the copy is the page, and no walk is needed.
  ActivePage active_page(&writer);
  bool active = false;
  if (view->active != nullptr) {
    active = is_prefix ? CopyActive(*view->active, range, request.keys_only, &active_page)
                       : Matters(*view->active, lower, range.upper, false);
  }
  if (active) runs.push_back(NewMemTableRun(view->active, request.keys_only));
  AddSealedRuns(*view, lower, range.upper, is_prefix, request.keys_only, &runs);
  // Scans with a prefix or an upper bound may end early, so no size is expected for their first
  // page. After a full page an early end is less likely.
  ExpectedEntries expected;
  if (files.goes_on || (!is_prefix && request.upper.empty()))
    expected = {request.entries_max, view->totals};
  LAVA_RETURN_IF_ERROR(
      AddFileRuns(*view->version, lower, range.upper, range.prefix, files, expected, &runs));
  // One run needs no merge. This path is for prefixes only, because other scans must jump over keys
  // of other tables.
  if (is_prefix && runs.size() <= 1) {
    if (active) {
      return CountShown(impl, request, *page,
                        ScanActive(*view, range, request.keys_only, &active_page, steps));
    }
    if (!runs.empty())
      return CountShown(
          impl, request, *page,
          ScanOnly(*impl, *view, &runs[0]->records(), range, request.keys_only, &writer, steps));
    writer.Finish(true);
    return Status::OK();
  }
  MergeOptions merge;
  merge.keys_only = request.keys_only;
  if (is_prefix) merge.stepped_over = steps;
  merge.prefix_bytes_hint = static_cast<uint32_t>(range.prefix.size());
  merge.prefix_bytes_min = context_.partitions->bytes() + kTableIdBytes;
  const std::unique_ptr<RecordIterator> records = NewMergingIterator(std::move(runs), merge);
  return CountShown(impl, request, *page,
                    ScanMerged(*impl, *view, range, records.get(), request.keys_only, &writer));
}

// Counts entries that were shown with their values, for SeparationTuner.
Status Scanner::CountShown(TableImpl* table, const ScanRequest& request, const ScanPage& page,
                           Status status) {
  if (status.ok() && !request.keys_only) table->CountScanned(page.entries);
  return status;
}

// Shows the records of the only run with records in the range. The tombstones of a run hide no
// record of the same run.
Status Scanner::ScanOnly(const TableImpl& table, const ReadView& view, RecordIterator* records,
                         const Range& range, bool keys_only, ScanPageWriter* writer,
                         DeadSteps* steps) const {
  PageFiller page(view, table.id(), keys_only, writer, context_.counters, context_.memory);
  records->Seek(range.from);
  while (records->Valid()) {
    const Record& record = records->record();
    if (!range.upper.empty() && record.key >= range.upper) break;
    if (IsDeletion(record.kind)) {
      const SteppedOver::Next next = steps->Step(record.key);
      if (next == SteppedOver::Next::kEnd) return page.Finish(true);
      if (next == SteppedOver::Next::kSeek) {
        records->Seek(steps->target());
      } else {
        records->Next();
      }
      continue;
    }
    steps->Shown(record.key);
    if (!range.exclusive || record.key != range.from) {
      LAVA_ASSIGN_OR_RETURN(const bool added, page.Add(record));
      if (!added) return page.Finish(false);
    }
    records->Next();
  }
  LAVA_RETURN_IF_ERROR(records->status());
  steps->Ended();
  return page.Finish(true);
}

// False: the active memtable has no record for the prefix.
bool Scanner::CopyActive(const MemTable& active, const Range& range, bool keys_only,
                         ActivePage* page) {
  page->Copy(active, range.from, range.exclusive, range.upper, keys_only);
  if (!page->copied.entries.empty() || active.has_range_tombstones()) return true;
  // The tombstone of the prefix itself may precede the page, or be at its exclusive begin.
  return active.HasPrefixDelete(range.prefix);
}

// Shows the records of the active memtable, if no other run has records in the range.
Status Scanner::ScanActive(const ReadView& view, const Range& range, bool keys_only,
                           ActivePage* page, DeadSteps* steps) {
  const MemTable& active = *view.active;
  const MemTable::Copied& copied = page->copied;
  ScanPageWriter* writer = page->writer;
  while (true) {
    bool jumps = false;
    for (const MemTable::Copied::Entry& entry : copied.entries) {
      const Slice bytes = copied.bytes;
      const Slice key = bytes.substr(entry.key_offset, entry.key_bytes);
      Slice value = bytes.substr(entry.value_offset, entry.value_bytes);
      std::string logged;
      if (IsDeletion(entry.kind)) {
        const SteppedOver::Next next = steps->Step(key);
        if (next == SteppedOver::Next::kGoOn) continue;
        jumps = next == SteppedOver::Next::kSeek;
        if (jumps) break;
        writer->Finish(true);
        return Status::OK();
      }
      steps->Shown(key);
      if (entry.kind == RecordKind::kPutReference || HasParts(entry.kind)) {
        if (!keys_only)
          LAVA_RETURN_IF_ERROR(ReadFromMemtable(view, key, entry.kind, value, &logged));
        value = logged;
      }
      if (!writer->Add(key, value)) {
        writer->Finish(false);
        return Status::OK();
      }
    }
    if (jumps) {
      page->Copy(active, steps->target(), false, range.upper, keys_only);
      continue;
    }
    if (copied.end || copied.entries.empty()) {
      steps->Ended();
      writer->Finish(true);
      return Status::OK();
    }
    const MemTable::Copied::Entry& last = copied.entries.back();
    const std::string from(copied.bytes, last.key_offset, last.key_bytes);
    // A point record may follow a tombstone of the same key.
    const bool exclusive = last.kind != RecordKind::kPrefixDelete;
    if (!exclusive && page->count == 1) {
      writer->Finish(false);
      return Status::OK();
    }
    page->Copy(active, from, exclusive, range.upper, keys_only);
  }
}

Status Scanner::ScanMerged(const TableImpl& table, const ReadView& view, const Range& range,
                           RecordIterator* records, bool keys_only, ScanPageWriter* writer) const {
  PageFiller page(view, table.id(), keys_only, writer, context_.counters, context_.memory);
  const uint32_t bytes = context_.partitions->bytes();
  const Slice id(table.id_bytes(), kTableIdBytes);
  records->Seek(range.from);
  if (range.exclusive && records->Valid() && records->record().key == range.from) records->Next();
  while (records->Valid()) {
    const Slice key = records->record().key;
    if (!range.upper.empty() && key >= range.upper) break;
    const Slice found_id = key.substr(bytes, kTableIdBytes);
    if (found_id != id) {
      // Seeks to this table in the current partition, or in the next partition if the walk is
      // behind the table.
      const uint32_t partition = PartitionOf(key, bytes) + (found_id < id ? 0 : 1);
      if (partition > context_.partitions->last()) break;
      const std::string target = TableStart(partition, bytes, table.id());
      if (!range.upper.empty() && target >= range.upper) break;
      records->Seek(target);
      continue;
    }
    LAVA_ASSIGN_OR_RETURN(const bool added, page.Add(records->record()));
    if (!added) return page.Finish(false);
    records->Next();
  }
  LAVA_RETURN_IF_ERROR(records->status());
  return page.Finish(true);
}

Status Scanner::CheckTables(const TablesScanRequest& request,
                            std::vector<TableImpl*>* tables) const {
  if (request.entries_max == 0)
    return Status::InvalidArgument("scan of several tables: entries_max is 0");
  for (Table* table : request.tables) {
    TableImpl* impl;
    LAVA_RETURN_IF_ERROR(context_.tables->Check(table, &impl));
    if (!tables->empty() && tables->back()->id() >= impl->id())
      return Status::InvalidArgument("scan of several tables: '" + impl->name() + "' follows '" +
                                     tables->back()->name() + "', whose id is not smaller");
    tables->push_back(impl);
  }
  if (request.after_key.empty()) return Status::OK();
  if (request.after_table >= tables->size())
    return Status::InvalidArgument("scan of several tables: after_table is " +
                                   std::to_string(request.after_table) +
                                   ", the number of tables is " + std::to_string(tables->size()));
  return context_.partitions->CheckBound(*(*tables)[request.after_table], request.after_key,
                                         "lower");
}

Status Scanner::ScanTables(const TablesScanRequest& request, TablesScanPage* page,
                           Snapshot* snapshot) const {
  std::vector<TableImpl*> tables;
  LAVA_RETURN_IF_ERROR(CheckTables(request, &tables));
  LAVA_ASSIGN_OR_RETURN(const ViewRef view, context_.ViewOf(snapshot));
  Counters::Add(&context_.counters->scans, 1);
  page->sections.clear();
  ScanRequest single;
  single.lower = request.after_key;
  single.lower_exclusive = !request.after_key.empty();
  single.entries_max = request.entries_max;
  single.bytes_max = request.bytes_max;
  ScanPageWriter writer(single, context_.partitions->bytes(), &page->page);
  if (tables.empty()) {
    writer.Finish(true);
    return Status::OK();
  }
  const std::string from =
      request.after_key.empty()
          ? TableStart(context_.partitions->first(), context_.partitions->bytes(),
                       tables.front()->id())
          : std::string(InternalKey(context_.partitions->bytes(),
                                    tables[request.after_table]->id_bytes(), request.after_key)
                            .slice());
  ScopedCharge windows;  // outlives the runs that use it
  TableReader::IterateOptions files;
  files.goes_on = single.lower_exclusive;
  files.ahead_memory = context_.memory;
  if (!request.fill_cache) files = PastTheCache(*view->version, context_.memory, &windows);
  std::vector<std::unique_ptr<MergeRun>> runs;
  if (view->active != nullptr && Matters(*view->active, from, {}, false))
    runs.push_back(NewMemTableRun(view->active, false));
  AddSealedRuns(*view, from, {}, false, false, &runs);
  LAVA_RETURN_IF_ERROR(
      AddFileRuns(*view->version, from, {}, {}, files, {request.entries_max, view->totals}, &runs));
  MergeOptions merge;
  merge.prefix_bytes_min = context_.partitions->bytes() + kTableIdBytes;
  const std::unique_ptr<RecordIterator> records = NewMergingIterator(std::move(runs), merge);
  records->Seek(from);
  if (single.lower_exclusive && records->Valid() && records->record().key == from) records->Next();
  const Status shown = ShowTables(tables, *view, records.get(), &writer, page);
  if (shown.IsNeedsFile()) return shown;  // the message must be only the name of the file
  if (!shown.ok()) {
    const bool goes_on = single.lower_exclusive;
    return shown.WithContext("a scan from table '" +
                             tables[goes_on ? request.after_table : 0]->name() + "' in partition " +
                             std::to_string(PartitionOf(from, context_.partitions->bytes())) +
                             " on");
  }
  for (const ScanSection& section : page->sections)
    tables[section.table]->CountScanned(section.entries);
  return Status::OK();
}

// Fills a page, beginning with the current record of the walk.
Status Scanner::ShowTables(const std::vector<TableImpl*>& tables, const ReadView& view,
                           RecordIterator* records, ScanPageWriter* writer,
                           TablesScanPage* page) const {
  PageFiller filler(view, tables[0]->id(), false, writer, context_.counters, context_.memory);
  const uint32_t bytes = context_.partitions->bytes();
  ScanSection at;  // the current table and partition; no table before the first record
  at.table = UINT32_MAX;
  while (records->Valid()) {
    const Slice key = records->record().key;
    const uint32_t partition = PartitionOf(key, bytes);
    const uint64_t id = TableIdOf(key, bytes);
    if (at.table == UINT32_MAX || at.partition != partition || tables[at.table]->id() != id) {
      const auto table =
          std::lower_bound(tables.begin(), tables.end(), id,
                           [](const TableImpl* t, uint64_t i) { return t->id() < i; });
      const bool ends = table == tables.end();
      if (ends || (*table)->id() != id) {
        if (ends && partition == context_.partitions->last()) break;
        records->Seek(ends ? TableStart(partition + 1, bytes, tables.front()->id())
                           : TableStart(partition, bytes, (*table)->id()));
        continue;
      }
      at = {static_cast<uint32_t>(table - tables.begin()), partition, 0};
      filler.SetTable(id);
      writer->SetBeside((page->sections.size() + 1) * ScanSection::kBytes);
    }
    const uint32_t before = page->page.entries;
    LAVA_ASSIGN_OR_RETURN(const bool added, filler.Add(records->record()));
    if (!added) return filler.Finish(false);
    if (page->page.entries > before) {  // an entry was added: the record has not expired
      if (at.entries == 0) page->sections.push_back(at);
      at.entries = ++page->sections.back().entries;
    }
    records->Next();
  }
  LAVA_RETURN_IF_ERROR(records->status());
  return filler.Finish(true);
}

}  // namespace lava
