#pragma once

#include <memory>

#include "fs/file_system.h"
#include "fs/open_file_limit.h"

namespace lava::fs {

/// The file system of the operating system; FileSystem::Posix() is one with the process's limit of
/// open files. Lock() uses a file "LOCK" in the directory, which List() shows.
/// Ownership:  limit must outlive it and all its files.
std::unique_ptr<FileSystem> NewPosixFileSystem(OpenFileLimit* limit);

}  // namespace lava::fs
