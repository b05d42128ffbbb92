// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <thread>

#include "tests/history/lava_store.h"

namespace lava::testing {

// Puts a file of an import into the instance's directory, or where it waits.
Status LavaStore::Place(const Snapshot::File& file, const std::string& directory,
                        ImportSource* source) {
  const std::string from = PathOf(file);
  const std::string here = directory + "/" + file.name;
  const std::string waiting = directory + "-missing/" + file.name;
  LAVA_ASSIGN_OR_RETURN(const bool is_here, fs_->Exists(here));
  if (is_here) return Status::OK();  // another part of the import also has it
  if (has_missing_files_) {
    LAVA_RETURN_IF_ERROR(fs_->CreateDirectory(directory + "-missing"));
    LAVA_ASSIGN_OR_RETURN(const bool is_waiting, fs_->Exists(waiting));
    if (is_waiting || arrival_random_.OneIn(2)) {
      source->missing.push_back(file.name);
      return is_waiting ? Status::OK() : fs_->Link(from, waiting);
    }
  }
  return fs_->Link(from, here);
}

std::string LavaStore::PathOf(const Snapshot::File& file) const {
  std::lock_guard<std::mutex> lock(missing_mutex_);
  const auto missing = missing_files_.find(file.name);
  return missing != missing_files_.end() ? missing->second : directory_ + "/" + file.name;
}

// After an import.
void LavaStore::AwaitFiles() {
  std::lock_guard<std::mutex> lock(missing_mutex_);
  missing_files_.clear();
  for (const Snapshot::File& file : db_->MissingFiles())
    missing_files_[file.name] = directory_ + "-missing/" + file.name;
  if (simulated_ != nullptr || missing_files_.empty()) return;
  stop_bringing_ = false;
  bringing_ = std::thread([this, random = Random(arrival_random_.Next())]() mutable {
    while (!stop_bringing_) {
      {
        std::lock_guard<std::mutex> bringing(missing_mutex_);
        if (missing_files_.empty()) return;
        auto missing = missing_files_.begin();
        std::advance(missing, random.Uniform(missing_files_.size()));
        // An error here occurs again where it is reported.
        if (!BringLocked(std::string(missing->first)).ok()) return;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(random.Uniform(2000)));
    }
  });
}

void LavaStore::StopBringing() {
  stop_bringing_ = true;
  if (bringing_.joinable()) bringing_.join();
}

// For a read that requests the file.
Status LavaStore::Bring(const std::string& name) {
  std::lock_guard<std::mutex> lock(missing_mutex_);
  if (missing_files_.contains(name)) return BringLocked(name);
  return simulated_ == nullptr ? Status::OK()  // by the other thread
                               : Status::IOError("a read needs " + name + ", which is here");
}

Status LavaStore::BringLocked(const std::string& name) {
  const auto missing = missing_files_.find(name);
  LAVA_RETURN_IF_ERROR(fs_->Link(missing->second, directory_ + "/" + name));
  const Status status = db_->FileArrived(name);
  if (!status.ok() && !status.IsNotFound()) return status;
  ++TotalsOfAll().missing_files;
  missing_files_.erase(missing);
  return Status::OK();
}

Status LavaStore::BringAny() {
  std::lock_guard<std::mutex> lock(missing_mutex_);
  if (missing_files_.empty() || db_ == nullptr) return Status::OK();
  auto missing = missing_files_.begin();
  std::advance(missing, arrival_random_.Uniform(missing_files_.size()));
  return BringLocked(std::string(missing->first));
}

Status LavaStore::BringAll() {
  StopBringing();
  while (!missing_files_.empty() && db_ != nullptr) LAVA_RETURN_IF_ERROR(BringAny());
  if (db_ != nullptr && !db_->MissingFiles().empty())
    return Status::IOError("files are missing that are all there");
  return Status::OK();
}

}  // namespace lava::testing
