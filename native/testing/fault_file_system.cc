// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "testing/fault_file_system.h"

#include <utility>

#include "testing/random.h"

namespace lava::testing {
namespace {

bool NeedsSpace(FileCall kind) {
  switch (kind) {
    case FileCall::kCreate:
    case FileCall::kAppend:
    case FileCall::kFlush:
    case FileCall::kSync:
    case FileCall::kClose:
    case FileCall::kRename:
    case FileCall::kLink:
    case FileCall::kCreateDirectory:
    case FileCall::kSyncDirectory:
    case FileCall::kSyncFile:
      return true;
    default:
      return false;
  }
}

bool Opens(FileCall kind) {
  switch (kind) {
    case FileCall::kCreate:
    case FileCall::kOpenRandom:
    case FileCall::kReadWhole:
    case FileCall::kList:
    case FileCall::kSyncDirectory:
    case FileCall::kSyncFile:
    case FileCall::kLock:
      return true;
    default:
      return false;
  }
}

bool Applies(Fault fault, FileCall kind) {
  switch (fault) {
    case Fault::kIOError:
      return true;
    case Fault::kNotOpened:
      return Opens(kind);
    case Fault::kNoSpace:
      return NeedsSpace(kind);
    case Fault::kShortWrite:
      return kind == FileCall::kAppend;
    case Fault::kShortRead:
    case Fault::kBitFlip:
      return kind == FileCall::kRead || kind == FileCall::kReadWhole;
  }
  return false;
}

Status StatusOf(Fault fault, FileCall kind, const std::string& path) {
  const std::string text = std::string(FileCallName(kind)) + " " + path + ": injected fault";
  switch (fault) {
    case Fault::kNoSpace:
    case Fault::kShortWrite:
      return Status::NoSpace(text);
    case Fault::kShortRead:
      return Status::Corruption(text);
    default:
      return Status::IOError(text);
  }
}

}  // namespace

const char* FileCallName(FileCall call) {
  static constexpr std::array<const char*, kFileCalls> kNames = {
      "create",           "append",         "flush",     "sync",   "close",  "open", "read",
      "read whole",       "size of",        "exists",    "rename", "remove", "link", "list",
      "create directory", "sync directory", "sync file", "lock"};
  return kNames[static_cast<size_t>(call)];
}

class FaultAppendFile : public fs::AppendFile {
 public:
  FaultAppendFile(FaultFileSystem* owner, std::unique_ptr<fs::AppendFile> base, std::string path)
      : owner_(owner), base_(std::move(base)), path_(std::move(path)) {}

  Status Append(Slice data) override {
    LAVA_RETURN_IF_ERROR(failed_);
    const std::optional<Fault> fault = owner_->Count(FileCall::kAppend, path_);
    if (!fault.has_value()) return Keep(base_->Append(data));
    if (*fault == Fault::kShortWrite) {
      LAVA_RETURN_IF_ERROR(Keep(base_->Append(data.substr(0, data.size() / 2))));
      LAVA_RETURN_IF_ERROR(Keep(base_->Flush()));
    }
    return Keep(StatusOf(*fault, FileCall::kAppend, path_));
  }
  Status Flush() override {
    LAVA_RETURN_IF_ERROR(failed_);
    LAVA_RETURN_IF_ERROR(Keep(owner_->Refusal(FileCall::kFlush, path_)));
    return Keep(base_->Flush());
  }
  Status Sync() override { return SyncWith(&fs::AppendFile::Sync); }
  Status SyncData() override { return SyncWith(&fs::AppendFile::SyncData); }
  Status Close() override {
    LAVA_RETURN_IF_ERROR(failed_);
    LAVA_RETURN_IF_ERROR(Keep(owner_->Refusal(FileCall::kClose, path_)));
    return Keep(base_->Close());
  }
  uint64_t size() const override { return base_->size(); }

 private:
  Status SyncWith(Status (fs::AppendFile::*sync)()) {
    if (sync_failed_) owner_->CountSyncAfterFailure();
    LAVA_RETURN_IF_ERROR(failed_);
    Status status = owner_->Refusal(FileCall::kSync, path_);
    if (status.ok()) status = (base_.get()->*sync)();
    sync_failed_ = !status.ok();
    return Keep(std::move(status));
  }
  // After an error the file can no longer be used, as in the posix file system.
  Status Keep(Status status) {
    if (!status.ok()) failed_ = status;
    return status;
  }

  FaultFileSystem* const owner_;
  const std::unique_ptr<fs::AppendFile> base_;
  const std::string path_;
  Status failed_;
  bool sync_failed_ = false;
};

class FaultRandomFile : public fs::RandomFile {
 public:
  FaultRandomFile(FaultFileSystem* owner, std::unique_ptr<fs::RandomFile> base)
      : owner_(owner), base_(std::move(base)) {}

  Status Read(uint64_t offset, size_t length, char* scratch) const override {
    const std::optional<Fault> fault = owner_->Count(FileCall::kRead, base_->path());
    if (fault.has_value() && *fault != Fault::kBitFlip) {
      return StatusOf(*fault, FileCall::kRead, base_->path());
    }
    LAVA_RETURN_IF_ERROR(base_->Read(offset, length, scratch));
    if (fault.has_value()) owner_->FlipBit(scratch, length);
    return Status::OK();
  }
  uint64_t size() const override { return base_->size(); }
  const std::string& path() const override { return base_->path(); }

 private:
  FaultFileSystem* const owner_;
  const std::unique_ptr<fs::RandomFile> base_;
};

void FaultFileSystem::Arm(Plan plan) {
  std::lock_guard<std::mutex> lock(mutex_);
  plan_ = std::move(plan);
  matching_ = 0;
  fired_ = 0;
  struck_path_.clear();
}

void FaultFileSystem::Disarm() {
  std::lock_guard<std::mutex> lock(mutex_);
  plan_.reset();
}

uint64_t FaultFileSystem::fired() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return fired_;
}

uint64_t FaultFileSystem::calls(FileCall kind) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return counts_[static_cast<size_t>(kind)];
}

uint64_t FaultFileSystem::calls() const {
  std::lock_guard<std::mutex> lock(mutex_);
  uint64_t sum = 0;
  for (const uint64_t count : counts_) sum += count;
  return sum;
}

uint64_t FaultFileSystem::syncs_after_failure() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return syncs_after_failure_;
}

void FaultFileSystem::CountSyncAfterFailure() {
  std::lock_guard<std::mutex> lock(mutex_);
  ++syncs_after_failure_;
}

std::string FaultFileSystem::struck_path() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return struck_path_;
}

std::optional<Fault> FaultFileSystem::Count(FileCall kind, const std::string& path) {
  if (hook_ != nullptr) hook_(kind);
  std::lock_guard<std::mutex> lock(mutex_);
  ++counts_[static_cast<size_t>(kind)];
  if (!plan_.has_value() || !Applies(plan_->fault, kind)) return std::nullopt;
  if (plan_->only.has_value() && *plan_->only != kind) return std::nullopt;
  if (path.find(plan_->path_contains) == std::string::npos) return std::nullopt;
  ++matching_;
  if (plan_->forever ? matching_ < plan_->call : matching_ != plan_->call) return std::nullopt;
  ++fired_;
  struck_path_ = path;
  return plan_->fault;
}

Status FaultFileSystem::Refusal(FileCall kind, const std::string& path) {
  const std::optional<Fault> fault = Count(kind, path);
  return fault.has_value() ? StatusOf(*fault, kind, path) : Status::OK();
}

void FaultFileSystem::FlipBit(char* bytes, size_t count) {
  if (count == 0) return;
  std::lock_guard<std::mutex> lock(mutex_);
  Random random(plan_.has_value() ? plan_->seed + fired_ : fired_);
  const uint64_t bit = random.Uniform(count * 8);
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
}

Result<std::unique_ptr<fs::AppendFile>> FaultFileSystem::Create(const std::string& path,
                                                                size_t buffer_bytes) {
  LAVA_RETURN_IF_ERROR(Refusal(FileCall::kCreate, path));
  LAVA_ASSIGN_OR_RETURN(auto file, base_->Create(path, buffer_bytes));
  return std::unique_ptr<fs::AppendFile>(
      std::make_unique<FaultAppendFile>(this, std::move(file), path));
}

Result<std::unique_ptr<fs::AppendFile>> FaultFileSystem::CreateFromReserve(const std::string& path,
                                                                           size_t buffer_bytes) {
  LAVA_RETURN_IF_ERROR(Refusal(FileCall::kCreate, path));
  LAVA_ASSIGN_OR_RETURN(auto file, base_->CreateFromReserve(path, buffer_bytes));
  return std::unique_ptr<fs::AppendFile>(
      std::make_unique<FaultAppendFile>(this, std::move(file), path));
}

Result<std::unique_ptr<fs::RandomFile>> FaultFileSystem::OpenRandom(const std::string& path) {
  LAVA_RETURN_IF_ERROR(Refusal(FileCall::kOpenRandom, path));
  LAVA_ASSIGN_OR_RETURN(auto file, base_->OpenRandom(path));
  return std::unique_ptr<fs::RandomFile>(std::make_unique<FaultRandomFile>(this, std::move(file)));
}

Result<std::string> FaultFileSystem::ReadWhole(const std::string& path, uint64_t bytes_max) {
  const std::optional<Fault> fault = Count(FileCall::kReadWhole, path);
  if (fault.has_value() && *fault != Fault::kShortRead && *fault != Fault::kBitFlip) {
    return StatusOf(*fault, FileCall::kReadWhole, path);
  }
  LAVA_ASSIGN_OR_RETURN(std::string content, base_->ReadWhole(path, bytes_max));
  if (fault == Fault::kShortRead) content.resize(content.size() / 2);
  if (fault == Fault::kBitFlip) FlipBit(content.data(), content.size());
  return content;
}

Result<uint64_t> FaultFileSystem::FileSize(const std::string& path) {
  LAVA_RETURN_IF_ERROR(Refusal(FileCall::kFileSize, path));
  return base_->FileSize(path);
}

Result<bool> FaultFileSystem::Exists(const std::string& path) {
  LAVA_RETURN_IF_ERROR(Refusal(FileCall::kExists, path));
  return base_->Exists(path);
}

Status FaultFileSystem::Rename(const std::string& from, const std::string& to) {
  LAVA_RETURN_IF_ERROR(Refusal(FileCall::kRename, to));
  return base_->Rename(from, to);
}

Status FaultFileSystem::Remove(const std::string& path) {
  LAVA_RETURN_IF_ERROR(Refusal(FileCall::kRemove, path));
  return base_->Remove(path);
}

Status FaultFileSystem::Link(const std::string& from, const std::string& to) {
  LAVA_RETURN_IF_ERROR(Refusal(FileCall::kLink, to));
  return base_->Link(from, to);
}

Result<std::vector<std::string>> FaultFileSystem::List(const std::string& directory) {
  LAVA_RETURN_IF_ERROR(Refusal(FileCall::kList, directory));
  return base_->List(directory);
}

Status FaultFileSystem::CreateDirectory(const std::string& path) {
  LAVA_RETURN_IF_ERROR(Refusal(FileCall::kCreateDirectory, path));
  return base_->CreateDirectory(path);
}

Status FaultFileSystem::CreateDurableDirectory(const std::string& path) {
  LAVA_RETURN_IF_ERROR(Refusal(FileCall::kCreateDirectory, path));
  LAVA_RETURN_IF_ERROR(Refusal(FileCall::kSyncDirectory, path));
  return base_->CreateDurableDirectory(path);
}

Status FaultFileSystem::SyncDirectory(const std::string& path) {
  LAVA_RETURN_IF_ERROR(Refusal(FileCall::kSyncDirectory, path));
  return base_->SyncDirectory(path);
}

Status FaultFileSystem::SyncFile(const std::string& path, bool* asked) {
  const std::optional<Fault> fault = Count(FileCall::kSyncFile, path);
  if (!fault.has_value()) return base_->SyncFile(path, asked);
  *asked = *fault != Fault::kNotOpened;
  return StatusOf(*fault, FileCall::kSyncFile, path);
}

Result<std::unique_ptr<fs::DirectoryLock>> FaultFileSystem::Lock(const std::string& directory) {
  LAVA_RETURN_IF_ERROR(Refusal(FileCall::kLock, directory));
  return base_->Lock(directory);
}

}  // namespace lava::testing
