// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>

#include "fs/file_system.h"
#include "lava/db.h"
#include "lava/status.h"

namespace lava {

/// Reads a whole key SST and checks it: checksums, structure, the order of keys, that indexes and
/// filters lead to each record, and that the properties' counts are right.
/// Threads:    any thread.
/// Errors:     Corruption with the file, the offset and, where the index identifies it, the table
///             whose data is hit (by its name in tables, otherwise its id); NotSupported for a
///             newer format; IOError.
Status VerifyTableFile(fs::FileSystem* file_system, const std::string& path,
                       std::span<const TableInfo> tables);

}  // namespace lava
