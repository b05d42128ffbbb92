// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "inspect/report.h"
#include "inspect/store.h"

namespace lava::inspect {

/// The subcommands. Each returns its whole answer including faults ("faults", an array): damage
/// never ends a subcommand early. docs/lava-inspect.md has examples.

/// Tables, levels, value files with their garbage, blob files and inheritance, totals. Only reads
/// the descriptions of the instances.
Json Summary(Store* store, Show show);
/// The properties of every file; reads footers, properties and indexes.
Json Files(Store* store, Show show);
/// Reads every byte and checks every checksum.
Json Verify(Store* store);

struct KeyRequest {
  std::string table;                     // name, or "id:0x..." for an unregistered table
  std::string key;                       // the user's key: partition bytes, then the rest
  std::optional<uint32_t> prefix_bytes;  // of the user's key; none: as in the key's records
};
/// The files of each instance that a lookup of the key reads, the answer of each, and the location
/// of the value. Errors: InvalidArgument when the table does not exist, or the key has no
/// partition.
Result<Json> FindKey(Store* store, const KeyRequest& request, Show show);

/// The first part of all reports about an instance.
Json HeadOf(const Instance& instance);
/// Appends the faults that loading found.
Json FaultsOf(const Store& store);
/// Undecided questions, and data that is not Lava's.
Json NotesOf(const Store& store);

}  // namespace lava::inspect
