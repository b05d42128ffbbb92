// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "testing/mounted_volume.h"

#include <iostream>
#include <utility>

#include "base/check.h"

namespace lava::testing {

void MustBeOk(const Status& status) {
  if (!status.ok()) std::cerr << status.ToString() << std::endl;
  LAVA_CHECK(status.ok());
}

void FormatVolume(fs::BlockDevice* device, const lavafs::FormatOptions& options) {
  MustBeOk(lavafs::Volume::Format(device, options, {.high = 1, .low = 2}));
}

Result<MountedVolume> MountVolume(std::unique_ptr<fs::BlockDevice> device,
                                  const lavafs::MountOptions& options) {
  // Small buffers, so that files of a few KiB also fill several of them.
  constexpr size_t kBufferBytes = 8 << 10;
  lavafs::MountOptions small = options;
  small.second_buffer_from_bytes = kBufferBytes;
  MountedVolume mounted;
  LAVA_ASSIGN_OR_RETURN(mounted.volume, lavafs::Volume::Mount(std::move(device), small));
  mounted.file_system = lavafs::NewLavaFileSystem(mounted.volume.get(), kBufferBytes);
  return mounted;
}

}  // namespace lava::testing
