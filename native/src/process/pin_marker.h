// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "fs/file_system.h"
#include "lava/status.h"
#include "lavafs/format.h"

namespace lava {

/// The content of a marker file: the volume that has the pinned files.
/// Threads:    a value.
struct PinMarker {
  std::string volume_path;  // absolute
  lavafs::Uuid uuid;        // the path may belong to another volume by now
};

/// Name of a pin's directory in its volume. A process that mounts the volume finds the marker by
/// it.
std::string PinDirectory(const std::string& marker);
bool IsPin(Slice directory);
/// Whether the directory is a pin whose marker is certainly gone. False if that cannot be checked.
bool IsStalePin(fs::FileSystem* files, Slice directory);

/// Makes the marker with all of its content or not at all. sync: also after a power cut, if the
/// marker's directory survives that.
/// Errors:     InvalidArgument unless the path is absolute; IOError if it exists; NoSpace.
Status WritePinMarker(fs::FileSystem* files, const std::string& path, const PinMarker& marker,
                      bool sync);
/// Errors:     NotFound, Corruption, IOError.
Result<PinMarker> ReadPinMarker(fs::FileSystem* files, const std::string& path);

}  // namespace lava
