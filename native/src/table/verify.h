#pragma once

#include <span>
#include <string>

#include "fs/file_system.h"
#include "lava/db.h"
#include "lava/status.h"

namespace lava {

/// Reads every byte of a key SST and checks it: checksums, structure, the order of the keys, that
/// each stands where the indexes and filters say, and that the properties' counts are right.
/// Threads:    any thread.
/// Errors:     Corruption, naming file, offset, and the table (by its name in tables, else its id)
///             whose data it hits where the index tells; NotSupported for a newer format; IOError.
Status VerifyTableFile(fs::FileSystem* file_system, const std::string& path,
                       std::span<const TableInfo> tables);

}  // namespace lava
