// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "testing/model.h"
#include "tests/history/model_store.h"
#include "tests/history/player.h"

namespace lava::testing {

/// The states of a history, one of which must be found after a crash. Threads: one.
class Past {
 public:
  /// Adds the next moment: 0 before the first operation.
  void Add(const ModelStore& store) { moments_.push_back({store.now(), std::nullopt}); }
  const Model& at(size_t moment) const { return moments_[moment].model; }
  /// The last moment in [from, to] with this digest for a player with the clock and TTLs of `seen`,
  /// because more data expires as time advances.
  std::optional<size_t> Find(uint64_t digest, size_t from, size_t to, const Player& seen);

 private:
  struct Moment {
    Model model;
    std::optional<uint64_t> digest;  // as seen at seen_as_
  };
  std::vector<Moment> moments_;
  Player::Times seen_as_;
};

}  // namespace lava::testing
