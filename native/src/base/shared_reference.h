// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <optional>
#include <utility>

namespace lava {

/// A shared pointer to an object whose owner counts references: release() runs when the last copy
/// of the pointer is destroyed. A std::shared_ptr's deleter would also run if there is no memory
/// for the pointer, in the middle of this call; release() does not.
/// Ownership: the object must live until release() runs.
/// Errors: std::bad_alloc; release() never runs then.
template <typename Object, typename Release>
std::shared_ptr<Object> SharedReference(Object* object, Release release) {
  struct Reference {
    std::optional<Release> release;
    ~Reference() {
      if (release) (*release)();
    }
  };
  auto reference = std::make_shared<Reference>();
  reference->release.emplace(std::move(release));
  return {std::move(reference), object};
}

}  // namespace lava
