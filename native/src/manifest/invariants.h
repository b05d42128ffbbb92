// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "manifest/version.h"

namespace lava {

/// Asserts what holds for each version that edits made, by a recount of the whole version: levels
/// are sorted and disjoint, and blob files, value files and sums agree with the key files. An edit
/// of a damaged manifest cannot violate this: DecodeEdit() and ApplyEdit() refuse it. Of versions
/// with more than 200 files only the sums are counted.
/// Returns true, so that LAVA_DCHECK() calls it in debug builds only.
/// Threads: any.
bool CheckInvariants(const Version& version);

}  // namespace lava
