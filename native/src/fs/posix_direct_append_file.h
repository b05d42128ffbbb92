#pragma once

#include <memory>
#include <string>

#include "fs/direct_io.h"
#include "fs/file_system.h"

namespace lava::fs {

/// A file that is written past the page cache: in whole blocks, but for its last one, which a
/// flush pads and cuts off at the file's length again, and writes anew when more was appended.
/// buffer_bytes are two buffers, of at least a block each: while one is written, beside the caller
/// where the system can, the other is filled. They are there from the first appends until Close().
/// Between flushes the file may be longer than what was appended.
/// descriptor: of an empty file, turned on with `alignment`; owned from now on.
/// Errors:     as AppendFile. What the file refuses later goes through the page cache.
std::unique_ptr<AppendFile> NewPosixDirectAppendFile(std::string path, int descriptor,
                                                     size_t buffer_bytes, uint32_t alignment,
                                                     std::shared_ptr<DirectIo> direct);

}  // namespace lava::fs
