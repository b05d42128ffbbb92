#pragma once

#include "base/file_id.h"

namespace lava {

/// Whether a value was born in the file that holds it. What a file inherits was born before it was
/// made, and has a lower number; elements of lists that were born in one have higher ones.
inline bool IsBornIn(const FileId& birth, const FileId& file) {
  return birth.origin == file.origin && birth.number >= file.number;
}

}  // namespace lava
