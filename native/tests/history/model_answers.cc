// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/history/model_answers.h"

#include "tests/history/model_store.h"
#include "tests/history/player.h"

namespace lava::testing {

std::vector<std::string> AnswersOfModel(const History& history) {
  ModelStore model;
  Player player(&model);
  std::vector<std::string> words;
  for (const Operation& operation : history) words.push_back(player.Apply(operation));
  words.push_back(player.AtEnd());
  return words;
}

}  // namespace lava::testing
