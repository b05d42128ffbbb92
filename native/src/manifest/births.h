#pragma once

#include "base/file_id.h"

namespace lava {

/// Whether a value was born in the file that holds it. A value that a file inherited has a birth
/// with a lower number than the file. A list element that was born in the file may have a birth
/// with a higher number.
inline bool IsBornIn(const FileId& birth, const FileId& file) {
  return birth.origin == file.origin && birth.number >= file.number;
}

}  // namespace lava
