#pragma once

#include <string>
#include <vector>

#include "tests/history/operation.h"

namespace lava::testing {

/// What a model answers to each operation of a history, in words, and last at its end.
std::vector<std::string> AnswersOfModel(const History& history);

}  // namespace lava::testing
