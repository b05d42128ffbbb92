#pragma once

#include <memory>
#include <string>

#include "fs/file_system.h"

namespace lava::fs {

/// Creates or truncates path with mode 0600. See FileSystem::Create.
Result<std::unique_ptr<AppendFile>> CreatePosixAppendFile(const std::string& path,
                                                          size_t buffer_bytes);

}  // namespace lava::fs
