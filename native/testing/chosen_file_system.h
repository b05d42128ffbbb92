// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "testing/forwarding_file_system.h"
#include "testing/mounted_volume.h"
#include "testing/variable.h"

namespace lava::testing {

/// A MemFileSystem, or a VolumeFileSystem if OnLavaFs().
class ChosenFileSystem final : public ForwardingFileSystem {
 public:
  ChosenFileSystem();
  ~ChosenFileSystem() override;

  std::unique_ptr<CrashableFileSystem> CrashClone(CrashMode mode, uint64_t seed = 0) const override;
  uint64_t CrashStates() const override;
  std::unique_ptr<CrashableFileSystem> CrashCloneAt(uint64_t state, uint64_t seed) const override;
  uint64_t mutating_calls() const override;
  void SetMutationHook(std::function<void(uint64_t call)> hook) override;
  void SetRemovedFilesReadable(bool readable) override;
  Result<std::string> Content(const std::string& path) const override;
  Status SetContent(const std::string& path, std::string content) override;
  std::vector<std::string> Paths() const override;

 private:
  const std::unique_ptr<CrashableFileSystem> chosen_;
};

/// LavaFS in a newly created real file, which the destructor removes.
/// Ownership:  must outlive the files of its file system.
class FileVolume {
 public:
  FileVolume(const std::string& path, bool direct);
  ~FileVolume();
  fs::FileSystem* file_system() { return mounted_.file_system.get(); }

 private:
  const std::string path_;
  MountedVolume mounted_;
};

}  // namespace lava::testing
