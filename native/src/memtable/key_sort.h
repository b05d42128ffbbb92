#pragma once

#include <vector>

#include "memtable/entry.h"

namespace lava {

/// Sorts entries into record order. Keys share long prefixes, so it partitions by eight key bytes
/// at a time that stand beside the references, and reads an entry once per eight bytes.
void SortEntries(const Arena& arena, std::vector<Arena::Ref>* entries);

}  // namespace lava
