// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "inspect/key_names.h"
#include "inspect/read_only_files.h"
#include "inspect/report.h"

namespace lava::inspect {

/// Information in a file about itself: its footer, properties and the sizes of its indexes. For a
/// value file the index partitions are read as well, to count keys. No records are read.
/// Errors:     Corruption, NotSupported, NotFound, IOError.
Result<Json> KeySstFacts(ReadOnlyFiles* files, const std::string& path, const KeyNames& names);
Result<Json> ValueSstFacts(ReadOnlyFiles* files, const std::string& path, const KeyNames& names);

/// The number of partition bytes of a key SST's keys, for printing them without a description.
Result<uint32_t> PartitionBytesOf(ReadOnlyFiles* files, const std::string& path);

Json ToJson(const std::vector<BlobReference>& blob_files);

}  // namespace lava::inspect
