#include "policy/separation.h"

#include "db/db_impl.h"
#include "read/readers.h"

namespace lava {
namespace {

// What is older than so many writes counts half.
constexpr uint64_t kWritesRemembered = 1 << 20, kApartRemembered = 1 << 16;

uint64_t TreeBytes(const Version& version) {
  uint64_t bytes = 0;
  for (const auto& level : version.levels)
    for (const FileEntry& entry : level) bytes += entry.file->raw_bytes;
  for (const auto& [id, entry] : version.value_files) bytes += entry.file->raw_bytes;
  return bytes;
}

std::map<uint64_t, uint64_t> RecordsByTable(const Version& version) {
  std::map<uint64_t, uint64_t> records;
  for (const auto& level : version.levels)
    for (const FileEntry& entry : level)
      for (const auto& [id, counts] : entry.file->tables) records[id] += counts.first;
  return records;
}

}  // namespace

void DBImpl::ChooseBounds(const std::vector<Flushed>& installed) {
  for (const Flushed& flushed : installed) {
    if (flushed.file != nullptr) ChooseSeparations(*flushed.file);
    if (large_values_) ChooseLarges(flushed);
  }
}

// What a table begins with.
uint64_t DBImpl::FirstLarge() const {
  return ChooseLarge({.synced = options_.wal == WalMode::kWalSync, .records = kLargeRecordsMin},
                     UINT64_MAX);
}

void DBImpl::ChooseLarges(const Flushed& flushed) {
  std::map<uint64_t, uint64_t> kept;
  for (const std::shared_ptr<ValueFileMeta>& file : flushed.value_files)
    for (const auto& [id, share] : file->tables) kept[id] += share.records;
  MutexLock state(&state_mutex_);
  for (const auto& [id, count] : flushed.separated_puts) {
    TableImpl* const table = tables_.Find(id);
    if (table == nullptr) continue;
    table->CountApartFlushed(count, kept[id], kApartRemembered);
    const LargeInput input{.synced = options_.wal == WalMode::kWalSync,
                           .records = table->apart_put(),
                           .died_in_memory = table->died_in_memory(),
                           .scanned_per_write = table->scanned_per_write()};
    table->SetChosenLarge(ChooseLarge(input, table->chosen_large()));
  }
}

// For the tables that want their bound found.
void DBImpl::ChooseSeparations(const FileMeta& flushed) {
  bool any = false;
  std::shared_ptr<const Version> version;
  {
    MutexLock state(&state_mutex_);
    version = version_;
    for (const auto& [id, counts] : flushed.tables) {
      TableImpl* const table = tables_.Find(id);
      if (table == nullptr) continue;
      table->CountWritten(counts.first, kWritesRemembered);
      any |= table->options().separation_bytes == kSeparationAutomatic;
    }
  }
  if (!any) return;
  const TableProperties& properties = ReaderOf(flushed)->properties();
  const uint64_t copied = counters_.gc_bytes_written.load(std::memory_order_relaxed);
  const uint64_t written = counters_.value_bytes_written.load(std::memory_order_relaxed);
  SeparationInput input{
      .key_bytes = properties.raw_key_bytes / std::max<uint64_t>(1, properties.records),
      .tree_bytes = TreeBytes(*version),
      .memtable_bytes = memtable_limit_,
      .level1_bytes = options_.level1_bytes,
      .level_multiplier = options_.level_multiplier};
  // Before files have been collected, as if half of each was copied once.
  if (copied > 0)
    input.copied_per_byte =
        static_cast<double>(copied) / static_cast<double>(std::max<uint64_t>(1, written));
  const std::map<uint64_t, uint64_t> records = RecordsByTable(*version);
  MutexLock state(&state_mutex_);
  for (TableImpl* const table : tables_.Handles()) {
    if (table->options().separation_bytes != kSeparationAutomatic) continue;
    const auto known = records.find(table->id());
    input.records = known == records.end() ? 0 : known->second;
    input.scanned_per_write = table->scanned_per_write();
    table->SetChosenSeparation(ChooseSeparation(input, table->chosen_separation()));
  }
}

}  // namespace lava
