// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "testing/forwarding_file_system.h"
#include "testing/mem_disk.h"
#include "testing/mounted_volume.h"

namespace lava::testing {

/// LavaFS on a disk in memory. A crash is a crash of the disk: the remaining disk is mounted anew,
/// and the process aborts if this fails. A mutating call is one that changed the disk.
/// A removed file can always be read while it is open.
class VolumeFileSystem final : public ForwardingFileSystem {
 public:
  VolumeFileSystem();
  ~VolumeFileSystem() override;

  std::unique_ptr<CrashableFileSystem> CrashClone(CrashMode mode, uint64_t seed = 0) const override;
  uint64_t CrashStates() const override;
  std::unique_ptr<CrashableFileSystem> CrashCloneAt(uint64_t state, uint64_t seed) const override;
  uint64_t mutating_calls() const override;
  void SetMutationHook(std::function<void(uint64_t call)> hook) override;
  void SetRemovedFilesReadable(bool readable) override;
  Result<std::string> Content(const std::string& path) const override;
  /// Overwrites the content in place, as a failing disk does. Content of another size goes to a new
  /// file that replaces the path; open files and other names keep the old content.
  Status SetContent(const std::string& path, std::string content) override;
  std::vector<std::string> Paths() const override;

 private:
  /// boot: number of the machine's start; mount: number of mounts of this disk.
  VolumeFileSystem(std::unique_ptr<MemDisk> disk, uint64_t boot, uint64_t mount);
  void Mount();
  Status Overwrite(const std::string& path, const std::string& content);
  std::unique_ptr<CrashableFileSystem> AfterPowerCut(std::unique_ptr<MemDisk> disk) const;

  const std::unique_ptr<MemDisk> disk_;
  const uint64_t boot_, mount_;
  MountedVolume mounted_;
};

}  // namespace lava::testing
