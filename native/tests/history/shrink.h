// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tests/history/operation.h"

namespace lava::testing {

/// Returns the operations of a shorter history that still fails; removes ever smaller pieces.
/// fails: whether the history with only these operations (ascending) fails.
std::vector<size_t> Shrink(size_t operations,
                           const std::function<bool(const std::vector<size_t>&)>& fails,
                           size_t attempts_max);
/// "0-3,17", and the reverse.
std::string RangesOf(const std::vector<size_t>& indexes);
std::vector<size_t> IndexesOf(const std::string& ranges);
History Keep(const History& history, const std::vector<size_t>& indexes);

}  // namespace lava::testing
