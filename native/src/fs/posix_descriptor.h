#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lava/status.h"

namespace lava::fs {

/// Opens path with O_CLOEXEC, mode 0600 when it is created. When the process has no descriptor
/// left, files that are open for random reads are closed and it is tried again.
/// Threads:    any.
/// Ownership:  the caller closes the descriptor.
/// Errors:     as PosixError: "<operation> <path>: ...".
Result<int> OpenDescriptor(const std::string& path, int flags, std::string_view operation);

/// Reads up to length bytes at offset; fewer only at the end of the file.
Result<size_t> ReadAt(int descriptor, const std::string& path, uint64_t offset, size_t length,
                      char* to);

}  // namespace lava::fs
