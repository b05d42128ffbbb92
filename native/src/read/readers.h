// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "manifest/version.h"
#include "table/table_reader.h"
#include "value/value_reader.h"

namespace lava {

/// The open reader of a file; null while the file is missing. A file that a job wrote or checked is
/// not missing.
inline const TableReader* ReaderOf(const FileMeta& file) { return file.reader.get(); }
inline const TableReader* ReaderOf(const KeyFileEntry& entry) { return ReaderOf(*entry.file); }
inline const ValueReader* ReaderOf(const ValueFileMeta& file) { return file.reader.get(); }

/// The answer to a read of a missing file. The message is the file's name and nothing else, because
/// the caller fetches the file by it. Not inlined, so that RequireReader() is.
[[gnu::cold, gnu::noinline]] inline Status NeedsFile(const FileMeta& file) {
  return Status::NeedsFile(file.id.FileName());
}
[[gnu::cold, gnu::noinline]] inline Status NeedsFile(const ValueFileMeta& file) {
  return Status::NeedsFile(file.id.ValueFileName());
}

/// The open reader of a file, for one lookup or walk. What began without the file must fail, even
/// if the file arrives meanwhile: its tombstones were unknown at the start.
/// Errors:     NeedsFile while the file is missing.
template <typename File>
auto RequireReader(const File& file) -> Result<decltype(ReaderOf(file))> {
  if (const auto reader = ReaderOf(file)) [[likely]]
    return reader;
  return NeedsFile(file);
}
inline Result<const TableReader*> RequireReader(const KeyFileEntry& entry) {
  return RequireReader(*entry.file);
}

}  // namespace lava
