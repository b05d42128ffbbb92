#pragma once

#include <string>

#include "inspect/report.h"
#include "inspect/store.h"

namespace lava::inspect {

/// The subcommands. Each answers with what there is to say, faults among it ("faults", an array):
/// nothing that is damaged ends one early. docs/lava-inspect.md has examples.

/// Tables, levels, value files with their garbage, births and inheritance, totals; reads only what
/// describes the instances.
Json Summary(Store* store, Show show);
/// Every file with what it says of itself; reads footers, properties and indexes.
Json Files(Store* store, Show show);
/// Reads every byte and checks every checksum.
Json Verify(Store* store);

struct KeyRequest {
  std::string table;                     // name, or "id:0x..." of one that is not registered
  std::string key;                       // the user's: partition bytes, then the rest
  std::optional<uint32_t> prefix_bytes;  // of the user's key; none: as the key's records say
};
/// Which files of each instance were asked for the key, what each said, and where its value is.
/// Errors: InvalidArgument when there is no such table, or the key has no partition.
Result<Json> FindKey(Store* store, const KeyRequest& request, Show show);

/// What all commands say of an instance first.
Json HeadOf(const Instance& instance);
/// Appends the faults that loading found.
Json FaultsOf(const Store& store);
/// What could not be decided, and what is there that is not Lava's.
Json NotesOf(const Store& store);

}  // namespace lava::inspect
