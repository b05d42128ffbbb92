#pragma once

#include <span>
#include <string>

#include "fs/file_system.h"
#include "lava/db.h"

namespace lava {

/// VerifyFile() on any file system: a value SST by its name's end, else a key SST.
Status VerifyStoredFile(fs::FileSystem* file_system, const std::string& path,
                        std::span<const TableInfo> tables);

}  // namespace lava
