#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fs/block_device.h"
#include "fs/direct_io.h"

namespace lava::fs {

struct BlockDeviceOptions {
  bool create = false;     // a file that is not there yet, which only the user can read
  bool read_only = false;  // changes nothing, and may look on while another process writes
  bool direct = true;      // past the page cache, where the system does not refuse
  DirectIo::Calls calls = DirectIo::System();
};

/// A regular file, which grows, or a block device of the system. One process at a time writes it:
/// the lock ends with the process, however it ends.
/// Ownership:  the caller's; closed on destruction.
/// Errors:     Busy when another has it, with that process's id where the system tells; NotFound;
///             InvalidArgument for what is neither file nor device; IOError.
Result<std::unique_ptr<BlockDevice>> OpenBlockDevice(const std::string& path,
                                                     const BlockDeviceOptions& options = {});

}  // namespace lava::fs
