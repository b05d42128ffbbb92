// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "memtable/entry.h"

namespace lava {

/// Sorts entries into record order. Because keys share long prefixes, the sort compares eight key
/// bytes at a time, kept beside the references, and reads each entry once for each eight bytes.
/// Errors: std::bad_alloc; the entries are unchanged then.
void SortEntries(const Arena& arena, std::vector<Arena::Ref>* entries);

}  // namespace lava
