#pragma once

#include <string>

#include "fs/file_system.h"
#include "lava/status.h"
#include "lavafs/format.h"

namespace lava {

/// What a marker file says: in which volume something is pinned.
struct PinMarker {
  std::string volume_path;  // absolute
  lavafs::Uuid uuid;        // another volume may have got the path meanwhile
};

/// The name of a pin's directory in its volume: whoever mounts it finds the marker by it.
std::string PinDirectory(const std::string& marker);
bool IsPin(Slice directory);
/// A pin whose marker is gone for certain: one that cannot be looked for may be there.
bool IsStalePin(fs::FileSystem* files, Slice directory);

/// Makes the file, with all of its content or not at all. sync: also after a power cut, if the
/// directory in which it is survives that.
/// Errors:     InvalidArgument unless its path is absolute; IOError when it is there; NoSpace.
Status WritePinMarker(fs::FileSystem* files, const std::string& path, const PinMarker& marker,
                      bool sync);
/// Errors:     NotFound, Corruption, IOError.
Result<PinMarker> ReadPinMarker(fs::FileSystem* files, const std::string& path);

}  // namespace lava
