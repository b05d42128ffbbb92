// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>

#include "fs/file_system.h"
#include "lava/db.h"

namespace lava {

/// VerifyFile() for any file system. Files whose names end with ".vsst" are value SSTs, all other
/// files are key SSTs. tables: source of the tables' names in messages; see VerifyFile().
/// Threads:    any.
/// Ownership:  borrows the file system during the call.
/// Errors:     Corruption, naming file and offset; errors of the file system.
Status VerifyStoredFile(fs::FileSystem* file_system, const std::string& path,
                        std::span<const TableInfo> tables);

}  // namespace lava
