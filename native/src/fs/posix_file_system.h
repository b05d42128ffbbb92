// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "fs/direct_io.h"
#include "fs/file_system.h"
#include "fs/open_file_limit.h"

namespace lava::fs {

/// Which files bypass the page cache. A file that rejects that uses the cache and is counted.
struct PosixOptions {
  bool direct_reads = false;   // at offsets
  bool direct_writes = false;  // see FileSystem::Create
  DirectIo::Calls calls = DirectIo::System();
};

/// The file system of the operating system. FileSystem::Posix() is one with the process's limit of
/// open files. Lock() uses a file "LOCK" in the directory, which List() shows.
/// Threads:    any.
/// Ownership:  limit must outlive the file system and all its files.
std::unique_ptr<FileSystem> NewPosixFileSystem(OpenFileLimit* limit,
                                               const PosixOptions& options = {});

}  // namespace lava::fs
