// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "fs/block_device.h"
#include "lavafs/lavafs_file_system.h"
#include "lavafs/volume.h"

namespace lava::testing {

/// A volume and the file system on it.
/// Ownership:  must outlive the files of its file system.
struct MountedVolume {
  std::unique_ptr<lavafs::Volume> volume;
  std::unique_ptr<fs::FileSystem> file_system;
};

/// Errors:     aborts with the error's text.
void FormatVolume(fs::BlockDevice* device, const lavafs::FormatOptions& options);
/// Errors:     those of Volume::Mount().
Result<MountedVolume> MountVolume(std::unique_ptr<fs::BlockDevice> device,
                                  const lavafs::MountOptions& options);

/// Aborts with the error's text unless the status is OK.
void MustBeOk(const Status& status);

}  // namespace lava::testing
