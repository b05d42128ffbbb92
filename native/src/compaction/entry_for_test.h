// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manifest/version.h"

namespace lava {

/// An entry that shows its whole file, from `lower` to `upper`.
inline KeyFileEntry Entry(const std::string& lower, const std::string& upper,
                          std::vector<BlobReference> references = {}) {
  auto file = std::make_shared<FileMeta>();
  file->lower = lower;
  file->upper = upper;
  file->blob_references = std::move(references);
  return {file, lower, upper};
}

}  // namespace lava
