#pragma once

#include <span>
#include <string>

#include "fs/file_system.h"
#include "lava/db.h"

namespace lava {

/// VerifyFile() for any file system. A file whose name ends with ".vsst" is a value SST, any other
/// a key SST. tables: for the names of tables in messages; see VerifyFile().
/// Threads:    any.
/// Ownership:  borrows the file system during the call.
/// Errors:     Corruption, naming file and offset; those of the file system.
Status VerifyStoredFile(fs::FileSystem* file_system, const std::string& path,
                        std::span<const TableInfo> tables);

}  // namespace lava
