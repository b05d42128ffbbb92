#pragma once

#include <memory>

#include "fs/block_device.h"
#include "lavafs/lavafs_file_system.h"
#include "lavafs/volume.h"

namespace lava::testing {

/// A volume and the file system on it.
/// Ownership:  must outlive its file system's files.
struct MountedVolume {
  std::unique_ptr<lavafs::Volume> volume;
  std::unique_ptr<fs::FileSystem> file_system;
};

/// Errors:     aborts and says why.
void FormatVolume(fs::BlockDevice* device, const lavafs::FormatOptions& options);
/// Errors:     those of Volume::Mount().
Result<MountedVolume> MountVolume(std::unique_ptr<fs::BlockDevice> device,
                                  const lavafs::MountOptions& options);

/// Aborts unless it is, and says why.
void MustBeOk(const Status& status);

}  // namespace lava::testing
