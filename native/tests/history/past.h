#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "testing/model.h"
#include "tests/history/model_store.h"
#include "tests/history/player.h"

namespace lava::testing {

/// The states that a history went through: what may be found again after a crash.
/// Threads: one.
class Past {
 public:
  /// The next moment: 0 before the first operation.
  void Add(const ModelStore& store) { moments_.push_back({store.now(), std::nullopt}); }
  const Model& at(size_t moment) const { return moments_[moment].model; }
  /// The last moment of [from, to] that has this digest for a player whose clock and TTLs are
  /// seen's, since more expires as time goes on.
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
