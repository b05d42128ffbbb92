// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "compaction/compaction_job.h"

namespace lava {

/// The part of input.version that the compaction needs: the entries that overlap its inputs' range
/// and the blob files that its inputs name. Of a blob file: its marks of expired values, and its
/// locations in input.merged_values and in files with values of lists, whose parts may have to be
/// joined. The result holds no other value file, so files that are collected meanwhile are freed at
/// once. The time grows with the inputs and the files that overlap them.
/// Threads:    any thread.
std::shared_ptr<const Version> ScopeOf(const CompactionInput& input);

}  // namespace lava
