// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tests/history/operation.h"

namespace lava::testing {

struct GeneratorOptions {
  size_t operations = 1000;
  /// Only operations that change an instance, with little data each: for crashes.
  bool writes_only = false;
  /// One value out of this many is large.
  uint32_t large_one_in = 60;
  /// One put out of this many ends an entry of the layer above, and one run of jobs out of this
  /// many is replaced by another operation of this layer.
  uint32_t entries_one_in = 8;
};

/// A history over every public call. The same seed and options give the same history; a shorter one
/// is a prefix of the longer one. Time only advances and TTLs only become shorter, so that expired
/// data stays expired.
History GenerateHistory(uint64_t seed, const GeneratorOptions& options);

}  // namespace lava::testing
