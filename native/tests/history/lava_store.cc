// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/history/lava_store.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "base/dictionary.h"
#include "db/environment.h"
#include "db/verify_file.h"
#include "fs/posix_file_system.h"
#include "host/host_impl.h"
#include "testing/random.h"

namespace lava::testing {
namespace {

constexpr int kBusyMax = 100'000;

std::string NewRealDirectory() {
  static std::atomic<uint64_t> number{0};
  return (std::filesystem::temp_directory_path() /
          ("lava-history-" + std::to_string(::getpid()) + "-" + std::to_string(++number)))
      .string();
}

/// For all value files, because those of histories have too few values to train one.
const std::string& HistoryDictionary() {
  static const std::string dictionary = [] {
    Random random(1);
    std::string samples;
    std::vector<size_t> sizes;
    for (size_t i = 0; i < 50; ++i) {
      const std::string sample = std::string(random.Uniform(300), 'z') + random.SkewedBytes(60);
      samples += sample;
      sizes.push_back(sample.size());
    }
    return TrainDictionary(samples, sizes, 1024);
  }();
  return dictionary;
}

}  // namespace

LavaStore::LavaStore(const OptionSet& set, uint64_t seed, fs::FileSystem* file_system)
    : set_(set), fs_(file_system), arrival_random_(seed) {
  if (file_system == nullptr && set.files == OptionSet::Files::kMemory) fs_ = &memory_.emplace();
  if (file_system == nullptr && set.files == OptionSet::Files::kPosix && OnLavaFs()) {
    root_ = NewRealDirectory();
    file_volume_ = std::make_unique<FileVolume>(root_ + ".volume", set.direct_io);
    fs_ = file_volume_->file_system();
  } else if (file_system == nullptr && set.files == OptionSet::Files::kPosix) {
    posix_ = fs::NewPosixFileSystem(fs::OpenFileLimit::Process(), {.direct_reads = set.direct_io,
                                                                   .direct_writes = set.direct_io});
    fs_ = posix_.get();
    root_ = NewRealDirectory();
    owns_root_ = true;
  }
  if (file_system == nullptr && set.files == OptionSet::Files::kLavaFs) {
    volume_ = std::make_unique<MemVolume>();
  }
  directory_ = root_ + "/db";
  switch (set.jobs) {
    case OptionSet::Jobs::kRandomOrder:
      simulated_ = std::make_unique<SimExecutor>(seed);
      break;
    case OptionSet::Jobs::kPriority:
      simulated_ = std::make_unique<SimExecutor>(seed, SimExecutor::Order::kPriority);
      break;
    case OptionSet::Jobs::kThreads:
      scheduler_ = std::make_unique<Scheduler>(set.threads);
      jobs_ = scheduler_->NewClient();
      break;
  }
}

LavaStore::~LavaStore() {
  Host::Get().SetSpaceLimit(0);  // TuneHost()
  CloseNow();
  std::error_code ignored;
  if (owns_root_) std::filesystem::remove_all(root_, ignored);
}

void LavaStore::CloseNow() {
  if (db_ != nullptr) {
    const DBStatistics statistics = db_->statistics();
    Totals& totals = TotalsOfAll();
    totals.collections += statistics.collections;
    totals.values_logged += statistics.values_logged;
    totals.external_values += statistics.external_values;
    totals.collection_values_dead += statistics.collection_values_dead;
    totals.value_reads += statistics.value_reads;
    totals.merged_value_bytes += statistics.merged_value_bytes;
  }
  StopBringing();
  snapshots_.clear();
  tables_.clear();
  logged_.clear();
  db_.reset();
  beside_grant_.reset();
  beside_lease_.reset();
  if (simulated_ != nullptr) simulated_->DropAll();
}

LavaStore::Totals& LavaStore::TotalsOfAll() {
  static Totals totals;
  return totals;
}

Status LavaStore::Open() { return OpenIn(directory_, {}); }

Status LavaStore::OpenIn(const std::string& directory, std::span<const ImportSource> imports) {
  CloseNow();
  if (volume_ != nullptr) {
    LAVA_RETURN_IF_ERROR(volume_->Remount());
    fs_ = volume_->file_system();
  }
  separation_bytes_ = SeparationOf(set_, openings_);
  DBOptions options = OptionsOf(set_, openings_++);
  options.file_system = fs_;
  LAVA_ASSIGN_OR_RETURN(options.lease,
                        Host::Get().Acquire(set_.lease_bytes, set_.write_buffer_ratio));
  extra_ = options.partition_bytes - 1;
  if (job_beside_) {
    beside_lease_ = options.lease;
    beside_grant_.emplace(*Impl(beside_lease_.get())->job_memory()->TryBegin(&beside_, 0));
  }
  DBEnvironment environment;
  environment.executor = simulated_ != nullptr ? simulated_.get() : jobs_.get();
  environment.clock = &clock_;
  environment.wait_ms_max = simulated_ != nullptr ? 0 : 10;
  environment.value_dictionary.given = HistoryDictionary();
  if (set_.index % 3 == 1) environment.value_in_memory_bytes_max = 30;
  LAVA_ASSIGN_OR_RETURN(db_, OpenDB(options, directory, imports, environment));
  directory_ = directory;
  if (time_) db_->ContinueTime(*time_);
  db_->SetTime(now_ms_);
  time_ = db_->time();
  // The first puts must be tracked as well.
  EntryLocation location;
  const Status watched = db_->BindExternal("", &location);
  return watched.IsNotFound() ? Status::OK() : Status::IOError("bound: " + watched.ToString());
}

std::string LavaStore::ToStore(const std::string& key) const {
  return key.empty() ? key : std::string(extra_, '\0') + key;
}

uint32_t LavaStore::PrefixOf(uint32_t table) const {
  const uint32_t bytes = PrefixBytesOf(table);
  return bytes == 0 ? 0 : bytes + extra_;
}

Result<Table*> LavaStore::TableAt(uint32_t table) {
  if (db_ == nullptr) return Status::Closed("the instance could not be opened");
  Table*& known = tables_[table];
  if (known == nullptr) {
    const HistoryTable& t = kHistoryTables[table];
    LAVA_ASSIGN_OR_RETURN(known, db_->CreateTable(t.name, {.kind = t.kind,
                                                           .ttl_layout = t.ttl_layout,
                                                           .ttl_ms = ttl_ms_[table],
                                                           .separation_bytes = separation_bytes_}));
  }
  return known;
}

Snapshot* LavaStore::SnapshotAt(int32_t slot) const {
  return slot < 0 ? nullptr : snapshots_.at(slot).get();
}

// Repeats the call while it is Busy, and runs simulated jobs in the meantime.
Status LavaStore::Finish(const std::function<Status()>& call) {
  if (db_ == nullptr) return Status::Closed("the instance could not be opened");
  for (int i = 0; i < kBusyMax; ++i) {
    const Status status = call();
    if (!status.IsBusy()) return status;
    // The jobs for which it waits may wait for a file.
    LAVA_RETURN_IF_ERROR(BringAny());
    if (simulated_ != nullptr) simulated_->RunUntilIdle();
    clock_.Advance(10);
  }
  return Status::IOError("busy for ever");
}

Status LavaStore::Write(const Operation& write) {
  if (arrival_random_.OneIn(16)) LAVA_RETURN_IF_ERROR(BringAny());
  if (write.op == Op::kPutExternal) return PutExternal(write);
  if (write.op == Op::kAppendExternal) return AppendExternal(write);
  return Finish([&] { return Apply(write); });
}

Status LavaStore::Apply(const Operation& o) {
  LAVA_ASSIGN_OR_RETURN(Table * table, TableAt(o.table));
  const std::string key = ToStore(o.key);
  const KeyRef ref{key, PrefixOf(o.table)};
  switch (o.op) {
    case Op::kPut:
      return db_->Put(table, ref, o.value);
    case Op::kDelete:
      return db_->Delete(table, ref);
    case Op::kAppend:
      return db_->Append(table, ref, o.value);
    case Op::kDeletePrefix:
      return db_->DeletePrefix(table, key);
    default:
      return db_->DeleteRange(table, key, ToStore(o.upper));
  }
}

Status LavaStore::WriteBatch(std::span<const Operation> writes) {
  batch_.Clear();
  for (const Operation& o : writes) {
    LAVA_ASSIGN_OR_RETURN(Table * table, TableAt(o.table));
    const std::string key = ToStore(o.key);
    const KeyRef ref{key, PrefixOf(o.table)};
    if (o.op == Op::kPut) batch_.Put(table, ref, o.value);
    if (o.op == Op::kDelete) batch_.Delete(table, ref);
    if (o.op == Op::kAppend) batch_.Append(table, ref, o.value);
    if (o.op == Op::kDeletePrefix) batch_.DeletePrefix(table, key);
  }
  return Finish([&] { return db_->Write(batch_); });
}

namespace {

// A key that no instance accepts. Cached for each prefix: creating it takes a fifth of a history's
// time.
const std::string& TooLong(const std::string& begin) {
  static std::mutex mutex;
  static std::map<std::string, std::string> made;
  std::lock_guard<std::mutex> lock(mutex);
  std::string& key = made[begin];
  if (key.empty()) key = begin + std::string(kKeyBytesMax, 'k');
  return key;
}

}  // namespace

Status LavaStore::Refused(uint64_t number) {
  LAVA_ASSIGN_OR_RETURN(Table * map, TableAt(1));
  LAVA_ASSIGN_OR_RETURN(Table * value, TableAt(0));
  const std::string good = ToStore(std::string("\1k\1", 3));
  const std::string beyond = ToStore(std::string(1, static_cast<char>(kPartitionMax + 1)) + "k");
  const std::string& too_long = TooLong(good);
  lava::WriteBatch batch;
  batch.Put(map, {good, PrefixOf(1)}, "not to be seen");
  return Finish([&]() -> Status {
    PinnedValue found;
    ScanPage page;
    ScanRequest scan;
    TableOptions options = value->options();
    switch (number % 15) {
      case 0:
        return db_->Put(value, {beyond}, "v");
      case 1:
        return db_->Put(value, {""}, "v");
      case 2:
        return db_->Append(value, {good}, "v");
      case 3:
        return db_->Put(map, {good, static_cast<uint32_t>(good.size() + 1)}, "v");
      case 4:
        batch.Put(value, {beyond}, "v");
        return db_->Write(batch);
      case 5:
        batch.Append(value, {good}, "v");
        return db_->Write(batch);
      case 6:
        return db_->Put(value, {too_long}, "v");
      case 7:
        return db_->Put(nullptr, {good}, "v");
      case 8:
        return db_->Contains(value, {beyond});
      case 9:
        scan.lower = too_long;
        return db_->Scan(value, scan, &page);
      case 10:
        return db_->DeleteRange(value, good, too_long);
      case 11:
        options.kind = TableKind::kList;
        return db_->SetTableOptions(value, options);
      case 12:
        return db_->CreateTable(std::string(kTableNameBytesMax + 1, 'n'), {}).status();
      case 13:
        return db_->DeletePrefix(map, "");
      default:
        return db_->Get(value, {beyond}, &found);
    }
  });
}

Result<Store::Value> LavaStore::Get(uint32_t table, const std::string& key, int32_t slot) {
  LAVA_ASSIGN_OR_RETURN(Table * t, TableAt(table));
  const std::string internal = ToStore(key);
  const Status status = WithFiles([&] {
    return db_->Get(t, {internal, PrefixOf(table)}, &value_, SnapshotAt(slot));
  });
  if (status.ok()) return Value(value_.data());
  if (status.IsNotFound()) return Value();
  return status;
}

Result<bool> LavaStore::Contains(uint32_t table, const std::string& key, int32_t slot) {
  LAVA_ASSIGN_OR_RETURN(Table * t, TableAt(table));
  const std::string internal = ToStore(key);
  const Status status = WithFiles([&] {
    return db_->Contains(t, {internal, PrefixOf(table)}, SnapshotAt(slot));
  });
  if (!status.ok() && !status.IsNotFound()) return status;
  return status.ok();
}

Result<bool> LavaStore::ContainsPrefix(uint32_t table, const std::string& prefix, int32_t slot) {
  LAVA_ASSIGN_OR_RETURN(Table * t, TableAt(table));
  const std::string internal = ToStore(prefix);
  const Status status =
      WithFiles([&] { return db_->ContainsPrefix(t, internal, SnapshotAt(slot)); });
  if (!status.ok() && !status.IsNotFound()) return status;
  return status.ok();
}

Result<std::vector<Model::Entry>> LavaStore::Scan(const Operation& scan) {
  LAVA_ASSIGN_OR_RETURN(Table * t, TableAt(scan.table));
  const std::string lower = ToStore(scan.key), upper = ToStore(scan.upper);
  ScanRequest request;
  request.lower = lower;
  if (!scan.prefix) request.upper = upper;
  request.lower_exclusive = scan.exclusive;
  request.prefix_bytes = scan.prefix ? kPrefixBytes + extra_ : 0;
  request.keys_only = scan.keys_only;
  request.skip_key_bytes = scan.skip + extra_;
  request.entries_max = scan.entries_max;
  request.bytes_max = scan.bytes_max;
  request.fill_cache = scan.entries_max % 2 == 0;  // no answer depends on it
  std::vector<Model::Entry> entries;
  std::string from;
  ScanPage page;
  for (int pages = 0; pages < kBusyMax; ++pages) {
    LAVA_RETURN_IF_ERROR(
        WithFiles([&] { return db_->Scan(t, request, &page, SnapshotAt(scan.slot)); }));
    LAVA_RETURN_IF_ERROR(ParsePage(page, &entries));
    if (page.done) return entries;
    // Jobs that run between two pages must not matter.
    if (simulated_ != nullptr && pages % 4 == 1) simulated_->RunOne();
    if (page.entries == 0) continue;
    from = page.last_key;
    request.lower = from;
    request.lower_exclusive = true;
  }
  return Status::IOError("a scan without an end");
}

Status LavaStore::TakeSnapshot(int32_t slot) {
  if (db_ == nullptr) return Status::Closed("the instance could not be opened");
  LAVA_ASSIGN_OR_RETURN(std::shared_ptr<Snapshot> snapshot, db_->TakeSnapshot());
  snapshots_[slot] = std::move(snapshot);
  return Status::OK();
}

Status LavaStore::CheckFiles(std::span<const Snapshot::File> files) const {
  std::set<std::string> names;
  for (const Snapshot::File& file : files) {
    if (!names.insert(file.name).second)
      return Status::Corruption("a checkpoint names " + file.name + " twice");
    const std::string path = PathOf(file);
    if (file.missing) ++TotalsOfAll().missing_files_in_checkpoints;
    LAVA_ASSIGN_OR_RETURN(const uint64_t bytes, fs_->FileSize(path));
    if (bytes != file.bytes)
      return Status::Corruption(path + " has " + std::to_string(bytes) + " bytes, not " +
                                std::to_string(file.bytes));
  }
  return Status::OK();
}

Status LavaStore::Checkpoint(int32_t slot) {
  const std::shared_ptr<Snapshot> snapshot = snapshots_.at(slot);
  LAVA_RETURN_IF_ERROR(Finish([&] { return snapshot->WaitFlushed(0); }));
  std::vector<Snapshot::File> files;
  std::string metadata;
  LAVA_RETURN_IF_ERROR(snapshot->Files(&files, &metadata));
  LAVA_RETURN_IF_ERROR(CheckFiles(files));
  LAVA_ASSIGN_OR_RETURN(const MetadataInfo info, ReadMetadata(metadata));
  if (info.files.size() != files.size() || info.partition_bytes != 1 + extra_)
    return Status::Corruption("a checkpoint's metadata does not name its files");
  return Status::OK();
}

// Flushes the slot's snapshot, or a new one, and links its files.
Status LavaStore::Adopt(int32_t slot, const std::string& directory, ImportSource* source) {
  std::shared_ptr<Snapshot> snapshot;
  if (HasSnapshot(slot)) {
    snapshot = snapshots_.at(slot);
  } else {
    LAVA_ASSIGN_OR_RETURN(snapshot, db_->TakeSnapshot());
  }
  LAVA_RETURN_IF_ERROR(Finish([&] { return snapshot->WaitFlushed(0); }));
  std::vector<Snapshot::File> files;
  LAVA_RETURN_IF_ERROR(snapshot->Files(&files, &source->metadata));
  for (const Snapshot::File& file : files) LAVA_RETURN_IF_ERROR(Place(file, directory, source));
  return Status::OK();
}

Status LavaStore::Import(const ImportPlan& plan) {
  const std::string directory = root_ + "/db" + std::to_string(++directories_);
  LAVA_RETURN_IF_ERROR(fs_->CreateDirectory(directory));
  std::vector<ImportSource> sources;
  const auto adopt = [&](int32_t slot, uint32_t first, uint32_t last) {
    sources.push_back({"", first, last});
    return Adopt(slot, directory, &sources.back());
  };
  for (const ImportPart& part : plan) LAVA_RETURN_IF_ERROR(adopt(part.slot, part.first, part.last));
  // The flush ensures that no data is lost if the new instance does not open.
  LAVA_RETURN_IF_ERROR(Flush());
  LAVA_RETURN_IF_ERROR(OpenIn(directory, sources));
  AwaitFiles();
  return Status::OK();
}

Status LavaStore::Reopen() {
  if (WalOf(set_) == WalMode::kNone) LAVA_RETURN_IF_ERROR(Flush());
  LAVA_RETURN_IF_ERROR(BringAll());
  const Status closed = CheckClosed();
  if (!closed.ok()) CloseNow();
  LAVA_RETURN_IF_ERROR(closed);
  return Open();
}

// Closes, and tries calls that must be refused then.
Status LavaStore::CheckClosed() {
  LAVA_ASSIGN_OR_RETURN(Table * table, TableAt(0));
  LAVA_ASSIGN_OR_RETURN(const std::shared_ptr<Snapshot> snapshot, db_->TakeSnapshot());
  value_.Reset();
  LAVA_RETURN_IF_ERROR(Finish([&] { return db_->Close(); }));
  const std::string key = ToStore(std::string("\1k\1", 3));
  std::vector<Snapshot::File> files;
  std::string metadata;
  ScanPage page;
  uint64_t ticket = 0;
  FlushTicket flush;
  for (const Status& status :
       {db_->Put(table, {key}, "v"), db_->Get(table, {key}, &value_), db_->Flush(0, &flush),
        db_->Get(table, {key}, &value_, snapshot.get()), db_->Contains(table, {key}),
        db_->Scan(table, {}, &page), db_->CompactAll(0, &ticket), db_->TakeSnapshot().status(),
        db_->CreateTable("late", {}).status(), snapshot->WaitFlushed(0),
        snapshot->Files(&files, &metadata), db_->DropTable(table)}) {
    if (!status.IsClosed())
      return Status::IOError("a closed instance answers " + status.ToString());
  }
  return db_->Close();
}

Status LavaStore::Flush() {
  return Finish([&, flush = FlushTicket()]() mutable { return db_->Flush(0, &flush); });
}

Status LavaStore::CompactAll() {
  uint64_t ticket = 0;
  return Finish([&] { return db_->CompactAll(0, &ticket); });
}

void LavaStore::RunJobs(uint64_t count) {
  if (simulated_ == nullptr) return;
  if (!BringAny().ok()) return;  // reads report the error
  for (uint64_t i = 0; i < count && simulated_->RunOne(); ++i) {
  }
}

Status LavaStore::DropTable(uint32_t table) {
  LAVA_ASSIGN_OR_RETURN(Table * t, TableAt(table));
  LAVA_RETURN_IF_ERROR(Finish([&] { return db_->DropTable(t); }));
  tables_.erase(table);
  // Every use of the dropped table is refused.
  const Status after = db_->Put(t, {ToStore(std::string("\1k\1", 3)), PrefixOf(table)}, "v");
  return after.IsClosed() ? Status::OK() : Status::IOError("a dropped table can be written to");
}

Status LavaStore::SetTtl(uint32_t table, int64_t ttl_ms) {
  LAVA_ASSIGN_OR_RETURN(Table * t, TableAt(table));
  TableOptions options = t->options();
  options.ttl_ms = ttl_ms;
  LAVA_RETURN_IF_ERROR(db_->SetTableOptions(t, options));
  ttl_ms_[table] = ttl_ms;
  for (const TableInfo& info : db_->ListTables())
    if (info.name == t->name() && info.options.ttl_ms == ttl_ms) return Status::OK();
  return Status::IOError("the list of tables does not know what was set");
}

Status LavaStore::Tune(uint32_t table, uint64_t number) {
  static constexpr uint64_t kBounds[] = {0, 1, 10, 100, kSeparationAutomatic};
  LAVA_ASSIGN_OR_RETURN(Table * t, TableAt(table));
  TableOptions options = t->options();
  options.separation_bytes = kBounds[number % std::size(kBounds)];
  LAVA_RETURN_IF_ERROR(db_->SetTableOptions(t, options));
  static constexpr ValuePolicy kPolicies[] = {ValuePolicy::kAutomatic, ValuePolicy::kCollect,
                                              ValuePolicy::kMerge, ValuePolicy::kGreedy};
  db_->SetValuePolicy(kPolicies[number / std::size(kBounds) % std::size(kPolicies)]);
  const bool said = t->options().separation_bytes == options.separation_bytes;
  return said ? Status::OK() : Status::IOError("a table does not say what was set");
}

void LavaStore::TuneHost(uint64_t number) {
  // With a limit of one byte, each instance with garbage collects for all.
  static constexpr uint64_t kNeverFull = 1ull << 50;
  static constexpr uint64_t kFrom[] = {1, 50'000, kNeverFull - 1};
  static constexpr double kCores[] = {0, 0.2, 1, 100};
  const uint64_t which = number / 4;
  switch (number % 4) {
    case 0:
      Host::Get().SetSpaceLimit(0);
      break;
    case 1:
      Host::Get().SetSpaceLimit(kNeverFull, kFrom[which % std::size(kFrom)]);
      break;
    case 2:
      if (scheduler_ != nullptr) scheduler_->SetCpu(kCores[which % std::size(kCores)]);
      break;
    case 3:
      if (scheduler_ != nullptr) scheduler_->SetThreadCount(static_cast<uint32_t>(1 + which % 4));
      break;
  }
}

void LavaStore::SetTime(int64_t now_ms, bool confirmed) {
  if (now_ms > now_ms_)
    confirmed ? clock_.Advance(now_ms - now_ms_) : clock_.StepWall(now_ms - now_ms_);
  now_ms_ = now_ms;
  if (db_ == nullptr) return;
  db_->SetTime(now_ms);
  time_ = db_->time();
}

Status LavaStore::CheckAtEnd() {
  LAVA_RETURN_IF_ERROR(BringAll());
  LAVA_RETURN_IF_ERROR(db_->RollEntries());
  LAVA_RETURN_IF_ERROR(db_->ReleaseEntries(UINT64_MAX));
  logged_.clear();
  if (simulated_ != nullptr) return CheckAtRest();
  // Threads may still be working: a job removes files after it has stopped counting as running.
  Status status;
  for (int i = 0; i < 5000; ++i) {
    status = CheckAtRest();
    if (status.ok()) return status;
    // Files held by a last read are removed with the next flush.
    LAVA_RETURN_IF_ERROR(Flush());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return status;
}

Status LavaStore::CheckAtRest() {
  if (simulated_ != nullptr) simulated_->RunUntilIdle();
  const DBStatistics statistics = db_->statistics();
  if (statistics.background_errors != 0 && !may_fail_)
    return Status::IOError("background work failed");
  if (statistics.pinned_file_bytes != 0) return Status::IOError("files are pinned for ever");
  LAVA_ASSIGN_OR_RETURN(std::vector<std::string> names, fs_->List(directory_));
  std::erase_if(names, [](const std::string& name) {
    return !name.ends_with(".ksst") && !name.ends_with(".vsst");
  });
  if (names.size() != statistics.live_files)
    return Status::IOError(std::to_string(names.size()) + " files are there, " +
                           std::to_string(statistics.live_files) + " are named");
  const std::vector<TableInfo> tables = db_->ListTables();
  for (const std::string& name : names)
    LAVA_RETURN_IF_ERROR(VerifyStoredFile(fs_, directory_ + "/" + name, tables));
  return CheckRecordCounts();
}

// Everything has been compacted, so the files contain the records that a scan shows, and deletions
// that were moved to the last level unchanged.
Status LavaStore::CheckRecordCounts() {
  for (uint32_t table = 0; table < kHistoryTableCount; ++table) {
    if (HasTtl(table)) continue;
    LAVA_ASSIGN_OR_RETURN(Table * t, TableAt(table));
    Operation scan;
    scan.table = table;
    scan.entries_max = 100;
    scan.bytes_max = 1 << 20;
    LAVA_ASSIGN_OR_RETURN(const std::vector<Model::Entry> entries, Scan(scan));
    const TableStatistics statistics = db_->table_statistics(t);
    if (statistics.records < entries.size() ||
        statistics.garbage_bytes > statistics.value_raw_bytes)
      return Status::IOError(t->name() + " has " + std::to_string(entries.size()) +
                             " entries, its files " + std::to_string(statistics.records));
  }
  return Status::OK();
}

}  // namespace lava::testing
