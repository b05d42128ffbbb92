// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "base/file_id.h"

namespace lava {

/// Whether a value was first written in the file that holds it. A value that a file inherited
/// belongs to a blob file with a lower number than the file. A list element that was first written
/// in the file may belong to a blob file with a higher number.
inline bool IsFirstWrittenIn(const FileId& blob_file, const FileId& file) {
  return blob_file.origin == file.origin && blob_file.number >= file.number;
}

}  // namespace lava
