// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "testing/chosen_file_system.h"

#include <filesystem>
#include <utility>

#include "fs/posix_block_device.h"
#include "testing/mem_file_system.h"
#include "testing/volume_file_system.h"

namespace lava::testing {
namespace {

std::unique_ptr<CrashableFileSystem> Choose() {
  if (OnLavaFs()) return std::make_unique<VolumeFileSystem>();
  return std::make_unique<MemFileSystem>();
}

}  // namespace

ChosenFileSystem::ChosenFileSystem() : chosen_(Choose()) { ForwardTo(chosen_.get()); }
ChosenFileSystem::~ChosenFileSystem() = default;

std::unique_ptr<CrashableFileSystem> ChosenFileSystem::CrashClone(CrashMode mode,
                                                                  uint64_t seed) const {
  return chosen_->CrashClone(mode, seed);
}
uint64_t ChosenFileSystem::CrashStates() const { return chosen_->CrashStates(); }
std::unique_ptr<CrashableFileSystem> ChosenFileSystem::CrashCloneAt(uint64_t state,
                                                                    uint64_t seed) const {
  return chosen_->CrashCloneAt(state, seed);
}
uint64_t ChosenFileSystem::mutating_calls() const { return chosen_->mutating_calls(); }
void ChosenFileSystem::SetMutationHook(std::function<void(uint64_t)> hook) {
  chosen_->SetMutationHook(std::move(hook));
}
void ChosenFileSystem::SetRemovedFilesReadable(bool readable) {
  chosen_->SetRemovedFilesReadable(readable);
}
Result<std::string> ChosenFileSystem::Content(const std::string& path) const {
  return chosen_->Content(path);
}
Status ChosenFileSystem::SetContent(const std::string& path, std::string content) {
  return chosen_->SetContent(path, std::move(content));
}
std::vector<std::string> ChosenFileSystem::Paths() const { return chosen_->Paths(); }

FileVolume::FileVolume(const std::string& path, bool direct) : path_(path) {
  auto device = fs::OpenBlockDevice(path, {.create = true, .direct = direct});
  MustBeOk(device.status());
  FormatVolume(device->get(),
               {.capacity_bytes = 1ull << 30, .extent_bytes = 64 << 10, .initial_bytes = 4 << 20});
  lavafs::MountOptions options;
  options.grow_bytes = 4 << 20;
  options.journal_bytes_max = 256 << 10;
  options.boot = options.mount = 1;
  auto mounted = MountVolume(std::move(*device), options);
  MustBeOk(mounted.status());
  mounted_ = std::move(*mounted);
}

FileVolume::~FileVolume() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace lava::testing
