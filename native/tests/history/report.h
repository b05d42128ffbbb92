// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "tests/history/operation.h"

namespace lava::testing {

/// The first operation of a history with different answers of two stores.
struct Difference {
  size_t index = 0;  // the history's length: at its end
  std::string expected, found;
};
using PlayHistory = std::function<std::optional<Difference>(const History&)>;

/// Shrinks a history with a difference and prints the rest, with one line that repeats it. command:
/// that line for operations in the format of RangesOf(). Returns the number of remaining
/// operations.
size_t ReportDifference(const History& history, const Difference& first, const PlayHistory& play,
                        const std::function<std::string(const std::string& keep)>& command,
                        size_t attempts_max = 2000);

}  // namespace lava::testing
