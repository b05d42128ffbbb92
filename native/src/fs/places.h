#pragma once

#include <cstdint>
#include <string>

#include "lava/status.h"

namespace lava::fs {

/// The one absolute path, without links, of what is there. Errors: NotFound, IOError.
Result<std::string> CanonicalPath(const std::string& path);

/// OK when the directory is this user's and nobody else may enter it: whoever could put files there
/// would get what is written to them. Errors: IOError that says what to do.
Status CheckPrivateDirectory(const std::string& path);

/// Bytes of the disk that a path lies on, used or not. Errors: NotFound, IOError.
Result<uint64_t> DiskBytes(const std::string& path);

}  // namespace lava::fs
