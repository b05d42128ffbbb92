// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fs/block_device.h"
#include "fs/direct_io.h"

namespace lava::fs {

struct BlockDeviceOptions {
  bool create = false;     // makes a missing file, which only its user can read
  bool read_only = false;  // changes nothing; works while another process writes
  bool direct = true;      // past the page cache, unless the system refuses
  DirectIo::Calls calls = DirectIo::System();
};

/// Opens a regular file, which can grow, or a block device of the system. One process at a time
/// writes it: the lock ends with the process, however the process ends.
/// Ownership:  the caller's; closed on destruction.
/// Errors:     Busy when another process has it, with that process's id if it is known;
///             NotFound; InvalidArgument if the path is neither a file nor a block device; IOError.
Result<std::unique_ptr<BlockDevice>> OpenBlockDevice(const std::string& path,
                                                     const BlockDeviceOptions& options = {});

}  // namespace lava::fs
