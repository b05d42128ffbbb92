// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fs/file_system.h"
#include "log/index.h"

namespace lava::log {

/// The content of a LavaLog's files, read without changing any.
struct LogImage {
  bool fresh = false;  // there is no log yet
  Index index;         // the active file is the one that was being written
  uint32_t checkpoint = 0;
  uint32_t last_meta = 0;        // the highest number of a metadata file
  uint32_t last_sound_meta = 0;  // the next metadata file follows this one
  uint64_t meta_bytes = 0;       // valid bytes of that file
  uint32_t next_data = 1;
  uint64_t data_bytes = 0;  // valid bytes of the active file
  uint64_t tail_bytes = 0;  // of the active file, after the checkpoint
  uint64_t read_bytes = 0;
  std::vector<std::string> left_over;  // names of files that are not needed
};

/// Reads the checkpoint, the later changes of names, the directories of files that were sealed
/// later, and the end of the file that was being written.
/// Errors: Corruption, naming file and offset; NotSupported for a newer format; IOError.
Status ReadLogImage(fs::FileSystem* file_system, const std::string& directory, LogImage* image);

}  // namespace lava::log
