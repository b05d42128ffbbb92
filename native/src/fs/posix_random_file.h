#pragma once

#include <memory>
#include <string>

#include "fs/direct_io.h"
#include "fs/file_system.h"
#include "fs/open_file_limit.h"

namespace lava::fs {

/// Opens path for reads at offsets. Its descriptor may be closed between reads (see
/// OpenFileLimit) and is then opened again by path: the path must not be renamed or removed while
/// reads may come; a read after that returns IOError or NotFound, never another file's bytes.
/// direct: null, or how the file is read past the page cache if it can be.
/// Ownership:  limit must outlive the file.
Result<std::unique_ptr<RandomFile>> OpenPosixRandomFile(const std::string& path,
                                                        OpenFileLimit* limit,
                                                        std::shared_ptr<DirectIo> direct = nullptr);

}  // namespace lava::fs
