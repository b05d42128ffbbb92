#pragma once

#include "lava/status.h"
#include "manifest/version_edit.h"

namespace lava {

/// The part of a version that says where values are: births, their places, value files. All change
/// a version that nobody else sees yet.

/// Whether a value was born in the file that holds it. What a file inherits was born before it was
/// made, and has a lower number; elements of lists that were born in one have higher ones.
inline bool IsBornIn(const FileId& birth, const FileId& file) {
  return birth.origin == file.origin && birth.number >= file.number;
}

/// Counts an entry of a key file in (sign 1) or out (-1) of what it names.
void NameBirths(const FileEntry& entry, int sign, Version* version);
/// Errors: InvalidArgument when the edit takes out a value file that is not in the version any
///         more, or adds one that is there, or one place of a file twice.
Status RemoveValueFiles(const VersionEdit& edit, Version* version);
Status AddValueFiles(const VersionEdit& edit, Version* version);
/// Marks births that are named, after the edit, as partly expired.
void ExpireBirths(const VersionEdit& edit, Version* version);
/// Forgets births that no key file names after the edit, and value files that held only such.
void PruneBirths(const VersionEdit& edit, Version* version);

}  // namespace lava
