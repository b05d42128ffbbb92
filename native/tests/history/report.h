#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "tests/history/operation.h"

namespace lava::testing {

/// Where two stores that play one history first answer differently.
struct Difference {
  size_t index = 0;  // the history's length: at its end
  std::string expected, found;
};
using PlayHistory = std::function<std::optional<Difference>(const History&)>;

/// Shrinks a history that differs and prints what is left of it, with one line that repeats it.
/// command: that line for operations as RangesOf() writes them. Returns how many are left.
size_t ReportDifference(const History& history, const Difference& first, const PlayHistory& play,
                        const std::function<std::string(const std::string& keep)>& command,
                        size_t attempts_max = 2000);

}  // namespace lava::testing
