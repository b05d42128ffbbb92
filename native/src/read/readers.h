#pragma once

#include "manifest/version.h"
#include "table/table_reader.h"
#include "value/value_reader.h"

namespace lava {

/// The open reader of a file that is in a version.
inline TableReader* ReaderOf(const FileMeta& file) {
  return static_cast<TableReader*>(file.reader.get());
}
inline TableReader* ReaderOf(const KeyFileEntry& entry) { return ReaderOf(*entry.file); }
inline const ValueReader* ReaderOf(const ValueFileMeta& file) {
  return static_cast<const ValueReader*>(file.reader.get());
}

}  // namespace lava
