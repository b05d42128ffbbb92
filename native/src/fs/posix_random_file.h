// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>

#include "fs/direct_io.h"
#include "fs/file_system.h"
#include "fs/open_file_limit.h"

namespace lava::fs {

/// Opens path for reads at offsets. The descriptor may be closed between reads (see OpenFileLimit)
/// and is then opened again by path, so the path must not be renamed or removed while reads may
/// come. A read after that returns IOError or NotFound, never another file's bytes.
/// direct: null, or used to read the file past the page cache if the file supports it.
/// Threads:    any.
/// Ownership:  limit must outlive the file.
Result<std::unique_ptr<RandomFile>> OpenPosixRandomFile(const std::string& path,
                                                        OpenFileLimit* limit,
                                                        std::shared_ptr<DirectIo> direct = nullptr);

}  // namespace lava::fs
