// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/history/past.h"

#include <algorithm>

namespace lava::testing {

std::optional<size_t> Past::Find(uint64_t digest, size_t from, size_t to, const Player& seen) {
  if (seen.times() != seen_as_) {
    for (Moment& moment : moments_) moment.digest.reset();
    seen_as_ = seen.times();
  }
  for (size_t i = std::min(to + 1, moments_.size()); i-- > from;) {
    Moment& moment = moments_[i];
    if (!moment.digest.has_value()) {
      ModelStore store(moment.model);
      moment.digest = *Player(&store, seen).Digest();
    }
    if (*moment.digest == digest) return i;
  }
  return std::nullopt;
}

}  // namespace lava::testing
