// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "tests/history/operation.h"

namespace lava::testing {

/// A model's answer to each operation of a history as text, and its final answer.
std::vector<std::string> AnswersOfModel(const History& history);

}  // namespace lava::testing
