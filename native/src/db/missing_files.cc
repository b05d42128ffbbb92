// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/missing_files.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "db/close_guard.h"
#include "db/db_impl.h"
#include "db/read_view.h"
#include "job/job_context.h"
#include "lava/db.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "table/table_reader.h"
#include "value/value_reader.h"

namespace lava {

void MissingFiles::Add(const std::shared_ptr<FileMeta>& file) {
  Insert(file->id.FileName(), {file->id, true, file, {}});
}

void MissingFiles::Add(const std::shared_ptr<ValueFileMeta>& file) {
  Insert(file->id.ValueFileName(), {file->id, false, {}, file});
}

// Allocates all memory before the containers change.
void MissingFiles::Insert(std::string name, const File& file) {
  std::set<FileId> id{file.id};
  MutexLock lock(&mutex_);
  if (!by_name_.try_emplace(std::move(name), file).second) return;
  ids_.insert(id.extract(id.begin()));
  ++files_;
  if (file.is_key_file) ++key_files_;
  LAVA_DCHECK(CheckCounts());
}

std::optional<MissingFiles::File> MissingFiles::Find(const std::string& name) const {
  MutexLock lock(&mutex_);
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

bool MissingFiles::Contains(const FileId& id) const {
  if (empty()) return false;
  MutexLock lock(&mutex_);
  return ids_.contains(id);
}

void MissingFiles::Erase(const std::string& name) {
  MutexLock lock(&mutex_);
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return;
  --files_;
  if (found->second.is_key_file) --key_files_;
  ids_.erase(found->second.id);
  by_name_.erase(found);
  LAVA_DCHECK(CheckCounts());
}

bool MissingFiles::CheckCounts() const {
  LAVA_DCHECK(by_name_.size() == files_ && ids_.size() >= files_);
  LAVA_DCHECK(key_files_ <= files_);
  return true;
}

void MissingFiles::Clear() {
  MutexLock lock(&mutex_);
  by_name_.clear();
  ids_.clear();
  files_ = key_files_ = 0;
}

bool MissingFiles::AnyOf(const Version& version) const {
  if (any_key_file()) return true;
  MutexLock lock(&mutex_);
  for (const FileId& id : ids_)
    if (version.value_files.contains(id)) return true;
  return false;
}

namespace {

Status OpenArrived(const JobContext& context, FileMeta* file) {
  LAVA_ASSIGN_OR_RETURN(std::shared_ptr<TableReader> reader, OpenReader(context, *file));
  file->reader.Set(std::move(reader));
  return Status::OK();
}

Status OpenArrived(const JobContext& context, ValueFileMeta* file) {
  LAVA_ASSIGN_OR_RETURN(std::shared_ptr<ValueReader> reader, OpenValueReader(context, *file));
  file->reader.Set(std::move(reader));
  return Status::OK();
}

}  // namespace

Status DBImpl::FileArrived(const std::string& name) {
  const CloseGuard::Use use(components_.instance.close_guard.get());
  if (!use) return Status::Closed("the instance was closed");
  std::shared_ptr<FileMeta> key_file;
  std::shared_ptr<ValueFileMeta> value_file;
  {
    const std::optional<MissingFiles::File> found = components_.missing_files.Find(name);
    if (!found)
      return Status::InvalidArgument("no file " + name + " is missing in " +
                                     components_.instance.path);
    key_file = found->key_file.lock();
    value_file = found->value_file.lock();
  }
  const std::string path = components_.instance.path + "/" + name;
  Status status;
  if (key_file != nullptr) {
    status = OpenArrived(components_.tree.MakeJobContext(0), key_file.get());
  } else if (value_file != nullptr) {
    status = OpenArrived(components_.tree.MakeJobContext(0), value_file.get());
  } else {
    status = components_.instance.files->Remove(path);
    if (!status.ok() && !status.IsNotFound()) return status;
    status = Status::NotFound("no version names the file " + path + " any more");
  }
  // A file that could not be opened is still missing.
  if (!status.ok() && (key_file != nullptr || value_file != nullptr))
    return status.IsNotFound() ? Status::IOError("the file " + path + " is not there") : status;
  components_.missing_files.Erase(name);
  const bool last_key_file = key_file != nullptr && !components_.missing_files.any_key_file();
  std::shared_ptr<const Version> version;
  {
    MutexLock state(components_.tree.mutex());
    version = components_.tree.version();
  }
  // Both calls look at all files, so they are made only if the arrived file can make a job
  // possible.
  if (key_file != nullptr) components_.jobs.ScheduleCompactions();
  if (last_key_file || !components_.missing_files.AnyOf(*version))
    components_.jobs.ScheduleCollections();
  MutexLock state(components_.tree.mutex());
  components_.tree.ReportJobs();
  components_.tree.NotifyChanged();
  return status;
}

std::vector<Snapshot::File> DBImpl::MissingFiles() const {
  std::vector<Snapshot::File> missing;
  std::set<FileId> seen;  // a version may have several entries of a file
  const auto add = [&](const StoredFile& file, std::string name) {
    if (components_.missing_files.Contains(file.id) && seen.insert(file.id).second)
      missing.push_back({std::move(name), file.bytes, file.crc32c, true});
  };
  if (components_.missing_files.empty()) return missing;
  const ViewRef view = components_.tree.view();
  if (!view) return missing;
  for (const auto& level : view->version->levels)
    for (const KeyFileEntry& entry : level) add(*entry.file, entry.file->id.FileName());
  for (const auto& [id, entry] : view->version->value_files) add(*entry.file, id.ValueFileName());
  return missing;
}

void DBImpl::MarkMissing(std::vector<Snapshot::File>* files) const {
  if (components_.missing_files.empty()) return;
  for (Snapshot::File& file : *files)
    file.missing = components_.missing_files.Find(file.name).has_value();
}

}  // namespace lava
