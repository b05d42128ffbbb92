#include <algorithm>

#include "base/guarded.h"
#include "db/db_impl.h"

// What becomes of jobs that fail. A file that is damaged cannot be compacted or collected however
// often that is tried: jobs leave it alone from then on, reads go on where it is sound, and the
// next checkpoint that it belongs to fails, so that the state is restored from one before.
namespace lava {
namespace {

// So many names of tables stand in a message.
constexpr size_t kNamesMax = 16;

constexpr std::string_view kAdvice =
    "; the file cannot be repaired here: restore from the last checkpoint, and look at the disk";

std::string Quoted(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kNamesMax); ++i)
    text += (i == 0 ? "'" : ", '") + names[i] + "'";
  if (names.size() > kNamesMax) text += " and others";
  return text;
}

template <typename Map>
std::vector<uint64_t> KeysOf(const Map& map) {
  std::vector<uint64_t> keys;
  for (const auto& entry : map) keys.push_back(entry.first);
  return keys;
}

}  // namespace

Backoff& DBImpl::BackoffOf(BackgroundEvents::Work work) {
  if (work == BackgroundEvents::Work::kFlush) return flush_backoff_;
  return work == BackgroundEvents::Work::kCompaction ? compaction_backoff_ : gc_backoff_;
}

// Of flushes, compactions and collections.
void DBImpl::Failed(BackgroundEvents::Work work, const Status& status, uint64_t began_us) {
  Counters::Add(&counters_.background_errors, 1);
  Backoff& backoff = BackoffOf(work);
  if (!Tried([&] { backoff.status = status; })) backoff.status = Status(status.code(), {});
  backoff.wait_us =
      std::clamp(backoff.wait_us * 2, environment_.retry_us_min, environment_.retry_us_max);
  backoff.began_us = began_us;
  backoff.retry_at_us = clock_->MonotonicMicros() + backoff.wait_us;
  // Without memory it is told when it is met the next time.
  (void)Tried([&] {
    state_mutex_.AssertHeld();
    NoteDamage(work, status);
  });
}

void DBImpl::Worked(BackgroundEvents::Work work) {
  BackoffOf(work) = Backoff();
  (void)Tried([&] {
    state_mutex_.AssertHeld();
    events_.Worked(work);
  });
}

// Messages of corruption name the file.
std::optional<DBImpl::DamagedFile> DBImpl::FindDamaged(std::string_view message) const {
  const auto names = [message](const std::string& file) {
    return message.find(file) != std::string_view::npos;
  };
  for (const auto& level : version_->levels)
    for (const FileEntry& entry : level)
      if (names(entry.file->id.FileName()))
        return DamagedFile{entry.file->id, true, tables_.NamesOf(KeysOf(entry.file->tables))};
  for (const auto& [id, entry] : version_->value_files)
    if (names(id.ValueFileName()))
      return DamagedFile{id, false, tables_.NamesOf(KeysOf(entry.file->tables))};
  return std::nullopt;
}

void DBImpl::NoteDamage(BackgroundEvents::Work work, const Status& status) {
  const int64_t now_ms = clock_->WallMillis();
  std::optional<DamagedFile> file;
  if (status.IsCorruption()) file = FindDamaged(status.message());
  if (!file) return events_.Failed(work, status, now_ms);
  Status told = status;
  if (!file->tables.empty())
    told = Status::Corruption(std::string(status.message()) + "; it holds state of " +
                              Quoted(file->tables));
  std::string name = file->is_key_file ? file->id.FileName() : file->id.ValueFileName();
  events_.Damaged(file->id, std::move(name), told, std::move(file->tables), now_ms);
  avoided_.insert(file->id);
  // Other files are compacted and collected as before.
  BackoffOf(work) = Backoff();
}

// A compaction can fail for a file that is none of its inputs, to which they refer.
void DBImpl::AvoidInputs(const CompactionInput& input, const Status& status) {
  if (!status.IsCorruption()) return;
  const std::optional<DamagedFile> file = FindDamaged(status.message());
  if (!file || file->is_key_file ||
      input.merged_values.contains(version_->value_files.find(file->id)->second.file.get()))
    return;
  for (const CompactionInput::Level& level : input.inputs)
    for (const FileEntry& entry : level.entries) avoided_.insert(entry.file->id);
}

// Which values live cannot be told without all keys.
bool DBImpl::IsKeyFileDamaged() const {
  if (!events_.any_damage()) return false;
  for (const auto& level : version_->levels)
    for (const FileEntry& entry : level)
      if (events_.IsDamaged(entry.file->id)) return true;
  return false;
}

Status DBImpl::DamageOf(const Version& version) const {
  if (!events_.any_damage()) return events_.Corruption();
  const auto told = [this](const FileId& id) LAVA_REQUIRES(state_mutex_) {
    const Status* const damage = events_.DamageOf(id);
    return damage == nullptr
               ? Status::OK()
               : Status::Corruption(std::string(damage->message()) + std::string(kAdvice));
  };
  for (const auto& level : version.levels)
    for (const FileEntry& entry : level) LAVA_RETURN_IF_ERROR(told(entry.file->id));
  for (const auto& [id, entry] : version.value_files) LAVA_RETURN_IF_ERROR(told(id));
  return events_.Corruption();
}

Status DBImpl::DamageIn(const Version& version) const {
  MutexLock state(&state_mutex_);
  return DamageOf(version).WithContext("checkpoint of " + path_);
}

void DBImpl::TellDeleted(const std::string& name, const Status& status) {
  notifier_->Queue(&EventListener::OnFileDeleted, [&] {
    FileDeletedInfo info;
    info.file = name;
    info.status = status;
    return info;
  });
}

// What stays is removed by the next open.
void DBImpl::RemoveFile(const std::string& name) {
  const Status status = fs_->Remove(path_ + "/" + name);
  TellDeleted(name, status);
  const bool failed = !status.ok() && !status.IsNotFound();
  if (failed) Counters::Add(&counters_.background_errors, 1);
  MutexLock state(&state_mutex_);
  Note(BackgroundEvents::Work::kRemoval, failed ? status : Status::OK());
}

// Of work that nothing waits for.
void DBImpl::Note(BackgroundEvents::Work work, const Status& status) {
  (void)Tried([&] {
    state_mutex_.AssertHeld();
    if (status.ok()) return events_.Worked(work);
    events_.Failed(work, status, clock_->WallMillis());
  });
}

std::vector<BackgroundEvent> DBImpl::TakeBackgroundEvents() {
  if (!HasBackgroundEvents()) return {};
  MutexLock state(&state_mutex_);
  return events_.Take();
}

}  // namespace lava
