// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/read_only_files.h"

#include <cstring>

namespace lava::inspect {
namespace {

class InlineFile final : public fs::RandomFile {
 public:
  InlineFile(std::string path, std::shared_ptr<const std::string> bytes)
      : path_(std::move(path)), bytes_(std::move(bytes)) {}

  Status Read(uint64_t offset, size_t length, char* scratch) const override {
    if (offset > bytes_->size() || length > bytes_->size() - offset)
      return Status::Corruption("read " + std::to_string(length) + " bytes at offset " +
                                std::to_string(offset) + " of " + path_ + ": it ends at " +
                                std::to_string(bytes_->size()));
    if (length > 0) std::memcpy(scratch, bytes_->data() + offset, length);
    return Status::OK();
  }
  uint64_t size() const override { return bytes_->size(); }
  const std::string& path() const override { return path_; }

 private:
  const std::string path_;
  const std::shared_ptr<const std::string> bytes_;
};

}  // namespace

std::string ReadOnlyFiles::TargetOf(const std::string& path) const {
  const auto alias = aliases_.find(path);
  return alias == aliases_.end() ? path : alias->second;
}

Result<std::unique_ptr<fs::RandomFile>> ReadOnlyFiles::OpenRandom(const std::string& path) {
  const std::string target = TargetOf(path);
  const auto found = inline_.find(target);
  if (found == inline_.end()) return base_->OpenRandom(target);
  return std::unique_ptr<fs::RandomFile>(std::make_unique<InlineFile>(target, found->second));
}

Result<std::string> ReadOnlyFiles::ReadWhole(const std::string& path, uint64_t bytes_max) {
  const std::string target = TargetOf(path);
  const auto found = inline_.find(target);
  if (found == inline_.end()) return base_->ReadWhole(target, bytes_max);
  return std::string(*found->second);
}

Result<uint64_t> ReadOnlyFiles::FileSize(const std::string& path) {
  const std::string target = TargetOf(path);
  const auto found = inline_.find(target);
  if (found == inline_.end()) return base_->FileSize(target);
  return uint64_t{found->second->size()};
}

Result<bool> ReadOnlyFiles::Exists(const std::string& path) {
  const std::string target = TargetOf(path);
  if (inline_.contains(target)) return true;
  return base_->Exists(target);
}

}  // namespace lava::inspect
